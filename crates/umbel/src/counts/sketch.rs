//! A sketch of any sort.

use crate::bloom::{KeyType, Keys, same};
use crate::countmin::{Conservative, CountMin};
use crate::format::Kind;
use crate::ranges::Ranges;
use crate::{Error, Result};

/// A sketch of any sort. Keys are bytes; where they are integers, their eight little-endian bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sketch {
    /// Count-min: merged exactly.
    Plain(CountMin),
    /// Count-min with conservative update: cannot be merged.
    Conservative(Conservative),
    /// Counts over ranges of integers.
    Ranges(Ranges),
}

impl Sketch {
    /// The kind of a file that holds it.
    pub fn kind(&self) -> Kind {
        match self {
            Sketch::Plain(_) => Kind::CountMin,
            Sketch::Conservative(_) => Kind::Conservative,
            Sketch::Ranges(_) => Kind::Ranges,
        }
    }

    /// What the keys are.
    pub fn key_type(&self) -> KeyType {
        match self {
            Sketch::Plain(sketch) => sketch.params().key_type(),
            Sketch::Conservative(sketch) => sketch.params().key_type(),
            Sketch::Ranges(_) => KeyType::U64,
        }
    }

    /// The seed of the hash.
    pub fn seed(&self) -> u64 {
        match self {
            Sketch::Plain(sketch) => sketch.params().seed(),
            Sketch::Conservative(sketch) => sketch.params().seed(),
            Sketch::Ranges(ranges) => ranges.params().seed(),
        }
    }

    /// Total weight and number of add calls.
    pub(super) fn numbers(&self) -> [u64; 2] {
        match self {
            Sketch::Plain(sketch) => [sketch.total(), sketch.inserted()],
            Sketch::Conservative(sketch) => [sketch.total(), sketch.inserted()],
            Sketch::Ranges(ranges) => [ranges.total(), ranges.inserted()],
        }
    }

    /// How much too high an estimate may be, but for a share delta of the keys.
    pub(super) fn bound(&self) -> u64 {
        match self {
            Sketch::Plain(sketch) => sketch.bound(),
            Sketch::Conservative(sketch) => sketch.bound(),
            Sketch::Ranges(ranges) => ranges.key_bound(),
        }
    }

    pub(super) fn add(&mut self, keys: &[&[u8]], weights: Option<&[u64]>) -> Result<()> {
        match (self, weights) {
            (Sketch::Plain(sketch), None) => sketch.add_batch(Keys::Bytes(keys)),
            (Sketch::Plain(sketch), Some(weights)) => {
                sketch.add_weighted(Keys::Bytes(keys), weights)
            }
            (Sketch::Conservative(sketch), None) => sketch.add_batch(Keys::Bytes(keys)),
            (Sketch::Conservative(sketch), Some(weights)) => {
                sketch.add_weighted(Keys::Bytes(keys), weights)
            }
            (Sketch::Ranges(ranges), None) => ranges.add_batch(&integers(keys)?),
            (Sketch::Ranges(ranges), Some(weights)) => {
                ranges.add_weighted(&integers(keys)?, weights)
            }
        }
    }

    pub(super) fn estimate(&self, keys: &[&[u8]], estimates: &mut [u64]) -> Result<()> {
        match self {
            Sketch::Plain(sketch) => sketch.estimate_batch(Keys::Bytes(keys), estimates),
            Sketch::Conservative(sketch) => sketch.estimate_batch(Keys::Bytes(keys), estimates),
            Sketch::Ranges(ranges) => {
                for (key, estimate) in integers(keys)?.into_iter().zip(estimates) {
                    // Outside the interval there is nothing.
                    *estimate = ranges.sum(key..=key)?.estimate;
                }
                Ok(())
            }
        }
    }

    pub(super) fn merge(&mut self, other: &Sketch) -> Result<()> {
        self.check_alike(other)?;
        match (self, other) {
            (Sketch::Plain(ours), Sketch::Plain(theirs)) => ours.merge(theirs),
            (Sketch::Ranges(ours), Sketch::Ranges(theirs)) => ours.merge(theirs),
            _ => Err(Error::OrderMatters),
        }
    }

    /// Refuses what cannot be merged.
    pub(super) fn check_alike(&self, other: &Sketch) -> Result<()> {
        match (self, other) {
            (Sketch::Plain(ours), Sketch::Plain(theirs)) => {
                ours.params().check_alike(theirs.params())
            }
            (Sketch::Ranges(ours), Sketch::Ranges(theirs)) => {
                ours.params().check_alike(theirs.params())
            }
            (Sketch::Conservative(_), _) | (_, Sketch::Conservative(_)) => Err(Error::OrderMatters),
            (ours, theirs) => same("the kind", ours.kind(), theirs.kind()),
        }
    }

    pub(super) fn check(&self) -> Result<()> {
        match self {
            Sketch::Plain(sketch) => sketch.check(),
            Sketch::Conservative(sketch) => sketch.check(),
            Sketch::Ranges(ranges) => ranges.check(),
        }
    }

    pub(super) fn into_memory(self) -> Sketch {
        match self {
            Sketch::Plain(sketch) => Sketch::Plain(sketch.into_memory()),
            Sketch::Conservative(sketch) => Sketch::Conservative(sketch.into_memory()),
            Sketch::Ranges(ranges) => Sketch::Ranges(ranges.into_memory()),
        }
    }
}

fn integers(keys: &[&[u8]]) -> Result<Vec<i64>> {
    let integer = |key: &&[u8]| {
        let bytes = <[u8; 8]>::try_from(*key);
        let refusal = |_| Error::KeyType { holds: KeyType::U64, asked: KeyType::Bytes };
        bytes.map(i64::from_le_bytes).map_err(refusal)
    };
    keys.iter().map(integer).collect()
}
