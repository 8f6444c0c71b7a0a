//! Keys by their fingerprint, in buckets that can be looked at one by one: distinct keys at any scale in bounded memory.
//!
//! A record goes to the bucket that the first bits of its hash name, so that all records of a key meet in one bucket. What does
//! not fit in memory goes to a temporary file.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::{Error, Result, lock};

/// How many buckets.
pub(crate) const BUCKETS: usize = 256;
/// What messages call the file.
const NAME: &str = "a temporary file (--memory sets how much is kept in memory)";

/// One row: the fingerprint of its key (two independent hashes), what it says of the key, and answers known already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct Record {
    pub(crate) hash: u64,
    pub(crate) second: u64,
    pub(crate) tag: u64,
    pub(crate) answers: u64,
}

/// Where all threads put records that do not fit in memory.
#[derive(Debug)]
pub(crate) struct Store {
    left: AtomicUsize,
    file: Mutex<Spilled>,
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
        Store { left: AtomicUsize::new(memory), file: Mutex::default() }
    }

    fn reserve(&self, bytes: usize) -> bool {
        let take = |left: usize| left.checked_sub(bytes);
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }

    fn spill(&self, bucket: usize, records: &[Record]) -> Result<()> {
        let spilled = &mut *lock(&self.file);
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

    /// All records of one bucket that are not in memory.
    fn unspill(&self, bucket: usize, into: &mut Vec<Record>) -> Result<()> {
        let spilled = &mut *self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(file) = &mut spilled.file else { return Ok(()) };
        for &(_, place, len) in spilled.pieces.iter().filter(|(found, _, _)| *found == bucket) {
            let start = into.len();
            into.resize(start + len, bytemuck::Zeroable::zeroed());
            file.seek(SeekFrom::Start(place)).map_err(Error::io(NAME))?;
            file.read_exact(bytemuck::cast_slice_mut(&mut into[start..]))
                .map_err(Error::io(NAME))?;
        }
        Ok(())
    }

    /// The records of one bucket, from all threads and the file, sorted.
    pub(crate) fn bucket(&self, bucket: usize, threads: &[Buckets]) -> Result<Vec<Record>> {
        let mut records =
            Vec::with_capacity(threads.iter().map(|buckets| buckets.0[bucket].len()).sum());
        threads.iter().for_each(|buckets| records.extend_from_slice(&buckets.0[bucket]));
        self.unspill(bucket, &mut records)?;
        records.sort_unstable();
        Ok(records)
    }
}

impl Buckets {
    pub(crate) fn new() -> Buckets {
        Buckets(vec![Vec::new(); BUCKETS])
    }

    #[inline]
    pub(crate) fn push(&mut self, record: Record, store: &Store) -> Result<()> {
        let bucket = (record.hash >> 56) as usize;
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
