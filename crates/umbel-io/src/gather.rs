//! Keeping the hashes of keys until their number is known.

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
    /// The hashes of a batch by group, and the groups that have any.
    sorted: Vec<Vec<u64>>,
    touched: Vec<u32>,
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
        Gather {
            counts: Vec::new(),
            shelf: store.map(Shelf::new),
            seed,
            sorted: Vec::new(),
            touched: Vec::new(),
        }
    }

    /// Takes a batch with what was noted of its keys.
    pub(crate) fn take(&mut self, batch: &Batch, hashes: &[u64]) -> Result<()> {
        let groups = batch.group_names().len().max(1);
        self.counts.resize_with(groups, Distinct::default);
        self.sorted.resize_with(groups, Vec::new);
        self.shelf.iter_mut().for_each(|shelf| shelf.grow(groups));
        let seed = self.seed;
        if self.shelf.is_none() || seed == 0 {
            return self.sort(batch, hashes, true, true);
        }
        self.sort(batch, hashes, true, false)?;
        let seeded: Vec<u64> = batch.rows().iter().map(|row| xxh3(batch.key(row), seed)).collect();
        self.sort(batch, &seeded, false, true)
    }

    /// Sorts hashes by group, to count them, to keep them, or both.
    fn sort(&mut self, batch: &Batch, hashes: &[u64], count: bool, keep: bool) -> Result<()> {
        if batch.groups().is_empty() {
            return self.put(0, hashes, count, keep);
        }
        let mut sorted = std::mem::take(&mut self.sorted);
        for (&hash, &group) in hashes.iter().zip(batch.groups()) {
            let hashes = &mut sorted[group as usize];
            if hashes.is_empty() {
                self.touched.push(group);
            }
            hashes.push(hash);
        }
        let touched = std::mem::take(&mut self.touched);
        for &group in &touched {
            let hashes = &mut sorted[group as usize];
            self.put(group as usize, hashes, count, keep)?;
            hashes.clear();
        }
        (self.sorted, self.touched) = (sorted, touched);
        self.touched.clear();
        Ok(())
    }

    fn put(&mut self, group: usize, hashes: &[u64], count: bool, keep: bool) -> Result<()> {
        if count {
            self.counts[group].insert_hashes(hashes);
        }
        match &mut self.shelf {
            Some(shelf) if keep => shelf.extend(group, hashes),
            _ => Ok(()),
        }
    }

    /// All has been taken.
    pub(crate) fn finish(self) -> Result<Gathered<'s>> {
        let hashes = self.shelf.map(Shelf::finish).transpose()?;
        Ok(Gathered { counts: self.counts, hashes })
    }
}
