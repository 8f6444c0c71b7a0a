//! A file is complete or absent: written aside, synced, renamed, its folder synced.

use std::fs::{self, File, Permissions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::{Error, Result};

/// How the names of files begin and end that are being written.
const PREFIX: &str = ".umbel-";
const SUFFIX: &str = ".part";
/// So many links, one behind the other, lead in a circle: as many as Linux follows.
const MAX_LINKS: usize = 40;

/// A file that comes to be when it is whole. What is written goes aside, in the same folder; [`commit`](NewFile::commit) puts
/// it in place of what stood there. Dropped before that, it leaves nothing.
///
/// What is not a plain file (a pipe, a device) is written to directly. A link stays, and its target is replaced.
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    target: PathBuf,
    out: BufWriter<Out>,
}

#[derive(Debug)]
enum Out {
    Aside(NamedTempFile),
    Direct(File),
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            // Not by its own hand, which would put its name into every failure.
            Out::Aside(file) => file.as_file_mut().write(bytes),
            Out::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl NewFile {
    /// Begins a file that is to stand at `path`.
    pub fn create(path: impl AsRef<Path>) -> Result<NewFile> {
        let path = path.as_ref();
        let io = |source| Error::Io { path: path.into(), source };
        // Asked of the path as it was given: what a link such as /dev/stdout leads to may have no name of its own.
        let found = fs::metadata(path).ok();
        let (target, out) = match found {
            Some(found) if found.is_dir() => return Err(io(io::ErrorKind::IsADirectory.into())),
            Some(found) if !found.is_file() => (
                path.into(),
                Out::Direct(fs::OpenOptions::new().write(true).open(path).map_err(io)?),
            ),
            found => {
                let target = resolve(path).map_err(io)?;
                let permissions = found.map(|found| found.permissions());
                let out = Out::Aside(aside(&target, permissions).map_err(io)?);
                (target, out)
            }
        };
        let out = BufWriter::with_capacity(1 << 16, out);
        Ok(NewFile { path: path.into(), target, out })
    }

    /// Where the file is to stand.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the bytes are kept until they are whole; a program that ends itself in between removes it.
    pub fn aside(&self) -> Option<&Path> {
        match self.out.get_ref() {
            Out::Aside(file) => Some(file.path()),
            Out::Direct(_) => None,
        }
    }

    /// Makes the file safe on disk and puts it in its place.
    pub fn commit(self) -> Result<()> {
        let NewFile { path, target, out } = self;
        let done =
            out.into_inner().map_err(|failed| failed.into_error()).and_then(|out| match out {
                Out::Direct(_) => Ok(()),
                Out::Aside(file) => put_in_place(file, &target),
            });
        done.map_err(|source| Error::Io { path, source })
    }

    /// Turns an error of writing into one that names the file.
    pub(crate) fn named(&self, source: io::Error) -> Error {
        Error::Io { path: self.path.clone(), source }
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A file in the folder of `target`, with the permissions of what stands there or those a new file gets.
fn aside(target: &Path, permissions: Option<Permissions>) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let folder = folder(target);
    sweep(folder);
    let file = loop {
        let file = builder.tempfile_in(folder).map_err(|failed| refused(&failed, folder))?;
        // Locked as long as we are at work. Who sweeps may have been faster: then it is gone, or will be.
        let swept = matches!(file.as_file().try_lock(), Err(TryLockError::WouldBlock));
        if !swept && file.path().exists() {
            break file;
        }
    };
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    Ok(file)
}

/// Removes what processes left behind that were killed: files aside that nobody has locked. What cannot be told apart stays.
fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        let is_aside = name.starts_with(PREFIX.as_bytes()) && name.ends_with(SUFFIX.as_bytes());
        if !is_aside || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        // The lock is held until the file is gone, so that nobody takes it for their own in between.
        if let Ok(file) = File::open(entry.path())
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Why a folder takes no file; the name of the file aside would only puzzle.
fn refused(failed: &io::Error, folder: &Path) -> io::Error {
    let name = folder.display();
    let why = match fs::metadata(folder) {
        Ok(found) if found.is_dir() => {
            format!("cannot write to the folder {name}: {}", failed.kind())
        }
        Ok(_) => format!("{name} is not a folder"),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            format!("the folder {name} does not exist")
        }
        Err(error) => format!("cannot write to the folder {name}: {}", error.kind()),
    };
    io::Error::new(failed.kind(), why)
}

fn put_in_place(file: NamedTempFile, target: &Path) -> io::Result<()> {
    file.as_file().sync_all()?;
    file.persist(target).map_err(|failed| failed.error)?;
    // The file itself is safe; a folder that cannot be opened, as some systems have it, cannot be synced.
    File::open(folder(target)).map_or(Ok(()), |folder| folder.sync_all())
}

fn folder(target: &Path) -> &Path {
    target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Where a path leads: links are followed, so that they stay and their target is replaced, or made where it is missing.
fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        if path.exists() {
            return fs::canonicalize(path);
        }
        match fs::read_link(&path) {
            Ok(target) => path = folder(&path).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("its links lead to no end"))
}

/// Writes a file: complete or not at all.
pub(crate) fn save(
    path: impl AsRef<Path>,
    write: impl FnOnce(&mut NewFile) -> io::Result<()>,
) -> Result<()> {
    let mut file = NewFile::create(path)?;
    write(&mut file).map_err(|error| file.named(error))?;
    file.commit()
}

/// The bytes of a file.
pub(crate) fn to_bytes(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    write(&mut bytes).map_err(|source| Error::Io { path: "memory".into(), source })?;
    Ok(bytes)
}
