//! A blocked filter cut into ranges of lines, so that several threads can fill it without sharing a line.
//!
//! No second filter, no atomic operation. Where memory allows a filter for each thread, filling those and merging them is
//! faster still: `make bench` compares the two, and atomics ("sharing").
//!
//! ```
//! use umbel::Bloom;
//! use umbel::hash::xxh3_u64;
//!
//! let mut seen = Bloom::for_integers(1_000_000, 0.01)?;
//! let (router, mut shards) = seen.shards(4)?;
//! for key in 0..1000 {
//!     let hash = xxh3_u64(key, 0);
//!     shards[router.home(hash)].insert_hashes(&[hash]); // in real life: many at once, in several threads
//! }
//! seen.add_inserted(1000);
//! assert!((0..1000).all(|key| seen.contains_u64(key)));
//! # Ok::<(), umbel::Error>(())
//! ```

use super::Bloom;
use crate::hash::reduce;
use crate::memory::Line;
use crate::simd::{self, Hashes, Level, Window};
use crate::sizing::Layout;
use crate::{Error, Result};

/// Some of the lines of a blocked filter, to be filled by one thread at a time.
#[derive(Debug)]
pub struct Shard<'a> {
    lines: &'a mut [Line],
    window: Window,
    level: Level,
}

/// Knows which shard a key belongs to.
#[derive(Debug, Clone, Copy)]
pub struct Router {
    lines: u64,
    shift: u32,
}

impl Router {
    /// The place, among the filter's shards, of the one that a key with this hash belongs to.
    #[inline]
    pub fn home(&self, hash: u64) -> usize {
        (reduce(hash, self.lines) >> self.shift) as usize
    }
}

impl Bloom {
    /// Cuts a blocked filter into at most `count` ranges of lines: all but the last have the same number of lines, a power of
    /// two, so ask for some more than there are threads. Afterwards tell the filter how many keys came in with [`Bloom::add_inserted`].
    pub fn shards(&mut self, count: usize) -> Result<(Router, Vec<Shard<'_>>)> {
        if self.sizing().layout() != Layout::Blocked {
            return Err(Error::Strategy(
                "only a blocked filter can be cut into shards: fill partial filters and merge them"
                    .into(),
            ));
        }
        let level = self.level;
        let lines = self.bits.lines_mut();
        let total = lines.len();
        let each = total.div_ceil(count.max(1)).next_power_of_two();
        let router = Router { lines: total as u64, shift: each.trailing_zeros() };
        let shard = |(i, lines)| Shard { lines, window: Window { first: i * each, total }, level };
        Ok((router, lines.chunks_mut(each).enumerate().map(shard).collect()))
    }

    /// Counts insert calls that were made through shards.
    pub fn add_inserted(&mut self, calls: u64) {
        self.count_inserts(calls);
    }
}

impl Shard<'_> {
    /// Adds keys by their hashes.
    ///
    /// # Panics
    /// When a hash does not belong here: the key would be lost.
    pub fn insert_hashes(&mut self, hashes: &[u64]) {
        let source = Hashes(hashes);
        simd::insert_batch(self.level, self.lines, self.window, &source);
    }
}
