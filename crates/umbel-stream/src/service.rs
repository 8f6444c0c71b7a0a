//! The main thread: opens everything, starts the streams, takes the snapshots, ends.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use crate::hub::Hub;
use crate::pace::{Mark, Pace};
use crate::positions::Positions;
use crate::sketch::{Sketch, Wanted};
use crate::sources::{self, Sources};
use crate::state::State;
use crate::status::{Facts, Status};
use crate::{Error, Place, Result};

/// How long the last acks may take.
const FAREWELL: Duration = Duration::from_secs(1);

/// What to do.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where training lines come from.
    pub train: Vec<Place>,
    /// Addresses to connect to for training lines.
    pub train_from: Vec<String>,
    /// Where questions come from. Those of a file are answered on standard output, when all training files have been read.
    pub query: Vec<Place>,
    /// The sketch; it may be left open where there is a state.
    pub sketch: Option<Wanted>,
    /// The folder to keep the state in.
    pub state: Option<PathBuf>,
    /// Whether to go on from the snapshot before the last.
    pub previous: bool,
    /// The time between snapshots.
    pub every: Duration,
    /// Whether the first line of a training connection is its name, and it is told which lines are on disk.
    pub acks: bool,
    /// Whether to answer with the keys that were seen alone.
    pub only_seen: bool,
    /// The longest line in bytes.
    pub max_line: usize,
}

/// What happens while a service runs.
#[derive(Debug)]
pub enum Event {
    /// Everything is open; these addresses are listened at.
    Ready {
        /// For training lines.
        train: Vec<SocketAddr>,
        /// For questions.
        query: Vec<SocketAddr>,
    },
    /// How things stand, every time a snapshot is due and at the end.
    Status(Status),
    /// Something that the user should know.
    Warning(String),
}

/// What threads tell the main thread.
pub(crate) enum Message {
    Stop,
    /// A training file has been read to its end.
    Trained,
    /// Another source has ended.
    Ended,
    Warning(String),
    Failed(Error),
}

/// Ends a service from another thread.
#[derive(Clone)]
pub struct Stop(Sender<Message>);

impl Stop {
    /// The service takes its last snapshot and ends.
    pub fn stop(&self) {
        // It may have ended before.
        let _ = self.0.send(Message::Stop);
    }
}

/// Two streams over one sketch.
pub struct Service {
    hub: Arc<Hub>,
    state: Option<State>,
    sources: Sources,
    ready: Option<Event>,
    every: Duration,
    inbox: Receiver<Message>,
    stop: Stop,
    started: Instant,
    /// Lines that this process has read and that are in the last snapshot.
    saved_lines: u64,
    last: Option<Status>,
    pace: Pace,
}

impl Service {
    /// Opens the state, the addresses and the files: what cannot be is refused before anything is read.
    pub fn open(config: Config) -> Result<Service> {
        if config.acks && config.state.is_none() {
            return Err(Error::Refused("acks speak of what is on disk: they need a state".into()));
        }
        let (mut state, found) = match &config.state {
            Some(folder) => {
                let (state, found) = State::open(folder, config.previous)?;
                (Some(state), found)
            }
            None => (None, None),
        };
        let is_new = found.is_none() || config.previous;
        let (sketch, positions) = begin(&config, found)?;
        let (sources, ready) = Sources::open(&config, &positions)?;
        // What is to be gone on from is on disk, and the folder can be written to.
        if let Some(state) = state.as_mut().filter(|_| is_new) {
            state.save(&sketch, &positions)?;
        }
        let (outbox, inbox) = channel();
        let limits = (config.max_line, config.only_seen);
        let hub = Arc::new(Hub::new(sketch, positions, outbox.clone(), limits)?);
        Ok(Service {
            hub,
            state,
            sources,
            ready: Some(ready),
            every: config.every,
            inbox,
            stop: Stop(outbox),
            started: Instant::now(),
            saved_lines: 0,
            last: None,
            pace: Pace::default(),
        })
    }

    /// What ends the service.
    pub fn stop(&self) -> Stop {
        self.stop.clone()
    }

    /// Runs until it is stopped, or until all sources have ended that can.
    pub fn run(mut self, mut say: impl FnMut(Event)) -> Result<()> {
        let sources = std::mem::take(&mut self.sources);
        let (is_endless, mut training, mut open) = sources.count();
        let mut query_files = sources.start(&self.hub);
        self.ready.take().into_iter().for_each(&mut say);
        let mut due = Instant::now() + self.every;
        loop {
            if training == 0 {
                query_files.drain(..).for_each(|file| sources::answer(&self.hub, file));
            }
            if training + open == 0 && !is_endless {
                break;
            }
            match self.inbox.recv_timeout(due.saturating_duration_since(Instant::now())) {
                Ok(Message::Stop) => break,
                Ok(Message::Trained) => training -= 1,
                Ok(Message::Ended) => open -= 1,
                Ok(Message::Warning(text)) => say(Event::Warning(text)),
                // What is in the last snapshot is safe; sketch and positions may no longer agree.
                Ok(Message::Failed(error)) => return Err(error),
                Err(RecvTimeoutError::Timeout) => {
                    match self.tick() {
                        Ok(status) => say(Event::Status(status)),
                        Err(error) => {
                            say(Event::Warning(format!("no snapshot: {error}; trying again")))
                        }
                    }
                    due = Instant::now() + self.every;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        say(Event::Status(self.tick()?));
        self.farewell();
        Ok(())
    }

    /// Trainers hear of the last snapshot, if they listen.
    fn farewell(&self) {
        let end = Instant::now() + FAREWELL;
        while !self.hub.books().are_all_told() && Instant::now() < end {
            std::thread::sleep(FAREWELL / 200);
        }
    }

    /// Takes a snapshot if there is something new, and looks how things stand.
    fn tick(&mut self) -> Result<Status> {
        let is_new = self.hub.books().lines() != self.saved_lines;
        let known = self.last.as_ref().filter(|_| !is_new).map(|last| last.facts.clone());
        let facts = match known {
            Some(facts) => facts,
            None => {
                let copy = self.hub.copy();
                if let Some(state) = self.state.as_mut().filter(|_| is_new) {
                    state.save(&copy.sketch, &copy.positions)?;
                    self.hub.publish(|books| books.note_saved(copy.positions));
                }
                self.saved_lines = copy.lines;
                Facts::of(&copy.sketch)
            }
        };
        let status = self.status(facts);
        self.last = Some(status.clone());
        Ok(status)
    }

    fn status(&mut self, facts: Facts) -> Status {
        let seconds = self.started.elapsed().as_secs_f64();
        let (trained, unused) = {
            let books = self.hub.books();
            (books.trained, books.unused)
        };
        let asked = self.hub.asked();
        let rates = self.pace.rates(Mark { seconds, trained, asked });
        Status {
            seconds,
            trained,
            trained_per_second: rates.map(|[trained, _]| trained),
            unused,
            asked,
            asked_per_second: rates.map(|[_, asked]| asked),
            connections: self.hub.connections.count(),
            snapshot: self.state.as_ref().and_then(State::current),
            facts,
        }
    }
}

/// What to begin with: what the state holds, if it is what is asked for, or an empty sketch.
fn begin(config: &Config, found: Option<(Sketch, Positions)>) -> Result<(Sketch, Positions)> {
    let folder = config.state.as_deref().unwrap_or(Path::new("")).display();
    match (found, &config.sketch) {
        (Some(found), None) => Ok(found),
        (Some((sketch, positions)), Some(wanted)) => match sketch.check(wanted) {
            Ok(()) => Ok((sketch, positions)),
            Err(why) => Err(Error::Refused(format!(
                "{folder}: {why}; leave it out to go on with the state, or begin a new one in another folder"
            ))),
        },
        (None, Some(wanted)) => Ok((Sketch::new(wanted)?, Positions::default())),
        (None, None) => {
            Err(Error::Refused("there is no state yet: say which sketch to begin".into()))
        }
    }
}
