//! The one structure that both streams share.

use std::fmt::Display;
use std::path::Path;

use umbel::format::{File, Kind};
use umbel::hash::{Strategy, xxh3};
use umbel::{Bloom, CountMin, CountMinParams, KeyType, Keys, Params};

use crate::Result;

/// What is trained and asked.
#[derive(Clone)]
pub enum Sketch {
    /// Seen or not.
    Filter(Bloom),
    /// How often.
    Count(CountMin),
}

/// The sketch that is asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Wanted {
    /// A filter with these parameters.
    Filter(Params),
    /// A count-min sketch with these parameters.
    Count(CountMinParams),
}

/// From a key to the hash that the sketch knows it by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hasher {
    seed: u64,
}

impl Hasher {
    #[inline(always)]
    pub(crate) fn hash(self, key: &[u8]) -> u64 {
        xxh3(key, self.seed)
    }
}

impl Sketch {
    /// An empty one.
    pub(crate) fn new(wanted: &Wanted) -> Result<Sketch> {
        Ok(match wanted {
            Wanted::Filter(params) => Sketch::Filter(Bloom::with(params.clone())?),
            Wanted::Count(params) => Sketch::Count(CountMin::new(*params)?),
        })
    }

    /// Reads a file and verifies every byte of it.
    pub(crate) fn load(path: &Path) -> Result<Sketch> {
        Ok(match File::open(path)?.kind() {
            Kind::CountMin => Sketch::Count(CountMin::load(path)?),
            // Another kind is refused by name.
            _ => Sketch::Filter(Bloom::load(path)?),
        })
    }

    pub(crate) fn save(&self, path: &Path) -> Result<()> {
        match self {
            Sketch::Filter(filter) => Ok(filter.save(path)?),
            Sketch::Count(count) => Ok(count.save(path)?),
        }
    }

    /// How its keys are hashed; a sketch that needs the keys themselves is refused.
    pub(crate) fn hasher(&self) -> Result<Hasher> {
        let holds = match self {
            Sketch::Filter(filter) => filter.params().key_type(),
            Sketch::Count(count) => count.params().key_type(),
        };
        if holds != KeyType::Bytes {
            return Err(umbel::Error::KeyType { holds, asked: KeyType::Bytes }.into());
        }
        match self {
            Sketch::Filter(filter) => match filter.params().strategy() {
                &Strategy::Xxh3 { seed } => Ok(Hasher { seed }),
                other => Err(umbel::Error::NeedsKeys { strategy: other.name() }.into()),
            },
            Sketch::Count(count) => Ok(Hasher { seed: count.params().seed() }),
        }
    }

    /// Whether its answers are numbers, not yes or no.
    pub(crate) fn counts(&self) -> bool {
        match self {
            Sketch::Filter(_) => false,
            Sketch::Count(_) => true,
        }
    }

    /// Takes keys in.
    pub(crate) fn fold(&mut self, hashes: &[u64]) -> Result<()> {
        match self {
            Sketch::Filter(filter) => Ok(filter.insert_batch(Keys::Hashes(hashes))?),
            Sketch::Count(count) => Ok(count.add_batch(Keys::Hashes(hashes))?),
        }
    }

    /// One number for each key: 1 if it was seen, 0 if it certainly was not; or how often.
    pub(crate) fn answer(&self, hashes: &[u64], answers: &mut Vec<u64>) -> Result<()> {
        match self {
            Sketch::Filter(filter) => {
                let mut found = vec![0; hashes.len().div_ceil(64)];
                filter.contains_mask(Keys::Hashes(hashes), &mut found)?;
                answers.clear();
                answers.extend((0..hashes.len()).map(|i| found[i / 64] >> (i % 64) & 1));
            }
            Sketch::Count(count) => {
                answers.resize(hashes.len(), 0);
                count.estimate_batch(Keys::Hashes(hashes), answers)?;
            }
        }
        Ok(())
    }

    /// Refuses a sketch that is not what is asked for, naming what differs and both values.
    pub(crate) fn check(&self, wanted: &Wanted) -> Result<(), String> {
        match (self, wanted) {
            (Sketch::Filter(filter), Wanted::Filter(wanted)) => {
                let (has, asked) = (filter.sizing(), wanted.sizing());
                same("n", has.capacity(), asked.capacity())?;
                same("the layout", has.layout(), asked.layout())?;
                same("the number of bits (m)", has.bits(), asked.bits())?;
                same("the number of probes (k)", has.probes(), asked.probes())?;
                same("the hash", filter.params().strategy(), wanted.strategy())
            }
            (Sketch::Count(count), Wanted::Count(asked)) => {
                let has = count.params();
                same("the width (w, from eps)", has.width(), asked.width())?;
                same("the depth (d, from delta)", has.depth(), asked.depth())?;
                same("the seed", has.seed(), asked.seed())
            }
            (Sketch::Filter(_), Wanted::Count(_)) => same("the sketch", "a filter", "a count"),
            (Sketch::Count(_), Wanted::Filter(_)) => same("the sketch", "a count", "a filter"),
        }
    }
}

fn same<T: PartialEq + Display>(what: &str, has: T, asked: T) -> Result<(), String> {
    if has == asked {
        return Ok(());
    }
    Err(format!("{what} is {has} in the state, but {asked} is asked for"))
}
