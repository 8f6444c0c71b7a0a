//! Where bytes come from: a file or stdin, decompressed if its first bytes say so.

use std::fs::{File, Metadata};
use std::io::{self, BufReader, Read, Seek};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::frames::{GzipMembers, Lz4Frames};
use crate::handed::Frames;
use crate::positioned::ReadAt;
use crate::unread::Unread;
use crate::{Error, Meter, Result, table};

/// An input: a path, `-` for stdin, or something that a [`Remote`] reads.
#[derive(Debug, Clone)]
pub struct Source {
    path: PathBuf,
    remote: Option<Arc<dyn Remote>>,
}

/// An input that is not in a file of this machine.
pub trait Remote: std::fmt::Debug + Send + Sync {
    /// How messages name it; its ending tells what separates columns.
    fn name(&self) -> String;

    /// The number of bytes in it, if that can be known.
    fn size(&self) -> Option<u64>;

    /// Opens it at its beginning.
    fn open(&self) -> io::Result<Box<dyn Read + Send>>;

    /// The same at any place, for formats that begin at their end; none where it is only a stretch of text.
    fn places(&self) -> Option<Arc<dyn ReadAt>>;

    /// Whether it is a stretch of a longer text, with others elsewhere: whether most rows of the text can be used is not for
    /// one stretch to say.
    fn is_part(&self) -> bool {
        false
    }

    /// Of a Parquet file: the row groups that begin between these places.
    fn part(&self) -> Range<u64> {
        0..u64::MAX
    }

    /// Rows by column, where it is no file at all.
    fn frames(&self) -> Option<Box<dyn Frames>> {
        None
    }

    /// Whether it begins where a file does: there a mark or a magic may stand.
    fn is_beginning(&self) -> bool {
        true
    }
}

impl Source {
    /// The input at a path.
    pub fn new(path: impl Into<PathBuf>) -> Source {
        Source { path: path.into(), remote: None }
    }

    /// An input elsewhere.
    pub fn remote(remote: Arc<dyn Remote>) -> Source {
        Source { path: remote.name().into(), remote: Some(remote) }
    }

    /// Standard input.
    pub fn stdin() -> Source {
        Source::new("-")
    }

    /// Whether this is standard input.
    pub fn is_stdin(&self) -> bool {
        self.path == Path::new("-")
    }

    /// How messages name it.
    pub fn name(&self) -> String {
        if self.is_stdin() { "stdin".into() } else { self.path.display().to_string() }
    }

    /// Whether it can be read twice: a plain file can, a pipe cannot.
    pub fn is_seekable(&self) -> bool {
        match &self.remote {
            Some(_) => true,
            None => self.size().is_some(),
        }
    }

    /// Whether it may come little by little, as from a pipe or a terminal: whoever follows it waits for no more than a line.
    pub fn is_live(&self) -> bool {
        !self.is_seekable()
    }

    /// Whether its bytes are text as they stand: neither compressed nor Parquet. What is not read at all is refused.
    pub fn is_plain(&self) -> Result<bool> {
        let mut first = Vec::new();
        self.open_raw()?.take(8).read_to_end(&mut first).map_err(Error::io(self.name()))?;
        let magic = Magic::of(&first).flatten();
        self.refuse_unread(magic, first.is_empty())?;
        Ok(magic.is_none())
    }

    /// Whether it is a Parquet file.
    pub fn is_parquet(&self) -> Result<bool> {
        match self.places()? {
            Some((file, len)) => table::is_parquet(&*file, len).map_err(Error::io(self.name())),
            None => Ok(false),
        }
    }

    /// Whether it is a stretch of a longer text.
    pub(crate) fn is_part(&self) -> bool {
        self.remote.as_ref().is_some_and(|remote| remote.is_part())
    }

    /// The part of a Parquet file that it is.
    pub(crate) fn part(&self) -> Range<u64> {
        self.remote.as_ref().map_or(0..u64::MAX, |remote| remote.part())
    }

    /// Its rows by column, where it is no file at all.
    pub(crate) fn frames(&self) -> Option<Box<dyn Frames>> {
        self.remote.as_ref()?.frames()
    }

    /// Whether it begins where a file does.
    pub(crate) fn is_beginning(&self) -> bool {
        self.remote.as_ref().is_none_or(|remote| remote.is_beginning())
    }

    /// The number of bytes in it, if that can be known.
    pub fn size(&self) -> Option<u64> {
        if let Some(remote) = &self.remote {
            return remote.size();
        }
        let found = std::fs::metadata(&self.path).ok().filter(|_| !self.is_stdin())?;
        found.is_file().then_some(found.len())
    }

    /// Its bytes at any place, and their number; none where it is a pipe, or only a stretch of text.
    pub(crate) fn places(&self) -> Result<Option<(Arc<dyn ReadAt>, u64)>> {
        let Some(size) = self.size() else { return Ok(None) };
        match &self.remote {
            Some(remote) => Ok(remote.places().map(|places| (places, size))),
            None => {
                let file = File::open(&self.path).map_err(Error::io(self.name()))?;
                Ok(Some((Arc::new(file), size)))
            }
        }
    }

    /// Opens it; what comes out is decompressed.
    pub fn open(&self, meter: &Arc<Meter>) -> Result<Box<dyn Read + Send>> {
        let raw =
            Metered { raw: self.open_raw()?, meter: Arc::clone(meter), has_failed: Arc::default() };
        if !self.is_beginning() {
            return Ok(Box::new(raw));
        }
        let has_failed = Arc::clone(&raw.has_failed);
        let (magic, raw) = peek(raw).map_err(Error::io(self.name()))?;
        self.refuse_unread(magic, raw.get_ref().0.get_ref().is_empty())?;
        decompressed(magic, raw, has_failed).map_err(Error::io(self.name()))
    }

    /// Refuses what would pass for text. Nothing at all is nothing, whatever its name.
    fn refuse_unread(&self, magic: Option<Magic>, is_empty: bool) -> Result<()> {
        match Unread::of(magic, &self.path).filter(|_| !is_empty) {
            Some(found) => Err(Error::Unread { name: self.name(), found }),
            None => Ok(()),
        }
    }

    fn open_raw(&self) -> Result<Box<dyn Read + Send>> {
        if let Some(remote) = &self.remote {
            return remote.open().map_err(Error::io(self.name()));
        }
        if self.is_stdin() {
            return match redirected() {
                Some(file) => Ok(Box::new(Watched::new(file).map_err(Error::io(self.name()))?)),
                None => Ok(Box::new(io::stdin())),
            };
        }
        let file = File::open(&self.path).map_err(Error::io(self.name()))?;
        let watched = Watched::new(file).map_err(Error::io(self.name()))?;
        if watched.opened.is_dir() {
            return Err(Error::io(self.name())(io::ErrorKind::IsADirectory.into()));
        }
        Ok(Box::new(watched))
    }
}

/// The plain file that the shell has put in place of stdin, if it is one.
#[cfg(unix)]
fn redirected() -> Option<File> {
    use std::os::fd::AsFd;
    let file = File::from(io::stdin().as_fd().try_clone_to_owned().ok()?);
    file.metadata().is_ok_and(|found| found.is_file()).then_some(file)
}

#[cfg(not(unix))]
fn redirected() -> Option<File> {
    None
}

/// A file that must not become shorter while it is read. What is not a regular file has no length to compare with.
struct Watched {
    file: File,
    /// What it was when it was opened.
    opened: Metadata,
    /// Where it is read next.
    place: u64,
}

impl Watched {
    /// A file that is read from where it stands: others may have read the beginning of stdin.
    fn new(mut file: File) -> io::Result<Watched> {
        let opened = file.metadata()?;
        let place = if opened.is_file() { file.stream_position()? } else { 0 };
        Ok(Watched { file, opened, place })
    }

    fn check_end(&self) -> io::Result<()> {
        let now = self.file.metadata()?;
        // Some files of the system say a length that they never have.
        let same = now.len() == self.opened.len() && now.modified()? == self.opened.modified()?;
        if same {
            return Ok(());
        }
        let Watched { opened, place, .. } = self;
        Err(io::Error::other(format!(
            "the input has changed while it was read: it ended behind {place} of {} bytes; run it again when nobody writes to it",
            opened.len()
        )))
    }
}

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.file.read(buffer)?;
        self.place += len as u64;
        if len == 0 && !buffer.is_empty() && self.opened.is_file() && self.place < self.opened.len()
        {
            self.check_end()?;
        }
        Ok(len)
    }
}

/// Counts the bytes that go by.
struct Metered {
    raw: Box<dyn Read + Send>,
    meter: Arc<Meter>,
    /// Whether it could not be read: then the data are not to blame.
    has_failed: Arc<AtomicBool>,
}

impl Read for Metered {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.raw.read(buffer).inspect_err(|error| {
            let failed = error.kind() != io::ErrorKind::Interrupted;
            self.has_failed.fetch_or(failed, Ordering::Relaxed);
        })?;
        self.meter.add(len as u64);
        Ok(len)
    }
}

pub(crate) const GZIP: &[u8] = &[0x1F, 0x8B, 8];
const ZSTD: &[u8] = &[0x28, 0xB5, 0x2F, 0xFD];
const BZIP2: &[u8] = b"BZh";
const XZ: &[u8] = &[0xFD, b'7', b'z', b'X', b'Z', 0];
const LZ4: &[u8] = &[0x04, 0x22, 0x4D, 0x18];
const LEGACY_LZ4: &[u8] = &[0x02, 0x21, 0x4C, 0x18];
/// Behind a byte from 50 to 5F.
const SKIPPABLE: &[u8] = &[0x2A, 0x4D, 0x18];
const ZIP: &[u8] = b"PK\x03\x04";
const AVRO: &[u8] = b"Obj\x01";

/// How a stream is compressed, or what else it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Magic {
    Gzip,
    Zstd,
    Bzip2,
    Xz,
    Lz4,
    LegacyLz4,
    /// A frame that holds no data; those of zstd or lz4 follow.
    Skippable,
    Parquet,
    Zip,
    Avro,
}

impl Magic {
    /// What the first bytes say; none when more of them are needed.
    pub(crate) fn of(first: &[u8]) -> Option<Option<Magic>> {
        let magics = [
            (GZIP, Magic::Gzip),
            (ZSTD, Magic::Zstd),
            (BZIP2, Magic::Bzip2),
            (XZ, Magic::Xz),
            (LZ4, Magic::Lz4),
            (LEGACY_LZ4, Magic::LegacyLz4),
            (table::MAGIC, Magic::Parquet),
            (ZIP, Magic::Zip),
            (AVRO, Magic::Avro),
        ];
        if let [0x50..=0x5F, rest @ ..] = first {
            if rest.starts_with(SKIPPABLE) {
                return Some(Some(Magic::Skippable));
            }
            if SKIPPABLE.starts_with(rest) {
                return None;
            }
        }
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

    fn name(self) -> &'static str {
        match self {
            Magic::Gzip => "gzip",
            Magic::Zstd | Magic::Skippable => "zstd",
            Magic::Bzip2 => "bzip2",
            Magic::Xz => "xz",
            Magic::Lz4 | Magic::LegacyLz4 => "lz4",
            Magic::Parquet => "Parquet",
            Magic::Zip => "ZIP",
            Magic::Avro => "Avro",
        }
    }
}

/// Chooses the decompressor by the magic bytes; anything else passes as it is.
fn decompressed(
    magic: Option<Magic>,
    raw: Peeked,
    has_failed: Arc<AtomicBool>,
) -> io::Result<Box<dyn Read + Send>> {
    let Some(magic) = magic else { return Ok(Box::new(raw)) };
    let raw = buffered(raw);
    let decoder: Box<dyn Read + Send> = match magic {
        Magic::Gzip => Box::new(GzipMembers::new(raw)),
        Magic::Zstd | Magic::Skippable => Box::new(zstd::stream::read::Decoder::with_buffer(raw)?),
        Magic::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(raw)),
        Magic::Xz => Box::new(liblzma::bufread::XzDecoder::new_multi_decoder(raw)),
        Magic::Lz4 => Box::new(Lz4Frames::new(raw)),
        Magic::LegacyLz4 => return Err(legacy_lz4()),
        // A text may begin as a table does, and whoever reads lines tells them apart; the others are refused.
        Magic::Parquet | Magic::Zip | Magic::Avro => return Ok(Box::new(raw)),
    };
    Ok(Box::new(Decoded { decoder, magic, has_failed }))
}

/// Such data have no end of their own: nobody could tell whether they are whole.
pub(crate) fn legacy_lz4() -> io::Error {
    io::Error::new(
        io::ErrorKind::Unsupported,
        "this is lz4 in its legacy format, which does not say where it ends: pack it anew with lz4 -d | lz4",
    )
}

/// What a decoder makes of a stream; each has other words for data that are not whole.
struct Decoded {
    decoder: Box<dyn Read + Send>,
    magic: Magic,
    has_failed: Arc<AtomicBool>,
}

impl Read for Decoded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.decoder.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted | io::ErrorKind::Unsupported => error,
            _ if self.has_failed.load(Ordering::Relaxed) => error,
            _ => damaged(self.magic, &error),
        })
    }
}

fn damaged(magic: Magic, why: &io::Error) -> io::Error {
    let name = magic.name();
    io::Error::new(why.kind(), format!("the {name} data is cut short or damaged ({why})"))
}

type Peeked = io::Chain<io::Cursor<Vec<u8>>, Metered>;

fn buffered(raw: Peeked) -> BufReader<Peeked> {
    BufReader::with_capacity(1 << 18, raw)
}

/// How the stream is compressed, and the whole of it with its first bytes put back, but for skippable frames. No more is waited for
/// than tells.
fn peek(mut raw: Metered) -> io::Result<(Option<Magic>, Peeked)> {
    let (mut first, mut skipped) = (Vec::new(), false);
    let magic = loop {
        match Magic::of(&first) {
            Some(Some(Magic::Skippable)) => {
                skip_frame(&mut raw).map_err(|error| match error.kind() {
                    io::ErrorKind::UnexpectedEof => damaged(Magic::Skippable, &error),
                    _ => error,
                })?;
                first.clear();
                skipped = true;
            }
            Some(magic) => break magic,
            None => {}
        }
        let len = first.len();
        raw.by_ref().take(1).read_to_end(&mut first)?;
        if first.len() == len {
            break None;
        }
    };
    // Only these two have such frames. What else may stand there is refused by zstd.
    let magic = match magic {
        Some(Magic::Lz4 | Magic::LegacyLz4) => magic,
        _ if skipped && !first.is_empty() => Some(Magic::Zstd),
        _ => magic,
    };
    Ok((magic, io::Cursor::new(first).chain(raw)))
}

/// Passes over the rest of a skippable frame, whose magic has been read.
pub(crate) fn skip_frame(raw: &mut impl Read) -> io::Result<()> {
    let mut len = [0; 4];
    raw.read_exact(&mut len)?;
    let len = u64::from(u32::from_le_bytes(len));
    match io::copy(&mut raw.take(len), &mut io::sink())? {
        read if read == len => Ok(()),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}
