//! Counts over ranges of integers: "how many between these two?", "which value has half of them below?".
//!
//! **When.** Integer keys in a known interval (ports, prices, milliseconds) come in a stream, and you ask for sums over ranges and
//! for quantiles. Sketches built apart can be merged, exactly.
//!
//! **How.** A sketch for each level of a binary tree over the interval: every range is the sum of at most two runs of each level. Levels
//! that are short enough are counted exactly, so that small intervals have no error at all.
//!
//! ```
//! use umbel::{Ranges, RangesParams};
//!
//! let mut ports = Ranges::new(RangesParams::for_error(0, 65_535, 0.001, 0.01)?)?;
//! for port in [22, 80, 80, 443, 8080] {
//!     ports.add(port, 1)?;
//! }
//! assert_eq!(ports.sum(1..=1024)?.estimate, 4);
//! assert_eq!(ports.quantile(0.5)?.map(|median| median.value), Some(80));
//! # Ok::<(), umbel::Error>(())
//! ```
//!
//! **Bounds.** A sum is never below the true one, and above it by at most eps times the total weight, with a probability of at least
//! 1 - delta. For the quantile of q: less than q · N weight lies below the value, always; and at least (q - eps/2) · N lies at or below
//! it, with a probability of at least 1 - delta.
//!
//! Reference: G. Cormode, S. Muthukrishnan, An improved data stream summary: the count-min sketch and its applications, 2005.

mod level;
mod params;
mod query;
mod store;

pub use params::RangesParams;
pub use query::{Quantile, RangeSum};

pub(crate) use level::Level;

use crate::countmin::{BLOCK, check_weights, sum};
use crate::{Metadata, Result};

/// Counts over ranges of integers. See the [module](self).
#[derive(Clone)]
pub struct Ranges {
    params: RangesParams,
    levels: Vec<Level>,
    total: u64,
    inserted: u64,
    metadata: Metadata,
}

impl Ranges {
    /// No counts yet.
    pub fn new(params: RangesParams) -> Result<Ranges> {
        let levels = (0..params.levels()).map(|level| Level::zeroed(&params, level));
        let levels = levels.collect::<Result<_>>()?;
        Ok(Ranges::from_parts(params, levels, [0, 0]))
    }

    pub(crate) fn from_parts(
        params: RangesParams,
        levels: Vec<Level>,
        [total, inserted]: [u64; 2],
    ) -> Ranges {
        Ranges { params, levels, total, inserted, metadata: Metadata::default() }
    }

    /// Adds a key with a weight; a key outside the interval is refused.
    pub fn add(&mut self, key: i64, weight: u64) -> Result<()> {
        let mut node = self.params.place(key)?;
        for level in &mut self.levels {
            level.add(node, weight);
            node >>= 1;
        }
        self.count(1, weight);
        Ok(())
    }

    /// Adds many keys, each with the weight 1. If one lies outside the interval, all are refused.
    pub fn add_batch(&mut self, keys: &[i64]) -> Result<()> {
        self.add_keys(keys, |_| 1)
    }

    /// Adds many keys, each with its weight. If one lies outside the interval, all are refused.
    pub fn add_weighted(&mut self, keys: &[i64], weights: &[u64]) -> Result<()> {
        check_weights(keys.len(), weights)?;
        self.add_keys(keys, |i| weights[i])
    }

    fn add_keys(&mut self, keys: &[i64], weight: impl Fn(usize) -> u64) -> Result<()> {
        keys.iter().try_for_each(|&key| self.params.place(key).map(drop))?;
        let mut nodes = [0; BLOCK];
        for (i, keys) in keys.chunks(BLOCK).enumerate() {
            let first = i * BLOCK;
            let nodes = &mut nodes[..keys.len()];
            let lo = self.params.lo();
            nodes.iter_mut().zip(keys).for_each(|(node, key)| *node = key.wrapping_sub(lo) as u64);
            for level in &mut self.levels {
                level.add_block(nodes, |i| weight(first + i));
                nodes.iter_mut().for_each(|node| *node >>= 1);
            }
            self.count(keys.len() as u64, sum(first, keys.len(), &weight));
        }
        Ok(())
    }

    /// Takes in all that `other` counted: afterwards it is the same, byte for byte, as if every key had been added here. Counts
    /// of other parameters are refused.
    pub fn merge(&mut self, other: &Ranges) -> Result<()> {
        self.params.check_alike(&other.params)?;
        self.levels.iter_mut().zip(&other.levels).for_each(|(ours, theirs)| ours.merge(theirs));
        self.count(other.inserted, other.total);
        self.metadata.keep_common(&other.metadata);
        Ok(())
    }

    /// The parameters.
    pub fn params(&self) -> &RangesParams {
        &self.params
    }

    /// N: the sum of all weights, 2^64 - 1 at most.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The number of keys added, also those that came before; it adds up when counts are merged.
    pub fn inserted(&self) -> u64 {
        self.inserted
    }

    /// Whether the total, and perhaps a counter, has reached 2^64 - 1: from there on sums stand for "this or more".
    pub fn is_saturated(&self) -> bool {
        self.total == u64::MAX
    }

    /// The memory of all counters now, in bytes.
    pub fn bytes(&self) -> usize {
        self.levels.iter().map(|level| size_of_val(level.table().lines())).sum()
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
        self.levels.iter().try_for_each(|level| level.check(self.total))
    }

    pub(crate) fn levels(&self) -> &[Level] {
        &self.levels
    }

    fn count(&mut self, calls: u64, weight: u64) {
        self.inserted = self.inserted.saturating_add(calls);
        self.total = self.total.saturating_add(weight);
    }
}

/// Equal parameters and equal counters; metadata and the number of calls do not count.
impl PartialEq for Ranges {
    fn eq(&self, other: &Ranges) -> bool {
        self.params == other.params && self.levels == other.levels
    }
}

impl Eq for Ranges {}

impl std::fmt::Debug for Ranges {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ranges")
            .field("params", &self.params)
            .field("total", &self.total)
            .field("inserted", &self.inserted)
            .field("metadata", &self.metadata)
            .finish_non_exhaustive()
    }
}
