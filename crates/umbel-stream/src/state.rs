//! The state folder. FORMAT.md draws it.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use umbel::format::NewFile;

use crate::positions::Positions;
use crate::sketch::Sketch;
use crate::{Error, Result};

const CURRENT: &str = "CURRENT";
const LOCK: &str = "LOCK";
const SKETCH: &str = "sketch.umbel";
const POSITIONS: &str = "positions";
const PART: &str = ".part";

/// A state folder that belongs to this process.
pub(crate) struct State {
    folder: PathBuf,
    /// Locked as long as it is open.
    _lock: File,
    /// The snapshot that counts.
    current: Option<u64>,
    /// The number of the next.
    next: u64,
}

impl State {
    /// Takes a folder, new or old, and reads the snapshot that counts in it, or the one before.
    pub(crate) fn open(
        folder: &Path,
        previous: bool,
    ) -> Result<(State, Option<(Sketch, Positions)>)> {
        fs::create_dir_all(folder).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => {
                Error::Refused(format!("{}: it is not a folder", folder.display()))
            }
            _ => Error::io(folder.display())(error),
        })?;
        let lock = lock(folder)?;
        let found = versions(folder).map_err(Error::io(folder.display()))?;
        let newest = found.last().copied().unwrap_or(0);
        let mut state =
            State { folder: folder.into(), _lock: lock, current: None, next: newest + 1 };
        let Some(current) = state.read_current(&found)? else {
            if previous {
                return Err(Error::Refused(format!("{}: there is no snapshot", folder.display())));
            }
            return Ok((state, None));
        };
        let before = |version| found.iter().copied().rfind(|&other| other < version);
        let version = match (previous, before(current)) {
            (false, _) => current,
            (true, Some(version)) => version,
            (true, None) => {
                return Err(Error::Refused(format!(
                    "{}: there is no snapshot before v-{current}",
                    folder.display()
                )));
            }
        };
        let content = state.read(version).map_err(|error| state.offer(&error, before(version)))?;
        state.current = Some(version);
        state.next = newest.max(current) + 1;
        Ok((state, Some(content)))
    }

    /// The number of the snapshot that counts.
    pub(crate) fn current(&self) -> Option<u64> {
        self.current
    }

    /// Writes a snapshot: from the moment that `CURRENT` names it, it counts. The one before is kept.
    pub(crate) fn save(&mut self, sketch: &Sketch, positions: &Positions) -> Result<()> {
        let version = self.next;
        // Not again, also when it fails: a folder of this name may stand there then.
        self.next += 1;
        let (whole, part) = (self.version(version), self.folder.join(format!("v-{version}{PART}")));
        fs::create_dir(&part).map_err(Error::io(part.display()))?;
        sketch.save(&part.join(SKETCH))?;
        write(&part.join(POSITIONS), &positions.to_bytes())?;
        // Both files and their folder are on disk: each was synced when it took its place.
        fs::rename(&part, &whole).map_err(Error::io(whole.display()))?;
        let synced = File::open(&self.folder).and_then(|folder| folder.sync_all());
        synced.map_err(Error::io(self.folder.display()))?;
        write(&self.folder.join(CURRENT), format!("v-{version}\n").as_bytes())?;
        let before = self.current.replace(version);
        self.remove_others(&[Some(version), before]);
        Ok(())
    }

    fn version(&self, version: u64) -> PathBuf {
        self.folder.join(format!("v-{version}"))
    }

    /// What `CURRENT` names; none in a new folder.
    fn read_current(&self, found: &[u64]) -> Result<Option<u64>> {
        let path = self.folder.join(CURRENT);
        let there: Vec<String> = found.iter().map(|version| format!("v-{version}")).collect();
        let there = if there.is_empty() { "none".into() } else { there.join(", ") };
        let refused = |what: String| {
            let path = path.display();
            Error::Refused(format!(
                "{path}: {what}; it names the snapshot to go on from, and there are: {there}"
            ))
        };
        match fs::read_to_string(&path) {
            Ok(text) => match text.trim_end().strip_prefix("v-").and_then(|n| n.parse().ok()) {
                Some(version) => Ok(Some(version)),
                None => Err(refused(format!("{:?} is not the name of one", text.trim_end()))),
            },
            // The first snapshot may stand there without: nobody was told of it.
            Err(error) if error.kind() == ErrorKind::NotFound && found.iter().all(|&n| n <= 1) => {
                Ok(None)
            }
            Err(error) => Err(refused(error.to_string())),
        }
    }

    fn read(&self, version: u64) -> Result<(Sketch, Positions)> {
        let folder = self.version(version);
        let sketch = Sketch::load(&folder.join(SKETCH))?;
        let path = folder.join(POSITIONS);
        let bytes = fs::read(&path).map_err(Error::io(path.display()))?;
        let positions = Positions::from_bytes(&bytes);
        let damaged = || Error::Refused(format!("{}: the file is damaged", path.display()));
        Ok((sketch, positions.ok_or_else(damaged)?))
    }

    /// A damaged snapshot, and the one before it.
    fn offer(&self, error: &Error, before: Option<u64>) -> Error {
        Error::Refused(match before.filter(|&version| self.read(version).is_ok()) {
            Some(version) => format!(
                "{error}; the snapshot before, v-{version}, is whole: --previous goes on from it, and what came after it is \
                 asked for again"
            ),
            None => format!("{error}; there is no whole snapshot before it"),
        })
    }

    /// Removes snapshots that nobody needs; what cannot be removed stays.
    fn remove_others(&self, kept: &[Option<u64>]) {
        for version in versions(&self.folder).unwrap_or_default() {
            if !kept.contains(&Some(version)) {
                let _ = fs::remove_dir_all(self.version(version));
            }
        }
    }
}

/// The numbers of the snapshots in a folder, ascending. Whatever was left unfinished is removed.
fn versions(folder: &Path) -> io::Result<Vec<u64>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let version = |text: &str| text.strip_prefix("v-")?.parse().ok();
        if let Some(version) = version(&name) {
            found.push(version);
        } else if let Some(unfinished) = name.strip_suffix(PART) {
            let path = entry.path();
            // What cannot be removed is in nobody's way.
            let _ = match version(unfinished) {
                Some(_) => fs::remove_dir_all(path),
                None => fs::remove_file(path),
            };
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Keeps others out for as long as the file is open, however this process ends.
fn lock(folder: &Path) -> Result<File> {
    let path = folder.join(LOCK);
    let name = path.display();
    let file = File::options().create(true).append(true).open(&path).map_err(Error::io(&name))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::Refused(format!(
            "{}: another process works with this state; stop it, or choose another folder",
            folder.display()
        ))),
        Err(TryLockError::Error(error)) => Err(Error::io(name)(error)),
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = NewFile::create(path)?;
    file.write_all(bytes).map_err(Error::io(path.display()))?;
    Ok(file.commit()?)
}
