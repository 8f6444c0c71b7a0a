//! Filters on their way between processes: each has a part of the keys, one takes the union.
//!
//! A filter travels in slices of [`SLICE`] lines, so that whoever merges needs the memory of a slice and not of the filter. A slice
//! is coded by its fill: while few bits are set (fewer than one in four), the gaps between them take less than the bits themselves. FORMAT.md has the bytes.
//!
//! ```
//! use umbel::bloom::{Coding, Partial};
//! use umbel::Bloom;
//!
//! let (mut here, mut there) = (Bloom::new(1000, 0.01)?, Bloom::new(1000, 0.01)?);
//! here.insert(b"tt0073537");
//! there.insert(b"tt0073604");
//! for slice in 0..there.slices() {
//!     let bytes = there.partial(slice).to_bytes(Coding::Shortest);
//!     here.merge_partial(slice, &Partial::from_bytes(&bytes)?)?;
//! }
//! assert!(here.contains(b"tt0073604"));
//! assert_eq!(here.inserted(), Some(2));
//! # Ok::<(), umbel::Error>(())
//! ```

use super::gaps::{self, Gaps};
use super::{Bloom, Params};
use crate::hash::{Strategy, mix, reduce, xxh3};
use crate::memory::Line;
use crate::sizing::Layout;
use crate::{Error, Result};

/// Lines in a slice, of which a filter's last may have fewer: 8 MiB.
pub const SLICE: usize = 1 << 17;
/// Bits in a slice.
pub const SLICE_BITS: u64 = (SLICE * LINE_BITS) as u64;

const LINE_BITS: usize = 512;
const HEADER: usize = 16;
const CHECKSUM: usize = 8;
const BITS: u8 = 1;
const GAPS: u8 = 2;
const INDEXES: u8 = 3;
/// A slice is dense if one bit in so many is set.
const DENSE: usize = 4;
/// Bytes of an index.
const INDEX: usize = 4;

/// How a partial is to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// Gaps or bits, whichever is shorter; bits too where one in four or more is set, for gaps would save less than a fifth and take longer than the way they
    /// shorten.
    Shortest,
    /// The bits as they are.
    Bits,
}

/// A slice of a filter, or of the union of several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partial {
    lines: Vec<Line>,
    inserted: u64,
}

impl Partial {
    /// Takes in another part of the same slice.
    pub fn merge(&mut self, other: &Partial) -> Result<()> {
        super::same("the number of lines of a slice", self.lines.len(), other.lines.len())?;
        for (ours, theirs) in self.words_mut().zip(other.words()) {
            *ours |= theirs;
        }
        self.inserted = self.inserted.saturating_add(other.inserted);
        Ok(())
    }

    /// The slice as bytes for another process.
    pub fn to_bytes(&self, coding: Coding) -> Vec<u8> {
        let bits: &[u8] = bytemuck::cast_slice(&self.lines);
        // Zeros at the end say nothing.
        let bits = &bits[..bits.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1)];
        let gaps = match coding {
            Coding::Shortest if self.is_sparse() => Gaps::of(self.words()),
            _ => None,
        };
        match gaps.filter(|gaps| gaps.bytes() < bits.len()) {
            Some(gaps) => self.framed(GAPS, gaps.width(), |bytes| gaps.write(self.words(), bytes)),
            None => self.framed(BITS, 0, |bytes| bytes.extend_from_slice(bits)),
        }
    }

    /// The slice that [`Partial::to_bytes`] or [`Indexes::to_bytes`] wrote. Refuses bytes that neither can have written.
    pub fn from_bytes(bytes: &[u8]) -> Result<Partial> {
        let Some((content, checksum)) = bytes.split_last_chunk::<CHECKSUM>() else {
            return Err(refuse("an early end"));
        };
        let Some((header, payload)) = content.split_first_chunk::<HEADER>() else {
            return Err(refuse("an early end"));
        };
        if u64::from_le_bytes(*checksum) != xxh3(content, 0) {
            return Err(refuse("a wrong checksum"));
        }
        let [coding, width, 0, 0, a, b, c, d, inserted @ ..] = *header else {
            return Err(refuse("flags that are not known"));
        };
        let lines = u32::from_le_bytes([a, b, c, d]) as usize;
        if lines == 0 || lines > SLICE {
            return Err(refuse("a slice of an impossible size"));
        }
        let inserted = u64::from_le_bytes(inserted);
        let mut partial = Partial { lines: vec![Line([0; 8]); lines], inserted };
        match (coding, width) {
            (BITS, 0) => partial.read_bits(payload)?,
            (GAPS, width) => gaps::read(payload, width, |index| partial.set(index))?,
            (INDEXES, 0) => partial.read_indexes(payload)?,
            _ => return Err(refuse("a coding that is not known")),
        }
        Ok(partial)
    }

    fn framed(&self, coding: u8, width: u8, payload: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        framed(coding, width, self.lines.len(), self.inserted, payload)
    }

    fn read_bits(&mut self, payload: &[u8]) -> Result<()> {
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut self.lines);
        if payload.len() > bytes.len() || payload.last() == Some(&0) {
            return Err(refuse("bits beyond the end of the slice"));
        }
        bytes[..payload.len()].copy_from_slice(payload);
        Ok(())
    }

    fn read_indexes(&mut self, payload: &[u8]) -> Result<()> {
        let (indexes, rest) = payload.as_chunks::<INDEX>();
        if !rest.is_empty() {
            return Err(refuse("part of an index"));
        }
        indexes.iter().try_for_each(|&index| self.set(u32::from_le_bytes(index).into()))
    }

    fn set(&mut self, index: u64) -> Result<()> {
        let line = self.lines.get_mut(index as usize / LINE_BITS);
        let line = line.ok_or_else(|| refuse("a bit beyond the end of the slice"))?;
        line.0[index as usize / 64 % 8] |= 1 << (index % 64);
        Ok(())
    }

    fn is_sparse(&self) -> bool {
        let ones: usize = self.words().map(|word| word.count_ones() as usize).sum();
        ones * DENSE < self.lines.len() * LINE_BITS
    }

    fn words(&self) -> impl Iterator<Item = u64> + Clone {
        self.lines.iter().flat_map(|line| line.0)
    }

    fn words_mut(&mut self) -> impl Iterator<Item = &mut u64> {
        self.lines.iter_mut().flat_map(|line| &mut line.0)
    }
}

/// Indexes of bits of one slice as they come, one behind the other: the plain way, beside which others are measured.
#[derive(Debug, Clone, Default)]
pub struct Indexes {
    indexes: Vec<u8>,
    inserted: u64,
}

impl Indexes {
    /// Adds the index of a bit, counted from the beginning of the slice.
    pub fn push(&mut self, index: u32) {
        self.indexes.extend(index.to_le_bytes());
    }

    /// Counts an insert call.
    pub fn count_insert(&mut self) {
        self.inserted += 1;
    }

    /// The number of indexes.
    pub fn len(&self) -> usize {
        self.indexes.len() / INDEX
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.indexes.is_empty()
    }

    /// A partial of a filter with these parameters.
    pub fn to_bytes(&self, params: &Params, slice: u64) -> Vec<u8> {
        let lines = slice_lines(params.sizing().lines(), slice);
        framed(INDEXES, 0, lines, self.inserted, |bytes| bytes.extend_from_slice(&self.indexes))
    }
}

fn framed(
    coding: u8,
    width: u8,
    lines: usize,
    inserted: u64,
    payload: impl FnOnce(&mut Vec<u8>),
) -> Vec<u8> {
    let mut bytes = vec![coding, width, 0, 0];
    bytes.extend((lines as u32).to_le_bytes());
    bytes.extend(inserted.to_le_bytes());
    payload(&mut bytes);
    let checksum = xxh3(&bytes, 0);
    bytes.extend(checksum.to_le_bytes());
    bytes
}

fn slice_lines(lines: u64, slice: u64) -> usize {
    lines.saturating_sub(slice * SLICE as u64).min(SLICE as u64) as usize
}

impl Bloom {
    /// The number of slices that the filter travels in.
    pub fn slices(&self) -> u64 {
        self.params().slices()
    }

    /// A slice of the filter. The number of insert calls goes with the first.
    pub fn partial(&self, slice: u64) -> Partial {
        let start = slice as usize * SLICE;
        let lines = self.bits[start..][..slice_lines(self.bits.len() as u64, slice)].to_vec();
        Partial { lines, inserted: if slice == 0 { self.inserts() } else { 0 } }
    }

    /// Takes in a slice of a filter that has the same parameters, which is for the caller to know.
    pub fn merge_partial(&mut self, slice: u64, partial: &Partial) -> Result<()> {
        let lines = slice_lines(self.bits.len() as u64, slice);
        super::same("the number of lines of a slice", lines, partial.lines.len())?;
        let ours = &mut self.bits.lines_mut()[slice as usize * SLICE..];
        for (ours, theirs) in ours.iter_mut().zip(&partial.lines) {
            (0..8).for_each(|j| ours.0[j] |= theirs.0[j]);
        }
        self.check_tail()?;
        self.count_inserts(partial.inserted);
        Ok(())
    }

    /// Bits from m on are zero in every filter.
    fn check_tail(&self) -> Result<()> {
        let bits = self.sizing().bits();
        let (last, used) = ((bits - 1) / 64, (bits - 1) % 64 + 1);
        let words = self.bits.last().map_or([0; 8], |line| line.0);
        let first = (self.bits.len() as u64 - 1) * 8;
        let beyond = |(j, word): (u64, u64)| match (first + j).cmp(&last) {
            std::cmp::Ordering::Less => 0,
            std::cmp::Ordering::Equal => word & (u64::MAX << (used - 1) << 1),
            std::cmp::Ordering::Greater => word,
        };
        match (0..).zip(words).all(|word| beyond(word) == 0) {
            true => Ok(()),
            false => Err(refuse("bits beyond the end of the filter")),
        }
    }
}

impl Params {
    /// The number of slices that a filter of these parameters travels in.
    pub fn slices(&self) -> u64 {
        self.sizing().lines().div_ceil(SLICE as u64)
    }

    /// Hands out the bits that a key sets, in the order of the probes; one may come twice.
    pub fn for_each_bit(&self, key: &[u8], mut take: impl FnMut(u64)) {
        let (sizing, m) = (self.sizing(), self.sizing().bits());
        match (self.strategy(), sizing.layout()) {
            (Strategy::Seeded { family, seeds }, _) => {
                seeds.iter().for_each(|&seed| take(family.index(key, seed, m)));
            }
            (&Strategy::Xxh3 { seed }, Layout::Classic) => {
                let mut hash = xxh3(key, seed);
                for _ in 0..sizing.probes() {
                    take(reduce(hash, m));
                    hash = mix(hash);
                }
            }
            (&Strategy::Xxh3 { seed }, Layout::Blocked) => {
                let hash = xxh3(key, seed);
                let (line, g) = (reduce(hash, m / LINE_BITS as u64), mix(hash));
                (0..8).for_each(|j| {
                    take(line * LINE_BITS as u64 + 64 * j + (g >> (16 + 6 * j)) % 64)
                });
            }
        }
    }
}

pub(super) fn refuse(found: &str) -> Error {
    Error::Format(format!("a damaged part of a filter ({found}): send it again, or build it again"))
}
