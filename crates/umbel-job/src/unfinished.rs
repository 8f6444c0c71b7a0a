//! What is being made and is not whole yet: gone when it is dropped, and when a signal ends the program.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, mpsc};
use std::time::{Duration, Instant};

use crate::location::Location;
use crate::{Error, Result, lines};

/// How long the end of a program may wait for whoever makes something, and for HDFS to remove it.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is unfinished, by the order of its beginning.
static ALL: Mutex<BTreeMap<u64, Things>> = Mutex::new(BTreeMap::new());
/// Whoever makes something on HDFS goes through this door; the end of the program closes it.
static DOOR: RwLock<()> = RwLock::new(());

/// A file or folder, and the folders above it that were made for it, the lowest first.
#[derive(Debug, Clone)]
struct Things {
    at: Option<Location>,
    made: Vec<Location>,
}

impl Things {
    fn remove(&self) {
        if let Some(at) = &self.at {
            lines::discard(at);
        }
        // One that holds something else by now stays, and so do those above it.
        let _ = self.made.iter().try_for_each(Location::remove_empty);
    }
}

/// A file or folder that is to be gone unless it is kept.
#[derive(Debug)]
pub struct Unfinished {
    number: u64,
}

impl Unfinished {
    /// This is about to be made, and these folders above it, the lowest first.
    pub fn new(at: impl Into<Option<Location>>, made: Vec<Location>) -> Unfinished {
        Unfinished::begin(&mut all(), Things { at: at.into(), made })
    }

    /// A folder of this machine for a while. It is made with the door to the end of the program shut: none is left that nobody
    /// knows of.
    pub fn temporary() -> Result<(PathBuf, Unfinished)> {
        let mut all = all();
        let folder = tempfile::tempdir().map_err(Error::io("a temporary folder"))?.keep();
        let at = Some(Location::Local(folder.clone()));
        Ok((folder, Unfinished::begin(&mut all, Things { at, made: Vec::new() })))
    }

    fn begin(all: &mut BTreeMap<u64, Things>, things: Things) -> Unfinished {
        let number = all.last_key_value().map_or(0, |(last, _)| last + 1);
        all.insert(number, things);
        Unfinished { number }
    }

    /// It is whole.
    pub fn keep(self) {
        self.forget();
    }

    fn forget(&self) -> Option<Things> {
        all().remove(&self.number)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // Behind `keep` there is nothing any more.
        if let Some(things) = self.forget() {
            things.remove();
        }
    }
}

fn all() -> MutexGuard<'static, BTreeMap<u64, Things>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Held while something is made on HDFS: it has been made then, or never will be.
pub(crate) fn making() -> RwLockReadGuard<'static, ()> {
    DOOR.read().unwrap_or_else(PoisonError::into_inner)
}

/// The program ends: removes all that is unfinished. Whoever wants to make something from now on waits for ever.
pub fn end() {
    let all = all();
    let things: Vec<Things> = all.values().rev().cloned().collect();
    // Nothing begins and nothing is kept any more.
    std::mem::forget(all);
    if things.is_empty() {
        return;
    }
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        if let Ok(closed) = DOOR.try_write() {
            std::mem::forget(closed);
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let (done, is_done) = mpsc::channel();
    // A NameNode that does not answer holds up nobody for ever.
    std::thread::spawn(move || {
        things.iter().for_each(Things::remove);
        done.send(())
    });
    let _ = is_done.recv_timeout(PATIENCE);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_kept_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let begin = |name: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir(&path).unwrap();
            std::fs::write(path.join("file"), "x").unwrap();
            (Unfinished::new(Location::Local(path.clone()), Vec::new()), path)
        };
        let ((kept, whole), (dropped, half)) = (begin("kept"), begin("dropped"));
        kept.keep();
        drop(dropped);
        assert!(whole.exists() && !half.exists());
    }

    #[test]
    fn a_temporary_folder_goes_with_all_in_it() {
        let (folder, unfinished) = Unfinished::temporary().unwrap();
        std::fs::write(folder.join("file"), "x").unwrap();
        let known =
            |things: &Things| matches!(&things.at, Some(Location::Local(path)) if *path == folder);
        assert!(all().values().any(known), "a signal would leave it");
        drop(unfinished);
        assert!(!folder.exists());
    }
}
