//! Filters from a file: one, or one for each group.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use umbel::format::{File, Kind};
use umbel::{Bloom, Groups, KeyType, Metadata};

use crate::threads::in_threads;
use crate::{Batch, Result};

/// What a file holds.
#[derive(Debug)]
pub enum Filters {
    /// One filter.
    One(Bloom),
    /// One for each group.
    Groups(Groups),
}

impl Filters {
    /// Opens a file, as [`read`](Filters::read) does.
    pub fn open(path: &Path, threads: usize) -> Result<Filters> {
        Filters::read(File::open(path)?, threads)
    }

    /// Verifies a file in several threads and reads it into memory: that has huge pages, which a mapped file has not, and a long run
    /// does not depend on what becomes of the file.
    pub fn read(file: File, threads: usize) -> Result<Filters> {
        verify(&file, threads)?;
        Ok(match file.kind() {
            Kind::Groups => Filters::Groups(file.into_groups()?.into_memory()),
            _ => Filters::One(file.into_bloom()?.into_memory()),
        })
    }

    /// The filters of a file where they stand: all processes of a machine that map it share one copy. It is verified.
    pub fn map(path: &Path) -> Result<Filters> {
        let file = File::open(path)?;
        verify(&file, 1)?;
        Ok(match file.kind() {
            Kind::Groups => Filters::Groups(file.into_groups()?),
            _ => Filters::One(file.into_bloom()?),
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
            Filters::One(filter) => filter.contains_mask(batch.keys(), found)?,
            Filters::Groups(groups) => batch.for_each_chunk(|first, keys| {
                let found = &mut found[first / 64..][..keys.len().div_ceil(64)];
                Ok(groups.contains_mask(keys, found)?)
            })?,
        }
        Ok(())
    }
}

/// Verifies the bits of a file in several threads.
pub(crate) fn verify(file: &File, threads: usize) -> Result<()> {
    file.verify_sums()?;
    let next = AtomicUsize::new(0);
    // A chunk is verified in the time that a thread needs to begin.
    let done = in_threads(threads.min(file.chunks().div_ceil(2)), || {
        while let Some(chunk) =
            Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&at| at < file.chunks())
        {
            file.verify_chunk(chunk)?;
        }
        Ok(())
    });
    done.map(drop)
}
