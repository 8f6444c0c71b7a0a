//! The rows of a batch by group, without the batch.

use umbel::Counts;

use crate::batch::CHUNK;
use crate::{Batch, Result};

/// Keys with their weights, in their order.
#[derive(Debug, Default)]
pub(super) struct Rows {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// One a key, or none at all where each is 1.
    weights: Vec<u64>,
}

impl Rows {
    fn push(&mut self, key: &[u8], weight: Option<&u64>) {
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len());
        self.weights.extend(weight);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Adds the keys to counts.
    pub(super) fn add_to(&self, counts: &mut Counts) -> Result<()> {
        let mut start = 0;
        for (i, ends) in self.ends.chunks(CHUNK).enumerate() {
            let key = |&end: &usize| &self.bytes[std::mem::replace(&mut start, end)..end];
            let keys: Vec<&[u8]> = ends.iter().map(key).collect();
            let weights = self.weights.get(i * CHUNK..i * CHUNK + keys.len());
            add(counts, &keys, weights.unwrap_or_default())?;
        }
        Ok(())
    }
}

/// Adds keys with their weights; without weights, each is 1.
pub(super) fn add(counts: &mut Counts, keys: &[&[u8]], weights: &[u64]) -> Result<()> {
    match weights {
        [] => counts.add_batch(keys)?,
        weights => counts.add_weighted(keys, weights)?,
    }
    Ok(())
}

/// The rows of a batch by the number of their group; 0 where there are none.
pub(super) fn by_group(batch: &Batch) -> Vec<Rows> {
    let mut groups: Vec<Rows> = Vec::new();
    groups.resize_with(batch.group_names().len().max(1), Rows::default);
    for (i, row) in batch.rows().enumerate() {
        let group = batch.groups().get(i).map_or(0, |&group| group as usize);
        groups[group].push(batch.key(&row), batch.weights().get(i));
    }
    groups
}
