//! Many items at once.

use super::{Bands, Item, Similar, indexes};
use crate::simd::prefetch;
use crate::{Error, Result};

impl Similar {
    /// Answers many questions; see [`contains`](Similar::contains). There must be as many answers as items. An error is that of the first item that is
    /// refused; the answers mean nothing then.
    pub fn contains_batch(&self, items: &[Item<'_>], answers: &mut [bool]) -> Result<()> {
        if items.len() != answers.len() {
            let (needed, given) = (items.len(), answers.len());
            return Err(Error::Answers { keys: needed, needed, given });
        }
        let mut bands = Bands::default();
        for (&item, answer) in items.iter().zip(answers) {
            self.bands(item, &mut bands)?;
            self.ask_for(bands.as_slice());
            *answer = self.contains_bands(bands.as_slice())?;
        }
        Ok(())
    }

    /// Adds many items. An error is that of the first item that is refused; those before it have been added.
    pub fn insert_batch(&mut self, items: &[Item<'_>]) -> Result<()> {
        let mut bands = Bands::default();
        for &item in items {
            self.bands(item, &mut bands)?;
            self.ask_for(bands.as_slice());
            self.insert_bands(bands.as_slice())?;
        }
        Ok(())
    }

    /// Asks memory for the lines of all bands, so that it works on all of them at once.
    fn ask_for(&self, bands: &[u64]) {
        let shape = self.params.shape();
        for (band, &hash) in bands.iter().enumerate() {
            for index in indexes(band, hash, shape.bits, shape.probes) {
                prefetch(self.bits.as_ptr().wrapping_add((index / 512) as usize));
            }
        }
    }
}
