//! Where a stream comes from: an address, a file, a pipe.

use std::convert::Infallible;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::{Error, Result};

/// Where a stream comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// `HOST:PORT`, to listen at.
    Address(String),
    /// A file, a named pipe, or `-` for standard input.
    Path(PathBuf),
}

/// An address ends with a port and has no slash; a file of such a name can be given as `./name:1`.
impl FromStr for Place {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Place, Infallible> {
        let port = text.rsplit_once(':').map(|(_, port)| port);
        let is_address =
            !text.contains('/') && port.is_some_and(|port| port.parse::<u16>().is_ok());
        Ok(if is_address { Place::Address(text.into()) } else { Place::Path(text.into()) })
    }
}

/// A path that has been looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Readable {
    /// A plain file, by its full path: it can be read again.
    File(PathBuf),
    /// A pipe or a device, which may have nothing to say for a while.
    Pipe(PathBuf),
}

impl Readable {
    /// Looks at a path; what cannot be a source is refused.
    pub(crate) fn at(path: &Path) -> Result<Readable> {
        let name = path.display();
        if path == Path::new("-") {
            return Ok(Readable::Pipe(path.into()));
        }
        let found = fs::metadata(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::Refused(format!(
                "{name}: there is no such file, nor is it an address such as 127.0.0.1:7001"
            )),
            _ => Error::io(&name)(error),
        })?;
        if found.is_dir() {
            return Err(Error::io(&name)(io::ErrorKind::IsADirectory.into()));
        }
        if !found.is_file() {
            return Ok(Readable::Pipe(path.into()));
        }
        refuse_bytes(path)?;
        Ok(Readable::File(fs::canonicalize(path).map_err(Error::io(name))?))
    }

    /// Opens it; a named pipe waits for somebody to write.
    pub(crate) fn open(&self) -> Result<File> {
        let (Readable::File(path) | Readable::Pipe(path)) = self;
        let file = if path == Path::new("-") {
            io::stdin().as_fd().try_clone_to_owned().map(File::from)
        } else {
            File::open(path)
        };
        file.map_err(Error::io(self))
    }
}

impl fmt::Display for Readable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Readable::Pipe(path) if path == Path::new("-") => f.write_str("stdin"),
            Readable::File(path) | Readable::Pipe(path) => path.display().fmt(f),
        }
    }
}

/// A stream has lines. Compressed bytes, or those of our own files, would be taken for some, and nobody would know.
fn refuse_bytes(path: &Path) -> Result<()> {
    const MAGIC: [(&[u8], &str); 4] = [
        (&[0x1F, 0x8B, 8], "zcat"),
        (&[0x28, 0xB5, 0x2F, 0xFD], "zstdcat"),
        (&[0xFD, b'7', b'z', b'X', b'Z', 0], "xzcat"),
        (b"BZh", "bzcat"),
    ];
    let name = path.display();
    let mut start = Vec::new();
    let file = File::open(path).map_err(Error::io(&name))?;
    file.take(8).read_to_end(&mut start).map_err(Error::io(&name))?;
    if start.starts_with(&umbel::format::MAGIC) {
        return Err(Error::Refused(format!(
            "{name}: this is an umbel file, not a text with keys; umbel info tells what it holds"
        )));
    }
    match MAGIC.iter().find(|(magic, _)| start.starts_with(magic)) {
        None => Ok(()),
        Some((_, cat)) => Err(Error::Refused(format!(
            "{name} is compressed, and a stream has lines: pipe it in: {cat} {name} | umbel stream --train - …"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_port_and_no_slash() {
        for text in ["127.0.0.1:7001", "localhost:0", "[::1]:7001", ":7001"] {
            assert_eq!(text.parse(), Ok(Place::Address(text.into())));
        }
        for text in ["train.txt", "-", "./a:1", "/dev/fd/63", "a:b", "7001", "host:70000"] {
            assert_eq!(text.parse(), Ok(Place::Path(text.into())));
        }
    }
}
