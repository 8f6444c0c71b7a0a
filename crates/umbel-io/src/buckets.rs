//! The fingerprints of keys in buckets, in bounded memory.
//!
//! A key goes to the bucket that the first bits of its hash name. What does not fit in memory goes to a temporary file.

use std::fs::File;
use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use umbel::hash::xxh3;

use crate::positioned::read_exact_at;
use crate::shelf::unspilled;
use crate::{Result, lock};

/// How many buckets: few enough that their ends stay in the cache while keys come in.
pub(crate) const BUCKETS: usize = 256;
/// Records that a bucket has room for, once it has any.
const LEAST: usize = 64;
/// The fingerprint of a key: two of 10^9 keys share it with probability 10^-20.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, bytemuck::Pod, bytemuck::Zeroable,
)]
#[repr(transparent)]
pub(crate) struct Record(u128);

impl Record {
    #[inline]
    pub(crate) fn of_key(key: &[u8]) -> Record {
        Record(u128::from(xxh3(key, 0)) << 64 | u128::from(xxh3(key, !0)))
    }

    pub(crate) fn hash(self) -> u64 {
        (self.0 >> 64) as u64
    }

    /// Where it should stand among the `len` records of its bucket, were they spread evenly.
    pub(crate) fn place(self, len: usize) -> usize {
        let fraction = self.hash() << BUCKETS.trailing_zeros();
        ((u128::from(fraction) * len as u128) >> 64) as usize
    }

    /// The bucket that it belongs to.
    pub(crate) fn bucket(self) -> usize {
        (self.0 >> (128 - BUCKETS.trailing_zeros())) as usize
    }
}

/// Where all threads put records that do not fit in memory.
#[derive(Debug)]
pub(crate) struct Store {
    left: AtomicUsize,
    spilled: Mutex<Spilled>,
}

#[derive(Debug, Default)]
struct Spilled {
    file: Option<File>,
    /// For each bucket the pieces of it: place in the file, number of records.
    pieces: Vec<Vec<(u64, usize)>>,
    end: u64,
}

/// The records of one thread.
#[derive(Debug)]
pub(crate) struct Buckets(Vec<Vec<Record>>);

impl Store {
    /// Keeps at most this many bytes in memory.
    pub(crate) fn new(memory: usize) -> Store {
        Store { left: AtomicUsize::new(memory), spilled: Mutex::default() }
    }

    /// Asks for memory for so many records; whether there is any left.
    pub(crate) fn reserve(&self, records: usize) -> bool {
        let take = |left: usize| left.checked_sub(records * size_of::<Record>());
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }

    /// Gives memory back.
    pub(crate) fn release(&self, records: usize) {
        self.left.fetch_add(records * size_of::<Record>(), Ordering::Relaxed);
    }

    fn spill(&self, bucket: usize, records: &[Record]) -> Result<()> {
        let spilled = &mut *lock(&self.spilled);
        let file = match &mut spilled.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile().map_err(unspilled)?),
        };
        let bytes: &[u8] = bytemuck::cast_slice(records);
        file.write_all(bytes).map_err(unspilled)?;
        spilled.pieces.resize(BUCKETS, Vec::new());
        spilled.pieces[bucket].push((spilled.end, records.len()));
        spilled.end += bytes.len() as u64;
        Ok(())
    }

    /// Adds the records of one bucket that are not in memory.
    fn unspill(&self, bucket: usize, into: &mut Vec<Record>) -> Result<()> {
        let spilled = lock(&self.spilled);
        let Some(file) = &spilled.file else { return Ok(()) };
        for &(place, len) in spilled.pieces.get(bucket).into_iter().flatten() {
            let start = into.len();
            into.resize(start + len, Record(0));
            let bytes = bytemuck::cast_slice_mut(&mut into[start..]);
            read_exact_at(file, bytes, place).map_err(unspilled)?;
        }
        Ok(())
    }

    /// Puts the records of one bucket, what the threads kept of it and what is in the file, into `records`: each once, sorted.
    pub(crate) fn bucket<'r>(
        &self,
        bucket: usize,
        kept: impl Iterator<Item = &'r [Record]>,
        records: &mut Vec<Record>,
    ) -> Result<()> {
        records.clear();
        kept.for_each(|kept| records.extend_from_slice(kept));
        self.unspill(bucket, records)?;
        records.sort_unstable();
        records.dedup();
        Ok(())
    }
}

impl Buckets {
    pub(crate) fn new() -> Buckets {
        Buckets(vec![Vec::new(); BUCKETS])
    }

    /// Takes out what was kept of one bucket.
    pub(crate) fn take(&mut self, bucket: usize) -> Vec<Record> {
        std::mem::take(&mut self.0[bucket])
    }

    #[inline]
    pub(crate) fn push(&mut self, record: Record, store: &Store) -> Result<()> {
        let bucket = record.bucket();
        let records = &mut self.0[bucket];
        if records.len() == records.capacity() {
            let more = records.capacity().max(LEAST);
            // The least is taken whether there is memory left or not: a file is not written record by record.
            if store.reserve(more) || records.capacity() == 0 {
                records.reserve_exact(more);
            } else {
                store.spill(bucket, records)?;
                records.clear();
            }
        }
        records.push(record);
        Ok(())
    }
}
