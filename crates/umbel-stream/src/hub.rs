//! Where the streams meet. The front page of the crate has the reasons behind the locks.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, RwLock};

use crate::books::Books;
use crate::net::Connections;
use crate::positions::Positions;
use crate::seats::Seats;
use crate::service::Message;
use crate::sketch::{Hasher, Sketch};
use crate::{Error, Result, lock};

/// Keys that are folded in while queries wait.
const FOLD: usize = 4096;

/// What all threads share.
pub(crate) struct Hub {
    pub(crate) seats: Seats,
    pub(crate) connections: Connections,
    pub(crate) max_line: usize,
    pub(crate) only_seen: bool,
    /// Whether answers are numbers, not yes or no.
    pub(crate) counts: bool,
    pub(crate) hasher: Hasher,
    books: Mutex<Books>,
    /// The books have news for trainers: a snapshot, or the end of a connection.
    news: Condvar,
    sketch: RwLock<Sketch>,
    asked: AtomicU64,
    outbox: Sender<Message>,
}

/// What a snapshot is made of: the sketch, and the books as they were then.
pub(crate) struct Copy {
    pub(crate) sketch: Sketch,
    pub(crate) positions: Positions,
    /// Lines that this process has read.
    pub(crate) lines: u64,
}

impl Hub {
    pub(crate) fn new(
        sketch: Sketch,
        positions: Positions,
        outbox: Sender<Message>,
        (max_line, only_seen): (usize, bool),
    ) -> Result<Hub> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Hub {
            // Two at least: a source that holds one for long does not stop the others.
            seats: Seats::new(cores.max(2)),
            connections: Connections::new(),
            max_line,
            only_seen,
            counts: sketch.counts(),
            hasher: sketch.hasher()?,
            books: Mutex::new(Books::new(positions)),
            news: Condvar::new(),
            sketch: RwLock::new(sketch),
            asked: AtomicU64::new(0),
            outbox,
        })
    }

    /// Takes keys in and notes how far their source has come: both, or none as far as a snapshot can tell.
    pub(crate) fn fold(&self, hashes: &[u64], note: impl FnOnce(&mut Books)) -> Result<()> {
        let mut books = self.books();
        for part in hashes.chunks(FOLD) {
            self.sketch.write().unwrap_or_else(PoisonError::into_inner).fold(part)?;
        }
        books.trained += hashes.len() as u64;
        note(&mut books);
        Ok(())
    }

    /// Answers questions that have been read, with everything that had been read before them.
    pub(crate) fn answer(&self, hashes: &[u64], answers: &mut Vec<u64>) -> Result<()> {
        self.seats.settle();
        self.sketch.read().unwrap_or_else(PoisonError::into_inner).answer(hashes, answers)?;
        self.asked.fetch_add(hashes.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    /// A copy of sketch and positions that belong together. Trainers wait, queries do not.
    pub(crate) fn copy(&self) -> Copy {
        let _pause = self.seats.pause();
        let books = self.books();
        let sketch = self.sketch.read().unwrap_or_else(PoisonError::into_inner).clone();
        Copy { sketch, positions: books.positions.clone(), lines: books.lines() }
    }

    pub(crate) fn books(&self) -> MutexGuard<'_, Books> {
        lock(&self.books)
    }

    /// The books, changed such that those who wait for news look again.
    pub(crate) fn publish(&self, change: impl FnOnce(&mut Books)) {
        change(&mut self.books());
        self.news.notify_all();
    }

    /// Waits for news: until something is so.
    pub(crate) fn wait(&self, so: impl Fn(&Books) -> bool) -> MutexGuard<'_, Books> {
        self.news
            .wait_while(self.books(), |books| !so(books))
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }

    /// Tells the main thread.
    pub(crate) fn send(&self, message: Message) {
        // It goes away only when the process ends.
        let _ = self.outbox.send(message);
    }

    /// A client's connection may break; what else goes wrong ends the service.
    pub(crate) fn ended(&self, result: Result<()>) {
        match result {
            Ok(()) | Err(Error::Io { .. }) => {}
            Err(error) => self.send(Message::Failed(error)),
        }
    }
}
