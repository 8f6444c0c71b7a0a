//! Training: lines in, positions kept.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::books::Books;
use crate::error::SOURCE;
use crate::hub::Hub;
use crate::lines::{Line, Lines};
use crate::net;
use crate::place::Readable;
use crate::positions::{Mark, Positions};
use crate::seats::Buffers;
use crate::service::Message;
use crate::{Error, Result};

/// The pause before a connection is tried again: doubled each time it fails or does not last, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
const LASTING: Duration = Duration::from_secs(1);

/// What is known of a source, as far as positions go.
pub(crate) enum Origin {
    /// Nothing: what is read is gone.
    Nameless,
    /// A file that can be read again.
    File(PathBuf, Mark),
    /// A trainer, and the number of its lines that are in the sketch.
    Trainer(String, u64),
}

/// A source that is being read.
pub(crate) struct Training<R> {
    pub(crate) from: R,
    pub(crate) origin: Origin,
    /// The number of the last line that was read.
    pub(crate) line: u64,
}

impl<R: Read + AsFd> Training<R> {
    /// Takes in all lines until the end; `too_long` hears the numbers of those that are. A last line without a newline is a line,
    /// but not a trainer's, who will send it again.
    pub(crate) fn run(&mut self, hub: &Hub, mut too_long: impl FnMut(u64)) -> Result<()> {
        let mut lines = Lines::new(hub.max_line);
        let mut long = Vec::new();
        loop {
            net::wait_readable(&self.from).map_err(Error::io(SOURCE))?;
            // From here on a question waits for what is read.
            let mut seat = hub.seats.take();
            let Buffers { bytes, hashes } = &mut seat.buffers;
            let len = read(&mut self.from, bytes).map_err(Error::io(SOURCE))?;
            hashes.clear();
            let (mut unused, known, mut line) = (0, self.origin.known_lines(), self.line);
            let take = |found: Line<'_>| {
                line += 1;
                match found {
                    // Sent again by a trainer whose connection broke.
                    _ if line <= known => {}
                    Line::Key([]) => unused += 1,
                    Line::Key(key) => hashes.push(hub.hasher.hash(key)),
                    Line::TooLong => {
                        unused += 1;
                        long.push(line);
                    }
                }
            };
            if len > 0 {
                lines.feed(&bytes[..len], take);
            } else if !matches!(self.origin, Origin::Trainer(..)) {
                lines.finish(take);
            }
            self.line = line;
            let pending = lines.pending();
            hub.fold(hashes, |books| {
                books.unused += unused;
                self.origin.advance(books, line, len as u64, pending);
            })?;
            drop(seat);
            long.drain(..).for_each(&mut too_long);
            if len == 0 {
                return Ok(());
            }
        }
    }
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Origin::Nameless => f.write_str("a training connection"),
            Origin::File(path, _) => path.display().fmt(f),
            Origin::Trainer(name, _) => name.fmt(f),
        }
    }
}

impl Origin {
    /// The file that it is.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Origin::File(path, _) => Some(path),
            Origin::Nameless | Origin::Trainer(..) => None,
        }
    }

    /// Lines up to this number are in the sketch.
    fn known_lines(&self) -> u64 {
        match self {
            Origin::Trainer(_, folded) => *folded,
            Origin::Nameless | Origin::File(..) => 0,
        }
    }

    /// Notes that lines up to `line` are in the sketch, with `len` bytes more, of which the last may be the beginning of a line.
    fn advance(&mut self, books: &mut Books, line: u64, len: u64, pending: u64) {
        match self {
            Origin::Nameless => {}
            Origin::File(path, read) => {
                read.byte += len;
                books.positions.files.insert(path.clone(), read.back(pending));
            }
            Origin::Trainer(name, folded) => {
                *folded = line.max(*folded);
                if *folded > 0 {
                    books.positions.trainers.insert(name.clone(), *folded);
                }
            }
        }
    }
}

fn read(from: &mut impl Read, bytes: &mut [u8]) -> io::Result<usize> {
    loop {
        match from.read(bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// A file to train with, from where the positions say; refused if it is no longer what they speak of.
pub(crate) fn file(path: &Path, positions: &Positions) -> Result<Training<File>> {
    let name = path.display();
    if path.as_os_str().as_encoded_bytes().contains(&b'\n') {
        return Err(Error::Refused(format!(
            "{name:?}: a name with a newline cannot be remembered"
        )));
    }
    let io = || Error::io(&name);
    let mut from = Readable::File(path.into()).open()?;
    let mark = match positions.files.get(path) {
        None => Mark::new(&mut from).map_err(io())?,
        Some(mark) => {
            mark.check(&mut from).map_err(io())?.map_err(|why| {
                Error::Refused(format!(
                    "{name}: {why}: it is not the file that the state knows; give it another name, or begin a new state"
                ))
            })?;
            *mark
        }
    };
    from.seek(SeekFrom::Start(mark.byte)).map_err(io())?;
    Ok(Training { from, origin: Origin::File(path.into(), mark), line: 0 })
}

/// Serves a training connection without a name.
pub(crate) fn serve(hub: &Arc<Hub>, stream: TcpStream) {
    let mut hears = true;
    let mut training = Training { from: &stream, origin: Origin::Nameless, line: 0 };
    let result = training.run(hub, |line| hears = hears && net::say(&stream, &too_long(hub, line)));
    hub.ended(result);
}

/// What a client is told of a line over the limit.
pub(crate) fn too_long(hub: &Hub, line: u64) -> String {
    format!("error: line {line} is longer than {} bytes\n", hub.max_line)
}

/// Connects, again and again, and takes in what comes.
pub(crate) fn connect(hub: &Arc<Hub>, address: &str, serve: net::Serve) {
    let mut pause = FIRST_PAUSE;
    loop {
        match TcpStream::connect(address) {
            Ok(stream) => {
                let began = Instant::now();
                serve(hub, net::prepared(stream));
                let has_lasted = began.elapsed() > LASTING;
                pause = if has_lasted { FIRST_PAUSE } else { LONGEST_PAUSE.min(2 * pause) };
            }
            Err(error) => {
                // Once, and not each time.
                if pause == FIRST_PAUSE {
                    hub.send(Message::Warning(format!("{address}: {error}; trying again")));
                }
                pause = LONGEST_PAUSE.min(2 * pause);
            }
        }
        std::thread::sleep(pause);
    }
}
