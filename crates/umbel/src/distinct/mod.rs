//! How many keys a filter must be sized for, when nobody says: one rule that every engine follows to the same number.
//!
//! n = max(1, min(rows, ⌈1.0325 · estimate⌉)): the rows where the keys are distinct, less where duplicates would waste
//! memory. The estimate comes from a HyperLogLog of 2^14 registers over the XXH3-64 (seed 0) of the keys, whatever the
//! filter's own strategy; its standard error is 1.04/128, and 1.0325 is four of those above 1, so that distinct keys give
//! their exact number (at worst, around 30 keys, one set in 3000 comes out one short). Rows add and registers take the greater, so parts counted anywhere merge in any order to the same n.
//!
//! ```
//! use umbel::distinct::Distinct;
//!
//! let (mut here, mut there) = (Distinct::new(), Distinct::new());
//! (0..20_000_u64).for_each(|key| here.insert(&key.to_le_bytes()));
//! (10_000..30_000_u64).for_each(|key| there.insert(&key.to_le_bytes()));
//! here.merge(&there);
//! assert_eq!(here.rows(), 40_000);
//! assert!((29_000..32_000).contains(&here.n()));
//! ```
//!
//! Cost: 4 bytes a key up to a thousand keys, 16 KiB beyond; about a nanosecond a hash. FORMAT.md gives the arithmetic and
//! the bytes that travel between processes.
//!
//! Reference: O. Ertl, "New cardinality estimation algorithms for HyperLogLog sketches", 2017.

mod encoding;
mod estimate;
mod registers;

use registers::Registers;

use crate::hash::xxh3;

/// Four standard errors of the estimate, 4 · 1.04/√2^14, above 1.
const HEADROOM: f64 = 1.0325;

/// Counts rows, and the distinct keys among them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Distinct {
    rows: u64,
    registers: Registers,
}

impl Distinct {
    /// Nothing counted yet.
    pub fn new() -> Distinct {
        Distinct::default()
    }

    /// Counts a row with this key.
    #[inline]
    pub fn insert(&mut self, key: &[u8]) {
        self.insert_hash(xxh3(key, 0));
    }

    /// Counts a row by the XXH3-64 of its key, which must have been taken with seed 0.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) {
        self.insert_hashes(&[hash]);
    }

    /// Counts a row for each of these hashes: [`Distinct::insert_hash`] for a batch.
    #[inline]
    pub fn insert_hashes(&mut self, hashes: &[u64]) {
        self.rows = self.rows.saturating_add(hashes.len() as u64);
        self.registers.insert(hashes);
    }

    /// Counts everything that `other` has counted.
    pub fn merge(&mut self, other: &Distinct) {
        self.rows = self.rows.saturating_add(other.rows);
        self.registers.merge(&other.registers);
    }

    /// The rows counted, duplicates included.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// About how many distinct keys there were: the same number, to the last bit, on every machine.
    pub fn estimate(&self) -> f64 {
        estimate::estimate(&self.registers.histogram())
    }

    /// The number of keys to size a filter for; at least 1, so that a filter of nothing can be built.
    pub fn n(&self) -> u64 {
        let enough = (HEADROOM * self.estimate()).ceil() as u64;
        self.rows.min(enough).max(1)
    }
}
