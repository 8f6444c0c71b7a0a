//! Where inputs are: files of this machine, and files on HDFS.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use umbel_io::{ReadAt, Remote, Source};

use crate::hdfs::{self, HdfsPath};
use crate::{Error, Result};

const UNREADABLE: &str = "only --on spark reads such paths, by Spark's own connectors";

/// A file or folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// Of this machine.
    Local(PathBuf),
    /// On HDFS.
    Hdfs(HdfsPath),
    /// Somewhere that only the engine can read.
    Elsewhere(String),
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Local(path) => path.display().fmt(f),
            Location::Hdfs(path) => path.fmt(f),
            Location::Elsewhere(path) => f.write_str(path),
        }
    }
}

impl From<HdfsPath> for Location {
    fn from(path: HdfsPath) -> Location {
        Location::Hdfs(path)
    }
}

impl Location {
    /// What a path names: on HDFS where it begins with `hdfs://`, elsewhere where it has another scheme.
    pub fn parse(path: &Path) -> Location {
        if let Some(path) = HdfsPath::parse(path) {
            return Location::Hdfs(path);
        }
        let text = path.to_str().unwrap_or_default();
        match text.split_once("://") {
            Some(("file", local)) => Location::Local(local.into()),
            Some((scheme, _)) if is_scheme(scheme) => Location::Elsewhere(text.into()),
            _ => Location::Local(path.into()),
        }
    }

    /// The name without the folders.
    pub fn file_name(&self) -> String {
        match self {
            Location::Local(path) => {
                path.file_name().unwrap_or_default().to_string_lossy().into_owned()
            }
            Location::Hdfs(path) => path.file_name().into(),
            Location::Elsewhere(path) => {
                path.trim_end_matches('/').rsplit('/').next().unwrap_or_default().into()
            }
        }
    }

    /// The files there: itself, or those of a folder, by name, but for the ones that engines hide.
    pub fn files(&self) -> Result<Vec<Location>> {
        let path = match self {
            Location::Hdfs(path) => {
                return Ok(path.files()?.into_iter().map(Location::Hdfs).collect());
            }
            Location::Elsewhere(_) => return Ok(vec![self.clone()]),
            Location::Local(path) => path,
        };
        if !path.metadata().map_err(Error::io(self))?.is_dir() {
            return Ok(vec![self.clone()]);
        }
        let found = path.read_dir().map_err(Error::io(self))?;
        let mut files = Vec::new();
        for found in found {
            let found = found.map_err(Error::io(self))?;
            if !hdfs::is_hidden(&found.file_name().to_string_lossy()) && found.path().is_file() {
                files.push(found.path());
            }
        }
        files.sort();
        match files.is_empty() {
            true => Err(Error::other(format!("{self}: there are no files in this folder"))),
            false => Ok(files.into_iter().map(Location::Local).collect()),
        }
    }

    /// Whether anything is there.
    pub fn exists(&self) -> Result<bool> {
        match self {
            Location::Local(path) => path.try_exists().map_err(Error::io(self)),
            Location::Hdfs(path) => Ok(path.status()?.is_some()),
            Location::Elsewhere(_) => Err(self.unreadable()),
        }
    }

    /// The folders above it that are not there, the lowest first.
    pub(crate) fn missing_folders(&self) -> Result<Vec<Location>> {
        let path = match self {
            Location::Local(path) => path,
            Location::Hdfs(path) => return path.missing_folders(),
            Location::Elsewhere(_) => return Ok(Vec::new()),
        };
        // The empty path is the folder where the program works.
        let above = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
        Ok(above.take_while(|folder| !folder.exists()).map(|f| Location::Local(f.into())).collect())
    }

    /// Removes a folder that has nothing in it.
    pub(crate) fn remove_empty(&self) -> Result<()> {
        match self {
            Location::Local(path) => std::fs::remove_dir(path).map_err(Error::io(self)),
            Location::Hdfs(path) => path.remove_empty(),
            Location::Elsewhere(_) => Err(self.unreadable()),
        }
    }

    /// A whole file as an input; it is opened when it is needed.
    pub fn source(&self) -> Source {
        match self {
            Location::Local(path) => Source::new(path),
            Location::Hdfs(path) => {
                Source::remote(Arc::new(Whole { path: path.clone(), opened: Mutex::default() }))
            }
            Location::Elsewhere(path) => Source::remote(Arc::new(Absent(path.clone()))),
        }
    }

    fn unreadable(&self) -> Error {
        Error::io(self)(io::Error::new(io::ErrorKind::Unsupported, UNREADABLE))
    }

    /// Opens a file for reading.
    pub fn open(&self) -> Result<Opened> {
        Ok(match self {
            Location::Hdfs(path) => Opened::Hdfs(Box::new(path.open()?)),
            Location::Elsewhere(_) => return Err(self.unreadable()),
            Location::Local(path) => {
                let file = File::open(path).map_err(Error::io(self))?;
                let len = file.metadata().map_err(Error::io(self))?.len();
                Opened::Local { file, len, path: path.clone() }
            }
        })
    }
}

/// Whether it is the beginning of a URL, and not part of a file's name.
fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

/// A file that is open for reading, at any place.
#[derive(Debug)]
pub enum Opened {
    /// Of this machine.
    Local {
        /// The file.
        file: File,
        /// Bytes.
        len: u64,
        /// Where it is: each reader has a place of its own.
        path: PathBuf,
    },
    /// On HDFS.
    Hdfs(Box<hdfs::Opened>),
}

impl Opened {
    /// Bytes.
    pub fn len(&self) -> u64 {
        match self {
            Opened::Local { len, .. } => *len,
            Opened::Hdfs(opened) => opened.len(),
        }
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its bytes between two places.
    pub fn range(&self, start: u64, end: u64) -> io::Result<Box<dyn Read + Send>> {
        Ok(match self {
            Opened::Hdfs(opened) => Box::new(opened.range(start, end)),
            Opened::Local { path, .. } => {
                let mut file = File::open(path)?;
                file.seek(SeekFrom::Start(start))?;
                Box::new(Bounded(file.take(end.saturating_sub(start))))
            }
        })
    }
}

/// Bytes of a file that were there when it was opened: one that has become shorter is an error.
struct Bounded(io::Take<File>);

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 if !buffer.is_empty() && self.0.limit() > 0 => {
                Err(io::Error::other("the input has changed while it was read"))
            }
            len => Ok(len),
        }
    }
}

impl ReadAt for Opened {
    fn read_at(&self, buffer: &mut [u8], place: u64) -> io::Result<usize> {
        match self {
            Opened::Local { file, .. } => ReadAt::read_at(file, buffer, place),
            Opened::Hdfs(opened) => opened.read_at(buffer, place),
        }
    }
}

/// A file that cannot be read here.
#[derive(Debug)]
struct Absent(String);

impl Remote for Absent {
    fn name(&self) -> String {
        self.0.clone()
    }

    fn size(&self) -> Option<u64> {
        None
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        Err(io::Error::new(io::ErrorKind::Unsupported, UNREADABLE))
    }

    fn places(&self) -> Option<Arc<dyn ReadAt>> {
        None
    }
}

/// A whole file on HDFS.
#[derive(Debug)]
struct Whole {
    path: HdfsPath,
    opened: Mutex<Option<Arc<hdfs::Opened>>>,
}

impl Whole {
    fn opened(&self) -> Result<Arc<hdfs::Opened>> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(match &*opened {
            Some(opened) => opened.clone(),
            None => opened.insert(Arc::new(self.path.open()?)).clone(),
        })
    }
}

impl Remote for Whole {
    fn name(&self) -> String {
        self.path.to_string()
    }

    fn size(&self) -> Option<u64> {
        self.opened().ok().map(|opened| opened.len())
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        match self.opened() {
            Ok(opened) => Ok(Box::new(opened.from(0))),
            // The name is said by whoever reads.
            Err(Error::Io { source, .. }) => Err(source),
            Err(error) => Err(io::Error::other(error.to_string())),
        }
    }

    fn places(&self) -> Option<Arc<dyn ReadAt>> {
        Some(self.opened().ok()?)
    }
}

impl ReadAt for hdfs::Opened {
    fn read_at(&self, buffer: &mut [u8], place: u64) -> io::Result<usize> {
        hdfs::Opened::read_at(self, buffer, place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_shrinks_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        std::fs::write(&path, "one\ntwo\nthree\n").unwrap();
        let opened = Location::parse(&path).open().unwrap();
        let read = |start, end| io::read_to_string(opened.range(start, end).unwrap());
        assert_eq!(read(4, 14).unwrap(), "two\nthree\n");
        std::fs::write(&path, "one\ntwo\n").unwrap();
        assert_eq!(read(0, 8).unwrap(), "one\ntwo\n");
        let why = read(4, 14).unwrap_err().to_string();
        assert_eq!(why, "the input has changed while it was read");
    }

    #[test]
    fn schemes_are_told_from_names() {
        let local = |path: &str| Location::Local(path.into());
        let parse = |path: &str| Location::parse(path.as_ref());
        assert_eq!(parse("a/b.txt"), local("a/b.txt"));
        assert_eq!(parse("file:///a/b"), local("/a/b"));
        assert_eq!(parse("-"), local("-"));
        // A colon is no scheme.
        assert_eq!(parse("12:30://x"), local("12:30://x"));
        assert!(matches!(parse("hdfs:///a"), Location::Hdfs(_)));
        assert_eq!(parse("s3a://bucket/a"), Location::Elsewhere("s3a://bucket/a".into()));
        assert_eq!(parse("s3a://bucket/a/").file_name(), "a");
        assert!(parse("s3a://bucket/a").open().is_err());
    }
}
