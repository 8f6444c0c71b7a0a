//! What is read: opened before anything is read, then each in a thread of its own.

use std::fs::File;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;

use crate::hub::Hub;
use crate::place::Readable;
use crate::positions::Positions;
use crate::service::{Config, Event, Message};
use crate::train::{self, Origin, Training};
use crate::{Error, Place, Result, acks, net, query};

/// Sources that are open, but not read from yet.
#[derive(Default)]
pub(crate) struct Sources {
    listeners: Vec<(TcpListener, net::Serve)>,
    train_from: Vec<(String, net::Serve)>,
    train_files: Vec<Training<File>>,
    train_pipes: Vec<Readable>,
    query_files: Vec<Readable>,
    query_pipes: Vec<Readable>,
}

impl Sources {
    /// Opens them all; with where it listens.
    pub(crate) fn open(config: &Config, positions: &Positions) -> Result<(Sources, Event)> {
        let mut sources = Sources::default();
        let serve: net::Serve = if config.acks { acks::serve } else { train::serve };
        let is_stdin = |place: &&Place| **place == Place::Path("-".into());
        if config.train.iter().chain(&config.query).filter(is_stdin).count() > 1 {
            return Err(Error::Refused("stdin can be read only once: give - once".into()));
        }
        let (mut train, mut query) = (Vec::new(), Vec::new());
        for place in &config.train {
            match place {
                Place::Address(address) => train.push(sources.listen(address, serve)?),
                Place::Path(path) => match Readable::at(path)? {
                    Readable::File(path) => sources.train_file(&path, positions)?,
                    pipe => sources.train_pipes.push(pipe),
                },
            }
        }
        for place in &config.query {
            match place {
                Place::Address(address) => query.push(sources.listen(address, query::serve)?),
                Place::Path(path) => match Readable::at(path)? {
                    file @ Readable::File(_) => sources.query_files.push(file),
                    pipe => sources.query_pipes.push(pipe),
                },
            }
        }
        let refusal = |from: &&String| !matches!(from.parse(), Ok(Place::Address(_)));
        if let Some(from) = config.train_from.iter().find(refusal) {
            return Err(Error::Refused(format!(
                "{from}: it is not an address to connect to, such as 127.0.0.1:9999"
            )));
        }
        sources.train_from = config.train_from.iter().map(|from| (from.clone(), serve)).collect();
        Ok((sources, Event::Ready { train, query }))
    }

    fn train_file(&mut self, path: &Path, positions: &Positions) -> Result<()> {
        if self.train_files.iter().any(|file| file.origin.path() == Some(path)) {
            return Err(Error::Refused(format!("{}: it is given twice", path.display())));
        }
        self.train_files.push(train::file(path, positions)?);
        Ok(())
    }

    fn listen(&mut self, address: &str, serve: net::Serve) -> Result<SocketAddr> {
        let listener = net::listen(address)?;
        let bound = listener.local_addr().map_err(Error::io(address))?;
        self.listeners.push((listener, serve));
        Ok(bound)
    }

    /// Whether some never end, how many training files there are, and how many others that end.
    pub(crate) fn count(&self) -> (bool, usize, usize) {
        let is_endless = !(self.listeners.is_empty() && self.train_from.is_empty());
        let others = self.train_pipes.len() + self.query_pipes.len() + self.query_files.len();
        (is_endless, self.train_files.len(), others)
    }

    /// Starts them all but the query files, which wait for the training files.
    pub(crate) fn start(self, hub: &Arc<Hub>) -> Vec<Readable> {
        for (listener, serve) in self.listeners {
            in_thread(hub, move |hub| net::accept(hub, &listener, serve));
        }
        for (address, serve) in self.train_from {
            in_thread(hub, move |hub| train::connect(hub, &address, serve));
        }
        for mut file in self.train_files {
            in_thread(hub, move |hub| {
                let result = file.run(hub, |_| ());
                report(
                    hub,
                    result.map_err(|error| error.of_source(&file.origin)),
                    Message::Trained,
                );
            });
        }
        for pipe in self.train_pipes {
            in_thread(hub, move |hub| {
                let from = pipe.open();
                let result = from.and_then(|from| {
                    Training { from, origin: Origin::Nameless, line: 0 }.run(hub, |_| ())
                });
                report(hub, result.map_err(|error| error.of_source(&pipe)), Message::Ended);
            });
        }
        self.query_pipes.into_iter().for_each(|pipe| answer(hub, pipe));
        self.query_files
    }
}

/// Answers the questions of a file or pipe on standard output.
pub(crate) fn answer(hub: &Arc<Hub>, from: Readable) {
    in_thread(hub, move |hub| {
        let result = from.open().and_then(|file| query::run(hub, file, io::stdout()));
        match result.map_err(|error| error.of_source(&from)) {
            // Whoever read our answers has seen enough.
            Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::BrokenPipe => {
                hub.send(Message::Stop);
            }
            result => report(hub, result, Message::Ended),
        }
    });
}

fn report(hub: &Hub, result: Result<()>, ended: Message) {
    hub.send(result.map_or_else(Message::Failed, |()| ended));
}

fn in_thread(hub: &Arc<Hub>, work: impl FnOnce(&Arc<Hub>) + Send + 'static) {
    let hub = Arc::clone(hub);
    std::thread::spawn(move || work(&hub));
}
