//! What the levels tell: single keys, sums over ranges, quantiles.

use std::ops::RangeInclusive;

use super::Ranges;
use crate::{Error, Result};

/// The weight in a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RangeSum {
    /// Never below the true sum.
    pub estimate: u64,
    /// How much too high it may be, with a probability of at least 1 - delta.
    pub bound: u64,
}

/// The value that has a given share of the weight at or below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantile {
    /// Less than q · N weight lies below this value, always.
    pub value: i64,
    /// At least q · N less this much lies at or below it, with a probability of at least 1 - delta.
    pub bound: u64,
}

impl Ranges {
    /// What a key came to: never less.
    pub fn estimate(&self, key: i64) -> Result<RangeSum> {
        self.params.place(key)?;
        self.sum(key..=key)
    }

    /// The weight of the keys in a range. What lies outside the interval has none.
    pub fn sum(&self, range: RangeInclusive<i64>) -> Result<RangeSum> {
        let (from, to) = range.into_inner();
        if from > to {
            return Err(Error::Range(format!(
                "a range goes from its least key to its greatest: {from} is above {to}"
            )));
        }
        let (from, to) = (from.max(self.params.lo()), to.min(self.params.hi()));
        if from > to {
            return Ok(RangeSum { estimate: 0, bound: 0 });
        }
        let (estimate, sketched) = self.runs(self.params.place(from)?, self.params.place(to)?);
        Ok(RangeSum { estimate: estimate.min(self.total), bound: self.bound(sketched) })
    }

    /// The sum of the runs that make up the places `first` to `last`, at most two a level, and how many of them are sketched.
    fn runs(&self, mut first: u64, mut last: u64) -> (u64, u32) {
        let (mut sum, mut sketched) = (0_u64, 0);
        for level in &self.levels {
            let mut take = |node| {
                sum = sum.saturating_add(level.estimate(node));
                sketched += u32::from(!level.is_exact());
            };
            // A run that is the second of its pair begins the range; one that is the first of its pair ends it.
            if first == last {
                take(first);
                break;
            }
            if first % 2 == 1 {
                take(first);
            }
            if last.is_multiple_of(2) {
                take(last);
            }
            first = first.div_ceil(2);
            match last / 2 + last % 2 {
                above if above > first => last = above - 1,
                _ => break,
            }
        }
        (sum, sketched)
    }

    /// The value below which less than a share `q` of the weight lies, and at or below which at least that share lies, but for
    /// the bound; none when nothing was counted.
    pub fn quantile(&self, q: f64) -> Result<Option<Quantile>> {
        if !(0.0..=1.0).contains(&q) {
            return Err(Error::Range(format!("a quantile is a share from 0 to 1, not {q}")));
        }
        if self.total == 0 {
            return Ok(None);
        }
        let mut wanted = ((q * self.total as f64).ceil() as u64).clamp(1, self.total);
        let mut node = 0;
        // From the run of all keys down, into its left half or its right one; the last run may have a left half only.
        for (height, level) in self.levels.iter().enumerate().rev().skip(1) {
            node *= 2;
            let left = level.estimate(node);
            if wanted > left && node < self.params.last_run(height as u32) {
                wanted -= left;
                node += 1;
            }
        }
        let value = self.params.lo().wrapping_add(node as i64);
        Ok(Some(Quantile { value, bound: self.bound(self.params.sketched_levels()) }))
    }

    /// How much too high the estimate of a single key may be, with a probability of at least 1 - delta.
    pub fn key_bound(&self) -> u64 {
        self.bound(self.params.sketched_levels().min(1))
    }

    /// How much too high so many runs of sketched levels may be together.
    fn bound(&self, sketched: u32) -> u64 {
        (f64::from(sketched) * self.params.node_epsilon() * self.total as f64) as u64
    }
}
