//! Distinct keys at any scale in bounded memory: rows by the fingerprint of their key, in buckets looked at one by one.
//!
//! A row goes to the bucket that the first bits of its hash name, so that all rows of a key meet in one bucket. What does not fit
//! in memory goes to a temporary file.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{Error, Result, lock};

/// How many buckets: few enough that their ends stay in the cache while rows come in, enough that those of some million rows fit the
/// cache when they are looked at.
pub(crate) const BUCKETS: usize = 256;
/// What messages call the file.
const NAME: &str = "a temporary file (--memory sets how much is kept in memory)";

/// One row: the fingerprint of its key, and what it says of the key (a tag).
///
/// The fingerprint is the filter's own hash and 32 bits of an independent one. Two of 10^9 different keys share it with
/// probability 10^-11.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub(crate) struct Record(u128);

impl Record {
    #[inline]
    pub(crate) fn new(hash: u64, second: u32, tag: u32) -> Record {
        Record(u128::from(hash) << 64 | u128::from(second) << 32 | u128::from(tag))
    }

    pub(crate) fn hash(self) -> u64 {
        (self.0 >> 64) as u64
    }

    pub(crate) fn tag(self) -> u32 {
        self.0 as u32
    }

    /// Whether both speak of the same key.
    pub(crate) fn same_key(&self, other: &Record) -> bool {
        self.0 >> 32 == other.0 >> 32
    }

    fn bucket(self) -> usize {
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
    /// Bucket, place in the file, number of records.
    pieces: Vec<(usize, u64, usize)>,
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

    fn reserve(&self, bytes: usize) -> bool {
        let take = |left: usize| left.checked_sub(bytes);
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }

    fn spill(&self, bucket: usize, records: &[Record]) -> Result<()> {
        let spilled = &mut *lock(&self.spilled);
        let file = match &mut spilled.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile().map_err(Error::io(NAME))?),
        };
        let bytes: &[u8] = bytemuck::cast_slice(records);
        file.write_all(bytes).map_err(Error::io(NAME))?;
        spilled.pieces.push((bucket, spilled.end, records.len()));
        spilled.end += bytes.len() as u64;
        Ok(())
    }

    /// Adds the records of one bucket that are not in memory.
    fn unspill(&self, bucket: usize, into: &mut Vec<Record>) -> Result<()> {
        let spilled = &mut *lock(&self.spilled);
        let Some(file) = &mut spilled.file else { return Ok(()) };
        for &(_, place, len) in spilled.pieces.iter().filter(|(found, _, _)| *found == bucket) {
            let start = into.len();
            into.resize(start + len, Record(0));
            file.seek(SeekFrom::Start(place)).map_err(Error::io(NAME))?;
            let bytes = bytemuck::cast_slice_mut(&mut into[start..]);
            file.read_exact(bytes).map_err(Error::io(NAME))?;
        }
        Ok(())
    }

    /// Puts the records of one bucket, from all threads and the file, into `records`: each once, sorted.
    pub(crate) fn bucket(
        &self,
        bucket: usize,
        threads: &[Buckets],
        records: &mut Vec<Record>,
    ) -> Result<()> {
        records.clear();
        threads.iter().for_each(|buckets| records.extend_from_slice(&buckets.0[bucket]));
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

    #[inline]
    pub(crate) fn push(&mut self, record: Record, store: &Store) -> Result<()> {
        let bucket = record.bucket();
        let records = &mut self.0[bucket];
        if records.len() == records.capacity() {
            let more = records.capacity().max(64);
            if store.reserve(more * size_of::<Record>()) {
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
