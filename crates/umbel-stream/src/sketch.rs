//! The one structure that both streams share.

use std::path::Path;

use umbel::hash::{Strategy, xxh3};
use umbel::{Bloom, Keys, Params};

use crate::Result;

/// What is trained and asked.
#[derive(Clone)]
pub enum Sketch {
    /// Seen or not.
    Filter(Bloom),
}

/// The sketch that is asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Wanted {
    /// A filter with these parameters.
    Filter(Params),
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
        })
    }

    /// Reads a file and verifies every byte of it.
    pub(crate) fn load(path: &Path) -> Result<Sketch> {
        Ok(Sketch::Filter(Bloom::load(path)?))
    }

    pub(crate) fn save(&self, path: &Path) -> Result<()> {
        match self {
            Sketch::Filter(filter) => Ok(filter.save(path)?),
        }
    }

    /// How its keys are hashed; a sketch that needs the keys themselves is refused.
    pub(crate) fn hasher(&self) -> Result<Hasher> {
        match self {
            Sketch::Filter(filter) => match filter.params().strategy() {
                &Strategy::Xxh3 { seed } => Ok(Hasher { seed }),
                other => Err(umbel::Error::NeedsKeys { strategy: other.name() }.into()),
            },
        }
    }

    /// Whether its answers are numbers, not yes or no.
    pub(crate) fn counts(&self) -> bool {
        match self {
            Sketch::Filter(_) => false,
        }
    }

    /// Takes keys in.
    pub(crate) fn fold(&mut self, hashes: &[u64]) -> Result<()> {
        match self {
            Sketch::Filter(filter) => Ok(filter.insert_batch(Keys::Hashes(hashes))?),
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
        }
        Ok(())
    }

    /// Refuses a sketch that is not what is asked for, naming what differs and both values.
    pub(crate) fn check(&self, wanted: &Wanted) -> Result<(), String> {
        let same = |what: &str, has: String, asked: String| {
            let differs = format!("{what} is {has} in the state, but {asked} is asked for");
            if has == asked { Ok(()) } else { Err(differs) }
        };
        match (self, wanted) {
            (Sketch::Filter(filter), Wanted::Filter(wanted)) => {
                let (has, asked) = (filter.sizing(), wanted.sizing());
                let strategies = [filter.params().strategy(), wanted.strategy()];
                let [hash, asked_hash] = strategies.map(ToString::to_string);
                same("n", has.capacity().to_string(), asked.capacity().to_string())?;
                same("the layout", has.layout().to_string(), asked.layout().to_string())?;
                same("the number of bits (m)", has.bits().to_string(), asked.bits().to_string())?;
                same(
                    "the number of probes (k)",
                    has.probes().to_string(),
                    asked.probes().to_string(),
                )?;
                same("the hash", hash, asked_hash)
            }
        }
    }
}
