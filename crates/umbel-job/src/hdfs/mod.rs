//! Files on HDFS, by paths such as `hdfs:///s.txt`; where the NameNode is, Hadoop's configuration says ([`installed`](crate::installed)).

mod new_file;
mod words;

use std::collections::HashMap;
use std::fmt;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

use bytes::Bytes;
use hdfs_native::sync::{Client, ClientBuilder, FileReadStream, FileReader, FileWriter};
use hdfs_native::{HdfsError, WriteOptions};

use self::words::missing;
use crate::installed::Environment;
use crate::{Error, Location, Result, unfinished};

pub use self::new_file::NewFile;

const SCHEME: &str = "hdfs://";
/// One client for each NameNode: it keeps its connections.
static CLIENTS: Mutex<Option<HashMap<String, Client>>> = Mutex::new(None);

/// How a client asks that only wants to know whether somebody answers: three times, a second or two in all.
const IMPATIENT: [(&str, &str); 2] =
    [("dfs.client.failover.max.attempts", "2"), ("dfs.client.failover.sleep.base.millis", "250")];
/// And the longest that it may take.
const PATIENCE: Duration = Duration::from_secs(8);

/// A path on HDFS.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct HdfsPath {
    /// The NameNode or the name of the service; empty for the usual one.
    authority: String,
    path: String,
}

/// What is known of a file without opening it.
#[derive(Debug, Clone)]
pub struct Status {
    /// Where it is.
    pub path: HdfsPath,
    /// Bytes.
    pub len: u64,
    /// When it was changed, in milliseconds since 1970.
    pub changed: u64,
    /// Whether it is a folder.
    pub is_folder: bool,
}

/// Whether engines pass over a file of this name: what they note for themselves, and what is not whole yet.
pub(crate) fn is_hidden(name: &str) -> bool {
    name.starts_with(['.', '_'])
}

impl fmt::Display for HdfsPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}{}", self.authority, self.path)
    }
}

impl HdfsPath {
    /// The path, if it begins with `hdfs://`; as Hadoop has it, `hdfs:/` is the beginning of a path without a NameNode, capitals are no matter, and several
    /// slashes in a path are one.
    pub fn parse(path: &Path) -> Option<HdfsPath> {
        let (scheme, rest) = path.to_str()?.split_once(":/")?;
        if !scheme.eq_ignore_ascii_case("hdfs") {
            return None;
        }
        let (authority, path) = match rest.strip_prefix('/') {
            Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
            None => ("", rest),
        };
        let mut path = format!("/{path}");
        while path.contains("//") {
            path = path.replace("//", "/");
        }
        Some(HdfsPath { authority: authority.into(), path })
    }

    /// The part behind the NameNode.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// A file in this folder.
    pub fn join(&self, name: &str) -> HdfsPath {
        HdfsPath { path: format!("{}/{name}", self.path.trim_end_matches('/')), ..self.clone() }
    }

    /// Another path on the same NameNode.
    pub fn with_path(&self, path: String) -> HdfsPath {
        HdfsPath { path, ..self.clone() }
    }

    /// Whether both may name the same file: a path without a NameNode is on the usual one, which may be the other's.
    pub fn may_be(&self, other: &HdfsPath) -> bool {
        let same = |a: &str, b: &str| a == b || a.is_empty() || b.is_empty();
        same(&self.authority, &other.authority)
            && self.path.trim_end_matches('/') == other.path.trim_end_matches('/')
    }

    /// The name without the folders.
    pub fn file_name(&self) -> &str {
        self.path.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
    }

    /// The folder it is in.
    pub fn parent(&self) -> HdfsPath {
        let path = self.path.trim_end_matches('/');
        let folder = path.rfind('/').map_or("/", |at| &path[..at.max(1)]);
        HdfsPath { path: folder.into(), ..self.clone() }
    }

    /// What is there; none if nothing is.
    pub fn status(&self) -> Result<Option<Status>> {
        match self.client()?.get_file_info(&self.path) {
            Ok(found) => Ok(Some(Status {
                path: self.clone(),
                len: found.length as u64,
                changed: found.modification_time,
                is_folder: found.isdir,
            })),
            Err(HdfsError::FileNotFound(_)) => Ok(None),
            Err(error) => Err(self.error(error)),
        }
    }

    /// What is there, which must be something.
    pub(crate) fn existing(&self) -> Result<Status> {
        self.status()?.ok_or_else(|| Error::io(self)(missing()))
    }

    /// The files of a folder, by name.
    pub fn list(&self) -> Result<Vec<Status>> {
        let found = self.client()?.list_status(&self.path, false).map_err(|e| self.error(e))?;
        let status = |found: hdfs_native::client::FileStatus| Status {
            path: HdfsPath { path: found.path, ..self.clone() },
            len: found.length as u64,
            changed: found.modification_time,
            is_folder: found.isdir,
        };
        let mut files: Vec<_> = found.into_iter().map(status).collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(files)
    }

    /// The files there: itself, or those of a folder, by name, but for the ones that Hadoop hides.
    pub fn files(&self) -> Result<Vec<HdfsPath>> {
        let status = self.existing()?;
        if !status.is_folder {
            return Ok(vec![self.clone()]);
        }
        let is_file = |found: &Status| !found.is_folder && !is_hidden(found.path.file_name());
        let found = self.list()?.into_iter().filter(is_file);
        let files: Vec<_> = found.map(|found| found.path).collect();
        match files.is_empty() {
            true => Err(Error::other(format!("{self}: there are no files in this folder"))),
            false => Ok(files),
        }
    }

    /// Opens a file for reading.
    pub fn open(&self) -> Result<Opened> {
        let reader = self.client()?.read(&self.path).map_err(|error| self.error(error))?;
        Ok(Opened { reader, path: self.clone() })
    }

    /// All bytes of a small file.
    pub fn read(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open()?.from(0).read_to_end(&mut bytes).map_err(Error::io(self))?;
        Ok(bytes)
    }

    /// The folders above it that are not there, the lowest first.
    pub(crate) fn missing_folders(&self) -> Result<Vec<Location>> {
        let mut missing = Vec::new();
        let mut folder = self.parent();
        while folder.path != "/" && folder.status()?.is_none() {
            let above = folder.parent();
            missing.push(std::mem::replace(&mut folder, above).into());
        }
        Ok(missing)
    }

    /// Begins a file; one that stands there is replaced.
    pub fn create(&self) -> Result<Writer> {
        let _making = unfinished::making();
        let options = WriteOptions::default().overwrite(true).create_parent(true);
        let writer = self.client()?.create(&self.path, options).map_err(|e| self.error(e))?;
        Ok(Writer { writer, path: self.clone() })
    }

    /// Writes a small file.
    pub fn write(&self, bytes: &[u8]) -> Result<()> {
        let mut writer = self.create()?;
        writer.write_all(bytes).map_err(Error::io(self))?;
        writer.close()
    }

    /// Makes a folder and those above it.
    pub fn make_folder(&self) -> Result<()> {
        let _making = unfinished::making();
        self.client()?.mkdirs(&self.path, 0o755, true).map_err(|error| self.error(error))
    }

    /// Takes the place of another, which may exist.
    pub fn rename_over(&self, to: &HdfsPath) -> Result<()> {
        self.client()?.rename(&self.path, &to.path, true).map_err(|error| to.error(error))
    }

    /// Moves to a place where nothing is.
    pub fn rename(&self, to: &HdfsPath) -> Result<()> {
        self.client()?.rename(&self.path, &to.path, false).map_err(|error| to.error(error))
    }

    /// Removes a file or a folder with all that is in it, if it is there.
    pub fn remove(&self) -> Result<()> {
        self.client()?.delete(&self.path, true).map(|_| ()).map_err(|error| self.error(error))
    }

    /// Removes a folder that has nothing in it.
    pub(crate) fn remove_empty(&self) -> Result<()> {
        self.client()?.delete(&self.path, false).map(|_| ()).map_err(|error| self.error(error))
    }

    /// When a file was changed, in milliseconds since 1970.
    pub fn time(&self) -> Result<u64> {
        Ok(self.existing()?.changed)
    }

    /// Says when it was changed; the time of the last access stays, which not every HDFS keeps.
    pub fn set_time(&self, time: u64) -> Result<()> {
        self.client()?.set_times(&self.path, time, u64::MAX).map_err(|error| self.error(error))
    }

    fn client(&self) -> Result<Client> {
        let mut clients = CLIENTS.lock().unwrap_or_else(PoisonError::into_inner);
        let clients = clients.get_or_insert_default();
        if let Some(client) = clients.get(&self.authority) {
            return Ok(client.clone());
        }
        self.reach(self.build(ClientBuilder::new().with_config(IMPATIENT))?)?;
        let client = self.build(ClientBuilder::new())?;
        clients.insert(self.authority.clone(), client.clone());
        Ok(client)
    }

    fn build(&self, builder: ClientBuilder) -> Result<Client> {
        let builder = match Environment::own().conf() {
            Some(conf) => builder.with_config_dir(conf.display().to_string()),
            None => builder,
        };
        let builder = match self.authority.as_str() {
            "" => builder,
            authority => builder.with_url(format!("{SCHEME}{authority}")),
        };
        builder.build().map_err(|error| {
            Error::io(self)(io::Error::other(format!(
                "HDFS is not configured ({error}): set HADOOP_CONF_DIR, or name the NameNode as in hdfs://host:9000/…"
            )))
        })
    }

    /// Says within seconds that nobody answers: a client that is told nothing tries for a minute and a half, and where packets are lost for
    /// minutes. Later on that is right, for a NameNode may fail while another takes its place.
    fn reach(&self, client: Client) -> Result<()> {
        let (answer, answered) = mpsc::channel();
        // The thread of a call that hangs ends with the program.
        std::thread::spawn(move || answer.send(client.get_file_info("/").err()));
        match answered.recv_timeout(PATIENCE) {
            Ok(Some(error @ HdfsError::IOError(_))) => Err(self.error(error)),
            // Whatever else is wrong is said by the call that meets it.
            Ok(_) => Ok(()),
            Err(_) => Err(self.error(HdfsError::IOError(io::ErrorKind::TimedOut.into()))),
        }
    }

    fn error(&self, error: HdfsError) -> Error {
        Error::io(self)(words::of_namenode(error))
    }
}

/// A file that is open for reading, at any place.
pub struct Opened {
    reader: FileReader,
    path: HdfsPath,
}

impl Opened {
    /// Bytes.
    pub fn len(&self) -> u64 {
        self.reader.file_length() as u64
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where it is.
    pub fn path(&self) -> &HdfsPath {
        &self.path
    }

    /// Its bytes from a place to the end.
    pub fn from(&self, start: u64) -> Stream {
        self.range(start, self.len())
    }

    /// Its bytes between two places.
    pub fn range(&self, start: u64, end: u64) -> Stream {
        let (start, end) = (start.min(self.len()), end.min(self.len()));
        let len = end.saturating_sub(start) as usize;
        Stream { chunks: self.reader.read_range_stream(start as usize, len), rest: Bytes::new() }
    }

    /// Reads at most as many bytes as there is room for, beginning at a place.
    pub fn read_at(&self, buffer: &mut [u8], place: u64) -> io::Result<usize> {
        let len = buffer.len().min(self.len().saturating_sub(place) as usize);
        if len > 0 {
            let read = self.reader.read_range_buf(&mut buffer[..len], place as usize);
            read.map_err(words::of_datanode)?;
        }
        Ok(len)
    }
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path)
    }
}

/// Bytes of a file, one behind the other.
pub struct Stream {
    chunks: FileReadStream,
    rest: Bytes,
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.rest.is_empty() {
            match self.chunks.next() {
                Some(chunk) => self.rest = chunk.map_err(words::of_datanode)?,
                None => return Ok(0),
            }
        }
        let len = buffer.len().min(self.rest.len());
        buffer[..len].copy_from_slice(&self.rest.split_to(len));
        Ok(len)
    }
}

/// A file that is being written.
pub struct Writer {
    writer: FileWriter,
    path: HdfsPath,
}

impl Writer {
    /// Everything is written: HDFS has it when this has returned.
    pub fn close(mut self) -> Result<()> {
        self.writer.close().map_err(|error| Error::io(&self.path)(words::of_datanode(error)))
    }
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write_bytes(Bytes::copy_from_slice(bytes)).map_err(words::of_datanode)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_write_a_path_is_understood() {
        let parse = |path: &str| HdfsPath::parse(path.as_ref()).map(|path| path.to_string());
        for path in ["hdfs:///a/b", "hdfs:/a/b", "HDFS:///a/b", "Hdfs:/a/b"] {
            assert_eq!(parse(path).as_deref(), Some("hdfs:///a/b"), "{path}");
        }
        assert_eq!(parse("HDFS://host:9000/a").as_deref(), Some("hdfs://host:9000/a"));
        assert_eq!(parse("hdfs://host").as_deref(), Some("hdfs://host/"));
        // Names of this machine.
        for path in ["hdfs/a", "hdfs:a", "xhdfs:/a", "a/hdfs:/b", "-"] {
            assert_eq!(parse(path), None, "{path}");
        }
    }
}
