//! Many keys at once.

use super::CountMin;
use super::block::each_block;
use crate::bloom::{KeyType, Keys};
use crate::{Error, Result};

impl CountMin {
    /// Adds many keys, each with the weight 1.
    pub fn add_batch(&mut self, keys: Keys<'_>) -> Result<()> {
        check_keys(self.params.key_type(), keys)?;
        self.add_keys(keys, |_| 1);
        Ok(())
    }

    /// Adds many keys, each with its weight.
    pub fn add_weighted(&mut self, keys: Keys<'_>, weights: &[u64]) -> Result<()> {
        check_keys(self.params.key_type(), keys)?;
        check_weights(keys.len(), weights)?;
        self.add_keys(keys, |i| weights[i]);
        Ok(())
    }

    /// What each of many keys came to.
    pub fn estimate_batch(&self, keys: Keys<'_>, estimates: &mut [u64]) -> Result<()> {
        check_keys(self.params.key_type(), keys)?;
        check_answers(keys.len(), estimates)?;
        each_block(keys, self.params.seed(), |first, hashes| {
            self.grid.estimate_block(hashes, &mut estimates[first..first + hashes.len()]);
        });
        Ok(())
    }

    fn add_keys(&mut self, keys: Keys<'_>, weight: impl Fn(usize) -> u64) {
        each_block(keys, self.params.seed(), |first, hashes| {
            self.grid.add_block(hashes, |i| weight(first + i));
            self.count(hashes.len() as u64, sum(first, hashes.len(), &weight));
        });
    }
}

/// The weights of some keys together, 2^64 - 1 at most.
pub(crate) fn sum(first: usize, count: usize, weight: impl Fn(usize) -> u64) -> u64 {
    (first..first + count).map(weight).fold(0, u64::saturating_add)
}

/// Refuses text where the keys are integers: an integer has eight bytes.
pub(crate) fn check_keys(holds: KeyType, keys: Keys<'_>) -> Result<()> {
    match holds == KeyType::U64 && keys.hold_text() {
        true => Err(Error::KeyType { holds, asked: KeyType::Bytes }),
        false => Ok(()),
    }
}

/// Refuses weights that are not one a key.
pub(crate) fn check_weights(keys: usize, weights: &[u64]) -> Result<()> {
    let given = weights.len();
    if keys == given { Ok(()) } else { Err(Error::Weights { keys, given }) }
}

/// Refuses places for answers that are not one a key.
pub(crate) fn check_answers(keys: usize, answers: &[u64]) -> Result<()> {
    let given = answers.len();
    if keys == given { Ok(()) } else { Err(Error::Answers { keys, needed: keys, given }) }
}
