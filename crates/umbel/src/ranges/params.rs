//! The size of the levels: an interval, eps and delta against rows and columns.

use crate::bloom::same;
use crate::countmin::{MAX_COUNTERS, check_size, columns, hashing, rows, too_large};
use crate::{Error, Result};

/// What defines counts over ranges: the interval, and the size of the sketches of its levels.
///
/// Level 0 counts the keys themselves, level 1 pairs of them, level l runs of 2^l, up to the level of one run. A level with no more
/// runs than a sketch has counters is counted exactly; only the others have errors.
///
/// ```
/// use umbel::RangesParams;
///
/// let ports = RangesParams::for_error(0, 65_535, 0.001, 0.01)?;
/// assert_eq!((ports.levels(), ports.sketched_levels()), (17, 1));
/// # Ok::<(), umbel::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RangesParams {
    lo: i64,
    hi: i64,
    width: u64,
    depth: u32,
    seed: u64,
}

impl RangesParams {
    /// Counts over `lo..=hi`, where the sum of a range exceeds the true one by at most `eps` times the total weight, with a
    /// probability of at least 1 - `delta`. With s sketched levels, w = ⌈2 s e/eps⌉: a range takes at most two runs of each. d = ⌈ln 1/delta⌉.
    pub fn for_error(lo: i64, hi: i64, eps: f64, delta: f64) -> Result<RangesParams> {
        let depth = rows(delta)?;
        // More sketched levels need wider sketches, and wider sketches leave fewer levels to sketch.
        for levels in 0..=64 {
            let width = columns(eps, (2 * levels).max(1))?;
            let params = RangesParams::with_size(lo, hi, width, depth)?;
            if params.sketched_levels() <= levels {
                return Ok(params);
            }
        }
        Err(too_large(f64::INFINITY))
    }

    /// Counts over `lo..=hi`, with `width` counters in each of `depth` rows of a sketched level.
    pub fn with_size(lo: i64, hi: i64, width: u64, depth: u32) -> Result<RangesParams> {
        check_size(width, depth)?;
        if lo > hi {
            return Err(Error::Sizing(format!(
                "an interval goes from its least key to its greatest: {lo} is above {hi}"
            )));
        }
        let params = RangesParams { lo, hi, width, depth, seed: 0 };
        let counters: u128 = (0..params.levels()).map(|l| u128::from(params.counters(l))).sum();
        if counters > u128::from(MAX_COUNTERS) {
            return Err(too_large(counters as f64));
        }
        Ok(params)
    }

    /// The same with another seed of the hash.
    pub fn with_seed(self, seed: u64) -> RangesParams {
        RangesParams { seed, ..self }
    }

    /// The least key.
    pub fn lo(&self) -> i64 {
        self.lo
    }

    /// The greatest key.
    pub fn hi(&self) -> i64 {
        self.hi
    }

    /// w: counters a row of a sketched level.
    pub fn width(&self) -> u64 {
        self.width
    }

    /// d: rows of a sketched level.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// The seed of the hash.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// All levels, exact and sketched.
    pub fn levels(&self) -> u32 {
        64 - self.last_run(0).leading_zeros() + 1
    }

    /// The lowest levels, which are too long to be counted exactly.
    pub fn sketched_levels(&self) -> u32 {
        (0..self.levels()).filter(|&level| !self.is_exact(level)).count() as u32
    }

    /// eps: the share of the total weight by which the sum of a range may be too high; 0 when every level is exact.
    pub fn epsilon(&self) -> f64 {
        2.0 * f64::from(self.sketched_levels()) * self.node_epsilon()
    }

    /// delta: the probability that it is higher still.
    pub fn delta(&self) -> f64 {
        (-f64::from(self.depth)).exp()
    }

    /// The share of the total weight that one run of a sketched level may be too high.
    pub(super) fn node_epsilon(&self) -> f64 {
        std::f64::consts::E / self.width as f64
    }

    /// The place of a level's last run; at level 0 that of the greatest key.
    pub(super) fn last_run(&self, level: u32) -> u64 {
        let last = self.hi.wrapping_sub(self.lo) as u64;
        last.checked_shr(level).unwrap_or(0)
    }

    /// Whether a level has a counter for each of its runs.
    pub(crate) fn is_exact(&self, level: u32) -> bool {
        self.last_run(level) < self.width * u64::from(self.depth)
    }

    /// The counters of a level.
    pub(crate) fn counters(&self, level: u32) -> u64 {
        if self.is_exact(level) {
            self.last_run(level) + 1
        } else {
            self.width * u64::from(self.depth)
        }
    }

    /// The place of a key, counted from the least; refuses a key outside the interval.
    pub(super) fn place(&self, key: i64) -> Result<u64> {
        let (lo, hi) = (self.lo, self.hi);
        if (lo..=hi).contains(&key) {
            Ok(key.wrapping_sub(lo) as u64)
        } else {
            Err(Error::Range(format!("the key {key} lies outside {lo} to {hi}")))
        }
    }

    /// Refuses parameters under which the same key has other counters, naming the first that differs.
    pub(crate) fn check_alike(&self, other: &RangesParams) -> Result<()> {
        same("the least key", self.lo, other.lo)?;
        same("the greatest key", self.hi, other.hi)?;
        same("the number of columns (w)", self.width, other.width)?;
        same("the number of rows (d)", self.depth, other.depth)?;
        same("the hash strategy", hashing(self.seed), hashing(other.seed))
    }
}
