//! A file is complete or absent: written aside, synced, renamed, its folder synced.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::Content;
use super::envelope::Failure;
use crate::{Error, Result};

impl Content<'_> {
    /// The bytes of the file.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.write_to(&mut bytes).map_err(|failure| failure.at(Path::new("memory")))?;
        Ok(bytes)
    }

    /// Writes the file at `path`. A file that stands there is replaced when the new one is whole; what is not a
    /// plain file (a pipe, a device) is written to directly.
    pub(crate) fn save(&self, path: &Path) -> Result<()> {
        let io = |source| Error::Io { path: path.into(), source };
        let target = resolve(path).map_err(io)?;
        match fs::metadata(&target) {
            Ok(found) if found.is_dir() => Err(io(io::ErrorKind::IsADirectory.into())),
            Ok(found) if !found.is_file() => {
                let out = fs::OpenOptions::new().write(true).open(&target).map_err(io)?;
                self.write_synced(&out, false).map_err(|failure| failure.at(path))
            }
            found => self
                .replace(&target, found.ok().map(|found| found.permissions()))
                .map_err(|failure| failure.at(path)),
        }
    }

    fn replace(&self, target: &Path, permissions: Option<fs::Permissions>) -> Result<(), Failure> {
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let mut aside = tempfile::Builder::new();
        aside.prefix(".umbel-").suffix(".part");
        #[cfg(unix)]
        let aside = aside.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let aside = aside.tempfile_in(folder)?;
        self.write_synced(aside.as_file(), true)?;
        if let Some(permissions) = permissions {
            aside.as_file().set_permissions(permissions)?;
        }
        aside.persist(target).map_err(|failed| failed.error)?;
        // The file itself is safe; a folder that cannot be opened for syncing is no failure.
        if let Ok(folder) = fs::File::open(folder) {
            let _ = folder.sync_all();
        }
        Ok(())
    }

    fn write_synced(&self, file: &fs::File, sync: bool) -> Result<(), Failure> {
        let mut out = BufWriter::with_capacity(1 << 16, file);
        self.write_to(&mut out)?;
        out.flush()?;
        if sync {
            file.sync_all()?;
        }
        Ok(())
    }
}

impl Failure {
    fn at(self, path: &Path) -> Error {
        match self {
            Failure::Content(error) => error.at(path),
            Failure::Io(source) => Error::Io { path: path.into(), source },
        }
    }
}

/// Where a path leads: a link is followed, so that it stays and its target is replaced.
fn resolve(path: &Path) -> io::Result<PathBuf> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => fs::canonicalize(path),
        _ => Ok(path.into()),
    }
}
