//! Filters as sets: union, intersection, inclusion.

use super::{Bloom, Overfull};
use crate::Result;
use crate::memory::Line;

impl Bloom {
    /// Takes in all keys of `other`: afterwards the filter is the same, bit for bit, as if every key had been
    /// inserted here. Returns a warning when the result holds more keys than it was sized for.
    ///
    /// Filters of other parameters are refused. If the two were sized for different numbers of keys, the larger holds.
    pub fn merge(&mut self, other: &Bloom) -> Result<Option<Overfull>> {
        self.params.check_alike(&other.params)?;
        self.params.raise_capacity(other.sizing().capacity());
        self.combine(other, |ours, theirs| ours | theirs);
        self.count_inserts(other.inserts());
        self.counted &= other.counted;
        Ok(self.overfull())
    }

    /// Keeps what both have. Every key that was inserted into both is still found; the false-positive rate is at
    /// most the smaller of the two, but higher than that of a filter built from the common keys alone.
    pub fn intersect(&mut self, other: &Bloom) -> Result<()> {
        self.params.check_alike(&other.params)?;
        self.params.raise_capacity(other.sizing().capacity());
        self.combine(other, |ours, theirs| ours & theirs);
        self.counted = false;
        Ok(())
    }

    /// Whether every key of `other` may be here too. `false` is certain: at least one key of `other` is missing. Unless `other` came
    /// of an intersection: that has bits of no key, and may be answered with `false` where no key is missing.
    pub fn may_contain_all(&self, other: &Bloom) -> Result<bool> {
        self.params.check_alike(&other.params)?;
        let covers = |(ours, theirs): (&Line, &Line)| (0..8).all(|j| theirs.0[j] & !ours.0[j] == 0);
        Ok(self.bits.iter().zip(other.bits.iter()).all(covers))
    }

    fn combine(&mut self, other: &Bloom, word: impl Fn(u64, u64) -> u64) {
        self.metadata.keep_common(&other.metadata);
        for (ours, theirs) in self.bits.lines_mut().iter_mut().zip(other.bits.iter()) {
            for j in 0..8 {
                ours.0[j] = word(ours.0[j], theirs.0[j]);
            }
        }
    }
}
