//! An opened file.

use std::fs;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memmap2::Mmap;

use super::Kind;
use super::decoder::Decoder;
use super::envelope::{Envelope, HEADER, stated_len};
use crate::bloom::Bloom;
use crate::countmin::{Conservative, CountMin};
use crate::counts::{CountGroups, Counts};
use crate::groups::Groups;
use crate::heavy::Heavy;
use crate::memory::{LINE_BYTES, Memory};
use crate::near::Near;
use crate::ranges::Ranges;
use crate::similar::Similar;
use crate::{Error, Metadata, Result};

/// An opened file. The header, the parameters and the metadata have been checked; the bits have not, until you
/// call [`verify`](File::verify) or every [`verify_chunk`](File::verify_chunk).
///
/// A plain file is mapped, not read: it must not be changed in place while it is in use. umbel itself only ever
/// replaces files whole.
#[derive(Debug)]
pub struct File {
    path: PathBuf,
    bytes: Bytes,
    envelope: Envelope,
}

#[derive(Debug)]
enum Bytes {
    Mapped(Arc<Mmap>),
    Read(Vec<u8>),
}

impl std::ops::Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Mapped(map) => map,
            Bytes::Read(bytes) => bytes,
        }
    }
}

impl File {
    /// Opens a file and checks its header.
    pub fn open(path: impl AsRef<Path>) -> Result<File> {
        let path = path.as_ref();
        let io = |source| Error::Io { path: path.into(), source };
        let file = fs::File::open(path).map_err(io)?;
        let found = file.metadata().map_err(io)?;
        if found.is_dir() {
            return Err(io(io::ErrorKind::IsADirectory.into()));
        }
        if !found.is_file() || found.len() == 0 {
            return File::read(path, file);
        }
        // SAFETY: the mapping is read-only; umbel files are replaced whole, never changed in place, and the
        // documentation asks the same of others.
        let bytes = Bytes::Mapped(Arc::new(unsafe { Mmap::map(&file) }.map_err(io)?));
        File::new(path.into(), bytes).map_err(|error| error.at(path))
    }

    /// Reads a file from a stream, no more than its header says. Errors call it `name`.
    pub fn read(name: impl Into<PathBuf>, stream: impl Read) -> Result<File> {
        let name = name.into();
        let bytes = read_stream(stream).map_err(|error| match error {
            Error::Io { source, .. } => Error::Io { path: name.clone(), source },
            other => other.at(&name),
        })?;
        File::new(name.clone(), Bytes::Read(bytes)).map_err(|error| error.at(&name))
    }

    /// A file that stands in memory.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<File> {
        File::new(PathBuf::from("memory"), Bytes::Read(bytes))
    }

    /// Opens a file and checks all of it.
    pub(crate) fn open_verified(path: &Path) -> Result<File> {
        let file = File::open(path)?;
        file.verify()?;
        Ok(file)
    }

    /// A file that stands in memory, all of it checked.
    pub(crate) fn from_bytes_verified(bytes: &[u8]) -> Result<File> {
        let file = File::from_bytes(bytes.to_vec())?;
        file.verify()?;
        Ok(file)
    }

    fn new(path: PathBuf, bytes: Bytes) -> Result<File> {
        let envelope = Envelope::read(&bytes)?;
        Ok(File { path, bytes, envelope })
    }

    /// What the file holds.
    pub fn kind(&self) -> Kind {
        self.envelope.kind
    }

    /// The metadata in the file.
    pub fn metadata(&self) -> &Metadata {
        &self.envelope.metadata
    }

    /// The length of the file.
    pub fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Never: a file has at least a header.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The number of chunks, of 1 MiB each, whose bits can be verified one by one.
    pub fn chunks(&self) -> usize {
        self.envelope.chunks()
    }

    /// Checks one chunk of the bits against its checksum; the error says where the damage is.
    ///
    /// # Panics
    /// When there is no such chunk.
    pub fn verify_chunk(&self, index: usize) -> Result<()> {
        let bytes = &self.bytes[self.envelope.chunk(index)];
        self.check(self.envelope.verify_chunk(&self.bytes, index, bytes))
    }

    /// Checks the checksums themselves, then all bits.
    pub fn verify(&self) -> Result<()> {
        self.verify_sums()?;
        (0..self.chunks()).try_for_each(|index| self.verify_chunk(index))
    }

    /// Checks the checksums themselves.
    pub fn verify_sums(&self) -> Result<()> {
        self.check(self.envelope.verify_sums(&self.bytes))
    }

    /// The filter in the file, its bits left where they are.
    pub fn into_bloom(self) -> Result<Bloom> {
        let mut filter = self.decode(Kind::Bloom, |decoder| decoder.bloom())?;
        *filter.metadata_mut() = self.envelope.metadata;
        Ok(filter)
    }

    /// The filters in the file, their bits left where they are.
    pub fn into_groups(self) -> Result<Groups> {
        let mut groups = self.decode(Kind::Groups, |decoder| decoder.groups())?;
        *groups.metadata_mut() = self.envelope.metadata;
        Ok(groups)
    }

    /// The sketch in the file, its counters left where they are.
    pub fn into_count_min(self) -> Result<CountMin> {
        let mut sketch = self.decode(Kind::CountMin, |decoder| decoder.count_min())?;
        *sketch.metadata_mut() = self.envelope.metadata;
        Ok(sketch)
    }

    /// The conservative sketch in the file, its counters left where they are.
    pub fn into_conservative(self) -> Result<Conservative> {
        let mut sketch = self.decode(Kind::Conservative, |decoder| decoder.conservative())?;
        *sketch.metadata_mut() = self.envelope.metadata;
        Ok(sketch)
    }

    /// The counts over ranges in the file, left where they are.
    pub fn into_ranges(self) -> Result<Ranges> {
        let mut ranges = self.decode(Kind::Ranges, |decoder| decoder.ranges())?;
        *ranges.metadata_mut() = self.envelope.metadata;
        Ok(ranges)
    }

    /// The heavy hitters in the file.
    pub fn into_heavy(self) -> Result<Heavy> {
        let mut heavy = self.decode(Kind::Heavy, |decoder| decoder.heavy())?;
        *heavy.metadata_mut() = self.envelope.metadata;
        Ok(heavy)
    }

    /// The counts of one stream in the file, of whichever kind: see [`Kind::is_counts`].
    pub fn into_counts(self) -> Result<Counts> {
        let kind = self.kind();
        let wanted = if kind.is_counts() { kind } else { Kind::Counts };
        let mut counts = self.decode(wanted, |decoder| decoder.counts(kind))?;
        *counts.metadata_mut() = self.envelope.metadata;
        Ok(counts)
    }

    /// The counts by group in the file.
    pub fn into_count_groups(self) -> Result<CountGroups> {
        let mut groups = self.decode(Kind::CountGroups, |decoder| decoder.count_groups())?;
        *groups.metadata_mut() = self.envelope.metadata;
        Ok(groups)
    }

    /// The near structure in the file, its bits left where they are.
    pub fn into_near(self) -> Result<Near> {
        let mut near = self.decode(Kind::Near, |decoder| decoder.near())?;
        *near.metadata_mut() = self.envelope.metadata;
        Ok(near)
    }

    /// The similar filter in the file, its bits left where they are.
    pub fn into_similar(self) -> Result<Similar> {
        let mut similar = self.decode(Kind::Similar, |decoder| decoder.similar())?;
        *similar.metadata_mut() = self.envelope.metadata;
        Ok(similar)
    }

    /// Reads what the sections hold, all of it.
    fn decode<T>(
        &self,
        wanted: Kind,
        read: impl FnOnce(&mut Decoder<'_, Lines<'_>>) -> Result<T>,
    ) -> Result<T> {
        let whole = || {
            let mut decoder = self.expect(wanted)?;
            let decoded = read(&mut decoder)?;
            decoder.end()?;
            Ok(decoded)
        };
        self.check(whole())
    }

    fn expect(&self, wanted: Kind) -> Result<Decoder<'_, Lines<'_>>> {
        self.kind().expect(wanted)?;
        let Envelope { params, body, .. } = &self.envelope;
        let lines: Lines<'_> = Box::new(|range| self.memory(range));
        Ok(Decoder::new(&self.bytes[params.clone()], body.clone(), lines))
    }

    fn memory(&self, range: Range<usize>) -> Result<Memory> {
        match &self.bytes {
            Bytes::Mapped(map) => Memory::mapped(Arc::clone(map), range),
            Bytes::Read(bytes) => {
                let mut memory = Memory::zeroed(range.len() / LINE_BYTES)?;
                bytemuck::cast_slice_mut(memory.lines_mut()).copy_from_slice(&bytes[range]);
                Ok(memory)
            }
        }
    }

    fn check<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|error| error.at(&self.path))
    }
}

/// Gives the lines in a range of the file.
type Lines<'a> = Box<dyn Fn(Range<usize>) -> Result<Memory> + 'a>;

/// Reads a pipe: the header first, then no more than the header says.
fn read_stream(mut stream: impl Read) -> Result<Vec<u8>> {
    let io = |source| Error::Io { path: PathBuf::new(), source };
    let mut bytes = Vec::new();
    stream.by_ref().take(HEADER as u64).read_to_end(&mut bytes).map_err(io)?;
    if let Some(header) = bytes.first_chunk::<HEADER>() {
        let rest = stated_len(header)?.saturating_sub(HEADER as u64);
        // One byte more, so that a stream that is too long is found out like a file that is.
        stream.take(rest.saturating_add(1)).read_to_end(&mut bytes).map_err(io)?;
    }
    Ok(bytes)
}
