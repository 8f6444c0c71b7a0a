//! Keeping the hashes of keys until their number is known.

use std::borrow::Cow;

use umbel::distinct::Distinct;
use umbel::hash::xxh3;

use crate::shelf::{Kept, Shelf, Store};
use crate::{Batch, Result};

/// What a thread gathers of each group, in the order of their coming; there is one where there are no groups.
pub(crate) struct Gather<'s> {
    counts: Vec<Distinct>,
    /// The hashes; none where they are only counted.
    shelf: Option<Shelf<'s, u64>>,
    /// The seed of the filter's hash. The count takes seed 0 whatever the filter does.
    seed: u64,
}

/// What a thread has gathered.
pub(crate) struct Gathered<'s> {
    pub(crate) counts: Vec<Distinct>,
    pub(crate) hashes: Option<Kept<'s, u64>>,
}

/// What is noted of each key.
pub(crate) fn note(key: &[u8]) -> u64 {
    xxh3(key, 0)
}

impl<'s> Gather<'s> {
    pub(crate) fn new(store: Option<&'s Store>, seed: u64) -> Gather<'s> {
        Gather { counts: Vec::new(), shelf: store.map(Shelf::new), seed }
    }

    /// Takes a batch with what was noted of its keys.
    pub(crate) fn take(&mut self, batch: &Batch, hashes: &[u64]) -> Result<()> {
        let groups = batch.group_names().len().max(1);
        self.counts.resize_with(groups, Distinct::default);
        self.count(batch.groups(), hashes);
        let Some(shelf) = &mut self.shelf else { return Ok(()) };
        shelf.grow(groups);
        keep(shelf, batch.groups(), &seeded(batch, hashes, self.seed))
    }

    fn count(&mut self, groups: &[u32], hashes: &[u64]) {
        if groups.is_empty() {
            return self.counts[0].insert_hashes(hashes);
        }
        for (&group, &hash) in groups.iter().zip(hashes) {
            self.counts[group as usize].insert_hash(hash);
        }
    }

    /// All has been taken.
    pub(crate) fn finish(self) -> Result<Gathered<'s>> {
        let hashes = self.shelf.map(Shelf::finish).transpose()?;
        Ok(Gathered { counts: self.counts, hashes })
    }
}

/// The hashes of a batch's keys under a seed: what was noted of them is that of seed 0.
pub(crate) fn seeded<'h>(batch: &Batch, noted: &'h [u64], seed: u64) -> Cow<'h, [u64]> {
    match seed {
        0 => noted.into(),
        seed => batch.rows().map(|row| xxh3(batch.key(&row), seed)).collect(),
    }
}

/// Puts hashes on the shelf, each with its group, or all together where there are no groups.
fn keep(shelf: &mut Shelf<u64>, groups: &[u32], hashes: &[u64]) -> Result<()> {
    if groups.is_empty() {
        return shelf.extend(0, hashes);
    }
    groups.iter().zip(hashes).try_for_each(|(&group, &hash)| shelf.push(group as usize, hash))
}
