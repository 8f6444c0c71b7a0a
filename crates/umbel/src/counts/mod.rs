//! Counts of any sort under one face, as a program has them that lets its users choose: a sketch, heavy hitters, or both from
//! one stream; alone or by group.
//!
//! ```
//! use umbel::{CountMin, CountMinParams, Counts, Heavy};
//!
//! let sketch = CountMin::new(CountMinParams::for_error(0.001, 0.01)?)?;
//! let mut hits = Counts::from(sketch).with_heavy(Heavy::new(100)?)?;
//! hits.add_batch(&[b"/", b"/", b"/about"])?;
//! assert_eq!(hits.estimate(b"/")?, 2);
//! assert_eq!(&*hits.heavy().unwrap().top(1)[0].key, b"/");
//! # Ok::<(), umbel::Error>(())
//! ```

mod groups;
mod sketch;
mod store;

pub use groups::CountGroups;
pub use sketch::Sketch;

use crate::bloom::{KeyType, same};
use crate::countmin::{Conservative, CountMin, check_answers, check_weights};
use crate::format::Kind;
use crate::heavy::Heavy;
use crate::ranges::Ranges;
use crate::{Error, Metadata, Result};

/// A sketch, heavy hitters, or both from one stream. See the [module](self).
///
/// The metadata is that of the whole; a sketch's own is dropped.
#[derive(Debug, Clone)]
pub struct Counts {
    parts: Parts,
    metadata: Metadata,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Parts {
    Sketch(Sketch),
    Heavy(Heavy),
    Both(Sketch, Heavy),
}

/// The same parameters and content; metadata and the number of calls do not count.
impl PartialEq for Counts {
    fn eq(&self, other: &Counts) -> bool {
        self.parts == other.parts
    }
}

impl Eq for Counts {}

impl From<CountMin> for Counts {
    fn from(mut sketch: CountMin) -> Counts {
        let metadata = std::mem::take(sketch.metadata_mut());
        Counts { parts: Parts::Sketch(Sketch::Plain(sketch)), metadata }
    }
}

impl From<Conservative> for Counts {
    fn from(mut sketch: Conservative) -> Counts {
        let metadata = std::mem::take(sketch.metadata_mut());
        Counts { parts: Parts::Sketch(Sketch::Conservative(sketch)), metadata }
    }
}

impl From<Ranges> for Counts {
    fn from(mut ranges: Ranges) -> Counts {
        let metadata = std::mem::take(ranges.metadata_mut());
        Counts { parts: Parts::Sketch(Sketch::Ranges(ranges)), metadata }
    }
}

impl From<Heavy> for Counts {
    fn from(mut heavy: Heavy) -> Counts {
        let metadata = std::mem::take(heavy.metadata_mut());
        Counts { parts: Parts::Heavy(heavy), metadata }
    }
}

impl Counts {
    /// The same with heavy hitters beside the sketch. They must have counted the same stream: in general, both are new.
    pub fn with_heavy(self, mut heavy: Heavy) -> Result<Counts> {
        let Parts::Sketch(sketch) = self.parts else {
            return Err(Error::Sizing("these counts have heavy hitters already".into()));
        };
        same("the key type", sketch.key_type(), heavy.key_type())?;
        let [total, inserted] = sketch.numbers();
        same("the total weight", total, heavy.total())?;
        same("the number of add calls", inserted, heavy.inserted())?;
        *heavy.metadata_mut() = Metadata::default();
        Ok(Counts { parts: Parts::Both(sketch, heavy), metadata: self.metadata })
    }

    /// The kind of a file that holds them.
    pub fn kind(&self) -> Kind {
        match &self.parts {
            Parts::Sketch(sketch) => sketch.kind(),
            Parts::Heavy(_) => Kind::Heavy,
            Parts::Both(..) => Kind::Counts,
        }
    }

    /// The sketch, if there is one.
    pub fn sketch(&self) -> Option<&Sketch> {
        match &self.parts {
            Parts::Sketch(sketch) | Parts::Both(sketch, _) => Some(sketch),
            Parts::Heavy(_) => None,
        }
    }

    /// The heavy hitters, if they are kept.
    pub fn heavy(&self) -> Option<&Heavy> {
        match &self.parts {
            Parts::Heavy(heavy) | Parts::Both(_, heavy) => Some(heavy),
            Parts::Sketch(_) => None,
        }
    }

    fn parts_mut(&mut self) -> (Option<&mut Sketch>, Option<&mut Heavy>) {
        match &mut self.parts {
            Parts::Sketch(sketch) => (Some(sketch), None),
            Parts::Heavy(heavy) => (None, Some(heavy)),
            Parts::Both(sketch, heavy) => (Some(sketch), Some(heavy)),
        }
    }

    /// What the keys are.
    pub fn key_type(&self) -> KeyType {
        match &self.parts {
            Parts::Sketch(sketch) | Parts::Both(sketch, _) => sketch.key_type(),
            Parts::Heavy(heavy) => heavy.key_type(),
        }
    }

    /// N: the sum of all weights, 2^64 - 1 at most.
    pub fn total(&self) -> u64 {
        self.numbers()[0]
    }

    /// The number of keys added, also those that came before.
    pub fn inserted(&self) -> u64 {
        self.numbers()[1]
    }

    /// Whether the total has reached 2^64 - 1: from there on sums stand for "this or more".
    pub fn is_saturated(&self) -> bool {
        self.total() == u64::MAX
    }

    fn numbers(&self) -> [u64; 2] {
        match &self.parts {
            Parts::Sketch(sketch) | Parts::Both(sketch, _) => sketch.numbers(),
            Parts::Heavy(heavy) => [heavy.total(), heavy.inserted()],
        }
    }

    /// How much too high an estimate may be: for all but a share delta of the keys where a sketch says so, certainly where heavy
    /// hitters do.
    pub fn bound(&self) -> u64 {
        let bounds = [self.sketch().map(Sketch::bound), self.heavy().map(Heavy::bound)];
        bounds.into_iter().flatten().min().unwrap_or(0)
    }

    /// Adds a key with a weight. Refuses a key of another type, or outside the interval of ranges.
    pub fn add(&mut self, key: &[u8], weight: u64) -> Result<()> {
        self.add_weighted(&[key], &[weight])
    }

    /// Adds many keys in their order, each with the weight 1. If one is refused, all are.
    pub fn add_batch(&mut self, keys: &[&[u8]]) -> Result<()> {
        self.add_keys(keys, None)
    }

    /// Adds many keys in their order, each with its weight. If one is refused, all are.
    pub fn add_weighted(&mut self, keys: &[&[u8]], weights: &[u64]) -> Result<()> {
        check_weights(keys.len(), weights)?;
        self.add_keys(keys, Some(weights))
    }

    fn add_keys(&mut self, keys: &[&[u8]], weights: Option<&[u64]>) -> Result<()> {
        self.check_keys(keys)?;
        let (sketch, heavy) = self.parts_mut();
        if let Some(sketch) = sketch {
            sketch.add(keys, weights)?;
        }
        if let Some(heavy) = heavy {
            let weight = |i: usize| weights.map_or(1, |weights| weights[i]);
            keys.iter().enumerate().for_each(|(i, key)| heavy.add(key, weight(i)));
        }
        Ok(())
    }

    /// What a key came to: never less. Where both a sketch and heavy hitters know, the lower of their estimates.
    pub fn estimate(&self, key: &[u8]) -> Result<u64> {
        let mut estimate = [0];
        self.estimate_batch(&[key], &mut estimate)?;
        Ok(estimate[0])
    }

    /// What each of many keys came to.
    pub fn estimate_batch(&self, keys: &[&[u8]], estimates: &mut [u64]) -> Result<()> {
        self.check_keys(keys)?;
        check_answers(keys.len(), estimates)?;
        estimates.fill(u64::MAX);
        if let Some(sketch) = self.sketch() {
            sketch.estimate(keys, estimates)?;
        }
        if let Some(heavy) = self.heavy() {
            for (key, estimate) in keys.iter().zip(estimates) {
                *estimate = (*estimate).min(heavy.bounds(key).1);
            }
        }
        Ok(())
    }

    /// Refuses text where the keys are integers: an integer has eight bytes.
    fn check_keys(&self, keys: &[&[u8]]) -> Result<()> {
        crate::countmin::check_keys(self.key_type(), crate::Keys::Bytes(keys))
    }

    /// Takes in all that `other` counted. What depends on the order of the keys is refused, with the reason; so are counts of
    /// other kinds or parameters. On an error nothing has changed.
    pub fn merge(&mut self, other: &Counts) -> Result<()> {
        self.check_alike(other)?;
        let (sketch, heavy) = self.parts_mut();
        if let (Some(ours), Some(theirs)) = (sketch, other.sketch()) {
            ours.merge(theirs)?;
        }
        if let (Some(ours), Some(theirs)) = (heavy, other.heavy()) {
            ours.merge(theirs)?;
        }
        self.metadata.keep_common(&other.metadata);
        Ok(())
    }

    /// Refuses what cannot be merged.
    fn check_alike(&self, other: &Counts) -> Result<()> {
        if let (Some(ours), Some(theirs)) = (self.sketch(), other.sketch()) {
            ours.check_alike(theirs)?;
        }
        same("the kind", self.kind(), other.kind())?;
        match (self.heavy(), other.heavy()) {
            (Some(ours), Some(theirs)) => ours.check_alike(theirs),
            _ => Ok(()),
        }
    }

    /// The text pairs that travel with the counts.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The text pairs, to be changed.
    pub fn metadata_mut(&mut self) -> &mut Metadata {
        &mut self.metadata
    }

    /// Refuses counters that cannot have come from adding keys. The verified ways to open counts call this.
    pub fn check(&self) -> Result<()> {
        self.sketch().map_or(Ok(()), Sketch::check)
    }
}
