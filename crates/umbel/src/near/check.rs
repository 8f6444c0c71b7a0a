//! Whether a list is what it says, bit for bit: a file may lie under correct checksums.

use super::elias_fano::{GROUP, SPAN};
use super::view::View;
use crate::{Error, Result};

impl View<'_> {
    /// Refuses a list that [`build`](super::elias_fano::EliasFano::build) would not have written.
    pub(super) fn check(self) -> Result<()> {
        let right = self.shape.count() == 0
            || (self.upper_is_right() && self.numbers_rise() && self.starts_are_right());
        if right && self.lower_ends() {
            return Ok(());
        }
        Err(Error::Format("the list contradicts itself".into()))
    }

    /// As many 1s as numbers, none of them first or behind the last 0, and right ranks.
    fn upper_is_right(self) -> bool {
        let mut ranks = self.ranks.iter();
        let mut ones = 0;
        for (word, &bits) in (0..).zip(self.upper) {
            let begins_span = 64 * word % SPAN == 0 && 64 * word < self.shape.upper_bits();
            if begins_span && ranks.next().copied().map(u64::from) != Some(ones) {
                return false;
            }
            ones += u64::from(bits.count_ones());
        }
        let first = self.upper[0] & 1;
        let behind = behind(self.upper, self.shape.upper_bits() - 1);
        let counted = ones == self.shape.count();
        counted && first == 0 && behind && ranks.all(|&rank| rank == 0)
    }

    fn numbers_rise(self) -> bool {
        let mut last = None;
        let rises = self.numbers().all(|number| {
            let rises = last < Some(number);
            last = Some(number);
            rises
        });
        rises && last <= Some(self.shape.top())
    }

    /// The numbers rise; so the start of a group is the number of those before it.
    fn starts_are_right(self) -> bool {
        let mut starts = self.starts.iter();
        let mut group = 0;
        for (at, number) in (0_u32..).zip(self.numbers()) {
            while group * GROUP <= number >> self.shape.low_bits() {
                if starts.next() != Some(&at) {
                    return false;
                }
                group += 1;
            }
        }
        let count = self.shape.count() as u32;
        (group..self.shape.groups()).all(|_| starts.next() == Some(&count))
            && starts.all(|&start| start == 0)
    }

    fn lower_ends(self) -> bool {
        let used = self.shape.count() * u64::from(self.shape.low_bits());
        behind(self.lower, used)
    }
}

/// Whether all bits from this one on are 0.
fn behind(words: &[u64], bit: u64) -> bool {
    let Some((first, rest)) = words.get((bit / 64) as usize..).and_then(<[u64]>::split_first)
    else {
        return true;
    };
    first >> (bit % 64) == 0 && rest.iter().all(|&word| word == 0)
}
