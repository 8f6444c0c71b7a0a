//! The true set, to check what a filter admits: 128-bit fingerprints of the keys, sorted.
//!
//! Two different keys share a fingerprint with probability 2^-128: among 10^9 keys, less than 10^-20 of a mistake.

use umbel::hash::xxh3;

use crate::threads::in_threads;
use crate::{Driver, Result, Tally};

/// The keys of an input.
#[derive(Debug, Default)]
pub struct ExactSet {
    /// Sorted runs, one from each thread.
    runs: Vec<Vec<u128>>,
}

/// A fingerprint: two independent 64-bit hashes.
fn fingerprint(key: &[u8]) -> u128 {
    u128::from(xxh3(key, 0)) << 64 | u128::from(xxh3(key, 0x9E37_79B9_7F4A_7C15))
}

impl ExactSet {
    /// Reads the keys of an input.
    pub fn read(driver: &Driver) -> Result<(ExactSet, Tally)> {
        let outcome = driver.run(
            Vec::new,
            |run: &mut Vec<u128>, batch| {
                run.extend(batch.rows().iter().map(|row| fingerprint(batch.key(row))));
                Ok(())
            },
            |()| Ok(()),
        )?;
        let unsorted = std::sync::Mutex::new(outcome.partials);
        let runs = in_threads(driver.threads, || {
            let mut sorted = Vec::new();
            while let Some((mut run, _)) = { crate::lock(&unsorted).pop() } {
                run.sort_unstable();
                run.dedup();
                sorted.push(run);
            }
            Ok(sorted)
        })?;
        Ok((ExactSet { runs: runs.into_iter().flatten().collect() }, outcome.tally))
    }

    /// Whether the key is in the set.
    pub fn contains(&self, key: &[u8]) -> bool {
        let wanted = fingerprint(key);
        self.runs.iter().any(|run| run.binary_search(&wanted).is_ok())
    }

    /// Clears the bits of keys that are not in the set.
    pub(crate) fn refine(&self, keys: &[&[u8]], found: &mut [u64]) -> Result<()> {
        for (word, keys) in found.iter_mut().zip(keys.chunks(64)) {
            let mut left = *word;
            while left != 0 {
                let at = left.trailing_zeros();
                left &= left - 1;
                if !self.contains(keys[at as usize]) {
                    *word &= !(1 << at);
                }
            }
        }
        Ok(())
    }
}
