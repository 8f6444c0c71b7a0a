//! Two summaries become one.
//!
//! A key that only one of them kept may have come, in the other, to as much as that one's least count: both bounds are added up, the
//! lower ones too, and of all keys the highest m counts are kept. With e(x) = count(x) - least for the counts of a summary, and e(x) = 0
//! for other keys, every summary keeps the sum of e plus m · least at or below N. That holds for the sums, and dropping keys only
//! lowers it: the least count of the result is again at most N/m.

use std::collections::HashSet;
use std::sync::Arc;

use super::Heavy;
use super::places::{Place, Places};
use crate::Result;
use crate::bloom::same;

impl Heavy {
    /// Takes in all that `other` counted. The bounds stay: every key above N/m is kept, no count is too low, or too high by more than N/m, where N
    /// is now the total of both. Summaries of another number of places or type of keys are refused.
    pub fn merge(&mut self, other: &Heavy) -> Result<()> {
        self.check_alike(other)?;
        let mut places = self.summed(other);
        places.sort_unstable_by(|a, b| b.count.cmp(&a.count).then_with(|| a.key.cmp(&b.key)));
        places.truncate(self.places() as usize);
        self.kept = Places::new(self.places());
        places.into_iter().for_each(|place| self.kept.push(place));
        self.count(other.inserted, other.total);
        self.metadata.keep_common(&other.metadata);
        Ok(())
    }

    pub(crate) fn check_alike(&self, other: &Heavy) -> Result<()> {
        same("the number of places", self.places(), other.places())?;
        same("the key type", self.key_type(), other.key_type())
    }

    /// Every key of either, with the bounds of both added up.
    fn summed(&self, other: &Heavy) -> Vec<Place> {
        let (ours, theirs) = (self.kept.sorted(), other.kept.sorted());
        let keys: HashSet<_> =
            ours.iter().chain(&theirs).map(|place| Arc::clone(&place.key)).collect();
        let sum = |key: Arc<[u8]>| {
            let ((a_least, a), (b_least, b)) = (self.bounds(&key), other.bounds(&key));
            let count = a.saturating_add(b);
            Place { key, count, error: count - a_least.saturating_add(b_least) }
        };
        keys.into_iter().map(sum).collect()
    }
}
