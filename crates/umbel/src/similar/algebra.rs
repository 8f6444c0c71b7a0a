//! Filters as sets.

use super::Similar;
use crate::Result;
use crate::bloom::Overfull;

impl Similar {
    /// Takes in all items of `other`: afterwards it is the same, bit for bit, as if every item had been inserted here. Returns a warning when the
    /// result holds more items than it was sized for.
    ///
    /// Filters of other parameters are refused. If the two were sized for different numbers of items, the larger holds.
    pub fn merge(&mut self, other: &Similar) -> Result<Option<Overfull>> {
        self.params.check_alike(&other.params)?;
        self.params.raise(other.params.n());
        for (ours, theirs) in self.bits.lines_mut().iter_mut().zip(other.bits.iter()) {
            ours.0.iter_mut().zip(theirs.0).for_each(|(ours, theirs)| *ours |= theirs);
        }
        self.inserted = self.inserted.saturating_add(other.inserted);
        self.metadata.keep_common(&other.metadata);
        Ok(self.overfull())
    }
}

/// Equal parameters and equal bits; metadata and the number of items given do not count.
impl PartialEq for Similar {
    fn eq(&self, other: &Similar) -> bool {
        self.params == other.params && self.bits[..] == other.bits[..]
    }
}
