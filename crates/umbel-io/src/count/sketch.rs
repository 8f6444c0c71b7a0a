//! A sketch of counts: what `umbel count` builds and asks.

use std::io::{self, Write};
use std::path::Path;

use umbel::format::{File, Kind};
use umbel::{Conservative, CountMin, Heavy, KeyType, Keys, Metadata, Ranges};

use crate::{Error, Result};

/// A sketch of counts.
#[derive(Debug)]
pub enum Sketch {
    /// Plain: merges, multiplies.
    Plain(CountMin),
    /// Better estimates, in one order only.
    Conservative(Conservative),
    /// Over ranges of integers.
    Ranges(Ranges),
    /// The keys that come most often.
    Heavy(Heavy),
}

impl Sketch {
    /// Opens a file and verifies it.
    pub fn open(path: &Path) -> Result<Sketch> {
        let kind = File::open(path)?.kind();
        Ok(match kind {
            Kind::CountMin => Sketch::Plain(CountMin::open(path)?),
            Kind::Conservative => Sketch::Conservative(Conservative::open(path)?),
            Kind::Ranges => Sketch::Ranges(Ranges::open(path)?),
            Kind::Heavy => Sketch::Heavy(Heavy::open(path)?),
            other => {
                return Err(Error::Other(format!(
                    "{}: it holds {other}, not counts; make them with umbel count build",
                    path.display()
                )));
            }
        })
    }

    /// The text pairs, to be changed.
    pub fn metadata_mut(&mut self) -> &mut Metadata {
        match self {
            Sketch::Plain(sketch) => sketch.metadata_mut(),
            Sketch::Conservative(sketch) => sketch.metadata_mut(),
            Sketch::Ranges(ranges) => ranges.metadata_mut(),
            Sketch::Heavy(heavy) => heavy.metadata_mut(),
        }
    }

    /// Writes the file.
    pub fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Sketch::Plain(sketch) => sketch.write_to(out),
            Sketch::Conservative(sketch) => sketch.write_to(out),
            Sketch::Ranges(ranges) => ranges.write_to(out),
            Sketch::Heavy(heavy) => heavy.write_to(out),
        }
    }

    /// Whether the keys are integers.
    pub fn holds_integers(&self) -> bool {
        match self {
            Sketch::Plain(sketch) => sketch.params().key_type() == KeyType::U64,
            Sketch::Conservative(sketch) => sketch.params().key_type() == KeyType::U64,
            Sketch::Ranges(_) => true,
            Sketch::Heavy(heavy) => heavy.key_type() == KeyType::U64,
        }
    }

    /// What each of the keys came to: never less.
    pub fn estimate(&self, keys: &[&[u8]], estimates: &mut [u64]) -> Result<()> {
        match self {
            Sketch::Plain(sketch) => sketch.estimate_batch(Keys::Bytes(keys), estimates)?,
            Sketch::Conservative(sketch) => sketch.estimate_batch(Keys::Bytes(keys), estimates)?,
            Sketch::Ranges(ranges) => {
                for (key, estimate) in keys.iter().zip(estimates) {
                    let key = integer(key);
                    // What lies outside the interval was not counted.
                    *estimate = ranges.sum(key..=key)?.estimate;
                }
            }
            Sketch::Heavy(heavy) => {
                for (key, estimate) in keys.iter().zip(estimates) {
                    *estimate = heavy.bounds(key).1;
                }
            }
        }
        Ok(())
    }

    /// How much too high an estimate may be, but for a share delta of the keys.
    pub fn bound(&self) -> u64 {
        match self {
            Sketch::Plain(sketch) => sketch.bound(),
            Sketch::Conservative(sketch) => sketch.bound(),
            Sketch::Ranges(ranges) => {
                ranges.sum(ranges.params().lo()..=ranges.params().lo()).map_or(0, |sum| sum.bound)
            }
            Sketch::Heavy(heavy) => heavy.bound(),
        }
    }

    /// Takes in all that `other` counted.
    pub fn merge(&mut self, other: &Sketch) -> Result<()> {
        match (self, other) {
            (Sketch::Plain(ours), Sketch::Plain(theirs)) => ours.merge(theirs)?,
            (Sketch::Ranges(ours), Sketch::Ranges(theirs)) => ours.merge(theirs)?,
            (Sketch::Heavy(ours), Sketch::Heavy(theirs)) => ours.merge(theirs)?,
            (ours, theirs) => {
                ours.kind().check_mergeable()?;
                theirs.kind().check_mergeable()?;
                let (ours, theirs) = (ours.kind(), theirs.kind());
                return Err(Error::Other(format!("one holds {ours}, the other {theirs}")));
            }
        }
        Ok(())
    }

    /// What it is.
    pub fn kind(&self) -> Kind {
        match self {
            Sketch::Plain(_) => Kind::CountMin,
            Sketch::Conservative(_) => Kind::Conservative,
            Sketch::Ranges(_) => Kind::Ranges,
            Sketch::Heavy(_) => Kind::Heavy,
        }
    }
}

/// The number that a key of eight bytes is.
pub(super) fn integer(key: &[u8]) -> i64 {
    i64::from_le_bytes(key.try_into().unwrap_or_default())
}
