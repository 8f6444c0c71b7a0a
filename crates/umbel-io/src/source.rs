//! Where bytes come from: a file or stdin, decompressed if its first bytes say so.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::frames::{GzipMembers, Lz4Frames};
use crate::{Error, Meter, Result};

/// An input: a path, or `-` for stdin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source(PathBuf);

impl Source {
    /// The input at a path.
    pub fn new(path: impl Into<PathBuf>) -> Source {
        Source(path.into())
    }

    /// Standard input.
    pub fn stdin() -> Source {
        Source(PathBuf::from("-"))
    }

    /// Whether this is standard input.
    pub fn is_stdin(&self) -> bool {
        self.0 == Path::new("-")
    }

    /// How messages name it.
    pub fn name(&self) -> String {
        if self.is_stdin() { "stdin".into() } else { self.0.display().to_string() }
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Whether it can be read twice: a plain file can, a pipe cannot.
    pub fn is_seekable(&self) -> bool {
        !self.is_stdin() && std::fs::metadata(&self.0).is_ok_and(|found| found.is_file())
    }

    /// Whether it may come little by little, as from a pipe or a terminal: whoever follows it waits for no more than a line.
    pub fn is_live(&self) -> bool {
        !self.is_seekable()
    }

    /// The number of bytes in it, if that can be known.
    pub fn size(&self) -> Option<u64> {
        let found = std::fs::metadata(&self.0).ok().filter(|_| !self.is_stdin())?;
        found.is_file().then_some(found.len())
    }

    /// Opens it; what comes out is decompressed.
    pub fn open(&self, meter: &Arc<Meter>) -> Result<Box<dyn Read + Send>> {
        let raw: Box<dyn Read + Send> = if self.is_stdin() {
            Box::new(io::stdin())
        } else {
            let file = File::open(&self.0).map_err(Error::io(self.name()))?;
            if file.metadata().is_ok_and(|found| found.is_dir()) {
                return Err(Error::io(self.name())(io::ErrorKind::IsADirectory.into()));
            }
            Box::new(file)
        };
        decompressed(Metered { raw, meter: Arc::clone(meter) }).map_err(Error::io(self.name()))
    }
}

/// Counts the bytes that go by.
struct Metered {
    raw: Box<dyn Read + Send>,
    meter: Arc<Meter>,
}

impl Read for Metered {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.raw.read(buffer)?;
        self.meter.add(len as u64);
        Ok(len)
    }
}

pub(crate) const GZIP: &[u8] = &[0x1F, 0x8B, 8];
const ZSTD: &[u8] = &[0x28, 0xB5, 0x2F, 0xFD];
const BZIP2: &[u8] = b"BZh";
const XZ: &[u8] = &[0xFD, b'7', b'z', b'X', b'Z', 0];
const LZ4: &[u8] = &[0x04, 0x22, 0x4D, 0x18];

/// How a stream is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Magic {
    Gzip,
    Zstd,
    Bzip2,
    Xz,
    Lz4,
}

impl Magic {
    /// What the first bytes say; none when more of them are needed.
    fn of(first: &[u8]) -> Option<Option<Magic>> {
        let magics = [
            (GZIP, Magic::Gzip),
            (ZSTD, Magic::Zstd),
            (BZIP2, Magic::Bzip2),
            (XZ, Magic::Xz),
            (LZ4, Magic::Lz4),
        ];
        if magics.iter().any(|(magic, _)| first.len() < magic.len() && magic.starts_with(first)) {
            return None;
        }
        let found =
            magics.iter().find(|(magic, _)| first.starts_with(magic)).map(|&(_, found)| found);
        if found != Some(Magic::Bzip2) {
            return Some(found);
        }
        // Text may begin so too: a digit is to follow.
        first.get(BZIP2.len()).map(|digit| found.filter(|_| digit.is_ascii_digit()))
    }
}

/// Chooses the decompressor by the magic bytes; anything else passes as it is.
fn decompressed(raw: Metered) -> io::Result<Box<dyn Read + Send>> {
    let (magic, raw) = peek(raw)?;
    Ok(match magic {
        Some(Magic::Gzip) => Box::new(GzipMembers::new(buffered(raw))),
        Some(Magic::Zstd) => Box::new(zstd::stream::read::Decoder::with_buffer(buffered(raw))?),
        Some(Magic::Bzip2) => Box::new(bzip2::bufread::MultiBzDecoder::new(buffered(raw))),
        Some(Magic::Xz) => Box::new(liblzma::bufread::XzDecoder::new_multi_decoder(buffered(raw))),
        Some(Magic::Lz4) => Box::new(Lz4Frames::new(buffered(raw))),
        None => Box::new(raw),
    })
}

type Peeked = io::Chain<io::Cursor<Vec<u8>>, Metered>;

fn buffered(raw: Peeked) -> BufReader<Peeked> {
    BufReader::with_capacity(1 << 18, raw)
}

/// How the stream is compressed, and the whole of it with its first bytes put back. No more is waited for than tells.
fn peek(mut raw: Metered) -> io::Result<(Option<Magic>, Peeked)> {
    let mut first = Vec::new();
    let magic = loop {
        if let Some(magic) = Magic::of(&first) {
            break magic;
        }
        let len = first.len();
        raw.by_ref().take(1).read_to_end(&mut first)?;
        if first.len() == len {
            break None;
        }
    };
    Ok((magic, io::Cursor::new(first).chain(raw)))
}
