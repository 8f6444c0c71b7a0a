//! Count-min sketches: "how often?", from a table of counters that does not grow with the keys.
//!
//! **When.** Keys come in a stream, each with a weight (1, bytes, euros), there are too many of them to keep, and you ask
//! how much one of them came to. The estimate is never below the true count, and above it by at most eps times the total
//! weight for all but a share delta of the keys: good for the heavy keys, useless for the light ones. Nothing can be removed.
//!
//! **Cost.** ⌈e/eps⌉ · ⌈ln 1/delta⌉ counters: eps 0.1 % and delta 1 % are 5 rows of 2719. A counter has 1, 2, 4 or 8 bytes, all
//! of them as many as the largest needs. A key is hashed once and touches one counter a row.
//!
//! ```
//! use umbel::{CountMin, CountMinParams};
//!
//! let mut hits = CountMin::new(CountMinParams::for_error(0.001, 0.01)?)?;
//! hits.add(b"/index.html", 1);
//! hits.add(b"/index.html", 2);
//! assert_eq!(hits.estimate(b"/index.html"), 3); // never less; more only where others fell into the same places
//! assert_eq!(hits.total(), 3);
//!
//! let mut other = CountMin::new(*hits.params())?; // sketches built apart can be merged
//! other.add(b"/index.html", 4);
//! hits.merge(&other)?;
//! assert_eq!(hits.estimate(b"/index.html"), 7);
//! # Ok::<(), umbel::Error>(())
//! ```
//!
//! **Counters never wrap.** A counter, the total and the number of calls stop at 2^64 - 1, which then stands for "this or
//! more". A sum that stops there is the same in any order, so sketches still merge to the same bytes.
//! [`CountMin::is_saturated`] tells.
//!
//! **The inner product** of two sketches estimates the size of a join: the sum over all keys of the product of their
//! weights. A sketch with itself gives the second moment.
//!
//! References: G. Cormode, S. Muthukrishnan, An improved data stream summary: the count-min sketch and its applications, 2005.

mod algebra;
mod batch;
mod block;
mod conservative;
mod grid;
mod params;
mod store;
mod table;
mod width;

pub use algebra::InnerProduct;
pub use conservative::Conservative;
pub use params::{CountMinParams, MAX_COUNTERS, MAX_DEPTH};

pub(crate) use batch::{check_answers, check_keys, check_weights, sum};
pub(crate) use block::BLOCK;
pub(crate) use grid::Grid;
pub(crate) use params::{check_size, columns, hashing, rows, too_large};
pub(crate) use table::{AHEAD, Table};
pub(crate) use width::Width;

use crate::bloom::KeyType;
use crate::hash::{xxh3, xxh3_u64};
use crate::{Error, Metadata, Result};

/// A count-min sketch. See the [module](self) for what it is and costs.
#[derive(Clone)]
pub struct CountMin {
    params: CountMinParams,
    grid: Grid,
    total: u64,
    inserted: u64,
    metadata: Metadata,
}

impl CountMin {
    /// An empty sketch.
    pub fn new(params: CountMinParams) -> Result<CountMin> {
        let grid = Grid::zeroed(params.width(), params.depth())?;
        Ok(CountMin { params, grid, total: 0, inserted: 0, metadata: Metadata::default() })
    }

    pub(crate) fn from_parts(
        params: CountMinParams,
        grid: Grid,
        [total, inserted]: [u64; 2],
    ) -> CountMin {
        CountMin { params, grid, total, inserted, metadata: Metadata::default() }
    }

    /// Adds a key with a weight.
    #[inline]
    pub fn add(&mut self, key: &[u8], weight: u64) {
        self.add_hash(xxh3(key, self.params.seed()), weight);
    }

    /// Adds an integer key with a weight: the same key as `key.to_le_bytes()`.
    #[inline]
    pub fn add_u64(&mut self, key: u64, weight: u64) {
        self.add_hash(xxh3_u64(key, self.params.seed()), weight);
    }

    /// Adds a key by its hash, XXH3-64 with the sketch's seed: for those who have it already.
    #[inline]
    pub fn add_hash(&mut self, hash: u64, weight: u64) {
        self.count(1, weight);
        self.grid.add(hash, weight);
    }

    /// What a key came to: never less, and at most [`bound`](CountMin::bound) more for all but a share delta of the keys.
    #[inline]
    pub fn estimate(&self, key: &[u8]) -> u64 {
        self.estimate_hash(xxh3(key, self.params.seed()))
    }

    /// What an integer key came to.
    #[inline]
    pub fn estimate_u64(&self, key: u64) -> u64 {
        self.estimate_hash(xxh3_u64(key, self.params.seed()))
    }

    /// What the key with this hash came to.
    #[inline]
    pub fn estimate_hash(&self, hash: u64) -> u64 {
        self.grid.estimate(hash)
    }

    /// The parameters.
    pub fn params(&self) -> &CountMinParams {
        &self.params
    }

    /// N: the sum of all weights, 2^64 - 1 at most.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The number of keys added, also those that came before; it adds up when sketches are merged.
    pub fn inserted(&self) -> u64 {
        self.inserted
    }

    /// eps · N, rounded down: how much too high an estimate may be, but for a share delta of the keys.
    pub fn bound(&self) -> u64 {
        (self.params.epsilon() * self.total as f64) as u64
    }

    /// Whether the total, and perhaps a counter, has reached 2^64 - 1: from there on sums stand for "this or more".
    pub fn is_saturated(&self) -> bool {
        self.total == u64::MAX
    }

    /// Bytes a counter now: 1, 2, 4 or 8, as the largest needs.
    pub fn counter_bytes(&self) -> usize {
        self.grid.table().width().bytes()
    }

    /// The text pairs that travel with the sketch.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The text pairs, to be changed.
    pub fn metadata_mut(&mut self) -> &mut Metadata {
        &mut self.metadata
    }

    /// Refuses to be asked with keys of another type than the sketch was made for.
    pub fn check_key_type(&self, asked: KeyType) -> Result<()> {
        let holds = self.params.key_type();
        if holds == asked { Ok(()) } else { Err(Error::KeyType { holds, asked }) }
    }

    pub(crate) fn table(&self) -> &Table {
        self.grid.table()
    }

    /// Counts calls and their weight.
    #[inline]
    fn count(&mut self, calls: u64, weight: u64) {
        self.inserted = self.inserted.saturating_add(calls);
        self.total = self.total.saturating_add(weight);
    }
}

/// Equal parameters and equal counters; metadata and the number of calls do not count.
impl PartialEq for CountMin {
    fn eq(&self, other: &CountMin) -> bool {
        self.params == other.params && self.grid == other.grid
    }
}

impl Eq for CountMin {}

impl std::fmt::Debug for CountMin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CountMin")
            .field("params", &self.params)
            .field("total", &self.total)
            .field("inserted", &self.inserted)
            .field("metadata", &self.metadata)
            .finish_non_exhaustive()
    }
}
