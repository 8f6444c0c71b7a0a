//! Many keys at once: hash a block, work out its places row by row, ask memory for them, then add or read.

use super::block::{Rows, each_block};
use super::{CountMin, CountMinParams};
use crate::bloom::{KeyType, Keys};
use crate::{Error, Result};

impl CountMin {
    /// Adds many keys, each with the weight 1.
    pub fn add_batch(&mut self, keys: Keys<'_>) -> Result<()> {
        check_keys(&self.params, keys)?;
        self.add_keys(keys, |_| 1);
        Ok(())
    }

    /// Adds many keys, each with its weight.
    pub fn add_weighted(&mut self, keys: Keys<'_>, weights: &[u64]) -> Result<()> {
        check_keys(&self.params, keys)?;
        check_weights(keys, weights)?;
        self.add_keys(keys, |i| weights[i]);
        Ok(())
    }

    /// What each of many keys came to.
    pub fn estimate_batch(&self, keys: Keys<'_>, estimates: &mut [u64]) -> Result<()> {
        check_keys(&self.params, keys)?;
        let (keys_len, given) = (keys.len(), estimates.len());
        if keys_len != given {
            return Err(Error::Answers { keys: keys_len, needed: keys_len, given });
        }
        let width = self.params.width();
        estimates.fill(u64::MAX);
        each_block(keys, self.params.seed(), |first, hashes| {
            let least = &mut estimates[first..first + hashes.len()];
            let mut rows = Rows::new(hashes);
            for row in 0..self.params.depth() as usize {
                self.table.lower(rows.next(row * width as usize, width), least);
            }
        });
        Ok(())
    }

    fn add_keys(&mut self, keys: Keys<'_>, weight: impl Fn(usize) -> u64) {
        let params = self.params;
        each_block(keys, params.seed(), |first, hashes| {
            let mut rows = Rows::new(hashes);
            for row in 0..params.depth() as usize {
                let places = rows.next(row * params.width() as usize, params.width());
                self.table.add_ahead(places, |i| weight(first + i));
            }
            let weights = (first..first + hashes.len()).map(&weight);
            self.count(hashes.len() as u64, weights.fold(0, u64::saturating_add));
        });
    }
}

/// Refuses text where the keys are integers: an integer has eight bytes.
pub(super) fn check_keys(params: &CountMinParams, keys: Keys<'_>) -> Result<()> {
    let (holds, asked) = (params.key_type(), KeyType::Bytes);
    match keys {
        Keys::Bytes(keys) if holds == KeyType::U64 && keys.iter().any(|key| key.len() != 8) => {
            Err(Error::KeyType { holds, asked })
        }
        _ => Ok(()),
    }
}

/// Refuses weights that are not one a key.
pub(super) fn check_weights(keys: Keys<'_>, weights: &[u64]) -> Result<()> {
    let (keys, given) = (keys.len(), weights.len());
    if keys == given { Ok(()) } else { Err(Error::Weights { keys, given }) }
}
