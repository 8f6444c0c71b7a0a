//! Filters from a file: one, or one for each group.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use umbel::format::{File, Kind};
use umbel::{Bloom, Groups, KeyType, Metadata};

use crate::threads::in_threads;
use crate::{Batch, Error, Result};

/// From this size on a filter is read into memory, which has huge pages; a mapped file has none.
const LARGE: u64 = 4 << 20;

/// What a file holds.
#[derive(Debug)]
pub enum Filters {
    /// One filter.
    One(Bloom),
    /// One for each group.
    Groups(Groups),
}

impl Filters {
    /// Opens a file and verifies it in several threads; a large filter is read into memory.
    pub fn open(path: &Path, threads: usize) -> Result<Filters> {
        let file = File::open(path)?;
        file.verify_sums()?;
        let next = AtomicUsize::new(0);
        in_threads(threads, || {
            while let Some(chunk) =
                Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&at| at < file.chunks())
            {
                file.verify_chunk(chunk)?;
            }
            Ok(())
        })?;
        Ok(match file.kind() {
            Kind::Bloom => {
                let filter = file.into_bloom()?;
                let large = filter.sizing().bytes() >= LARGE;
                Filters::One(if large { filter.into_memory() } else { filter })
            }
            Kind::Groups => Filters::Groups(file.into_groups()?),
            other => return Err(Error::Other(format!("{}: it holds {other}", path.display()))),
        })
    }

    /// The metadata.
    pub fn metadata(&self) -> &Metadata {
        match self {
            Filters::One(filter) => filter.metadata(),
            Filters::Groups(groups) => groups.metadata(),
        }
    }

    /// Whether the keys are integers.
    pub fn holds_integers(&self) -> bool {
        let key_type = match self {
            Filters::One(filter) => Some(filter.params().key_type()),
            Filters::Groups(groups) => groups.key_type(),
        };
        key_type == Some(KeyType::U64)
    }

    /// Looks up the keys of a batch: one bit each, in any group. `found` has one word for each 64 keys.
    pub(crate) fn contains(&self, batch: &Batch, found: &mut [u64]) -> Result<()> {
        match self {
            Filters::One(filter) => {
                filter.contains_each(batch.len(), |i| batch.key(&batch.rows()[i]), found)?
            }
            Filters::Groups(groups) => batch.for_each_chunk(|first, keys| {
                let found = &mut found[first / 64..][..keys.len().div_ceil(64)];
                Ok(groups.contains_mask(keys, found)?)
            })?,
        }
        Ok(())
    }
}
