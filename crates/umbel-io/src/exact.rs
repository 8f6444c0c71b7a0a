//! The true set, to check what a filter admits: 128-bit fingerprints of the keys, sorted.
//!
//! Fingerprints stand in buckets by their first bits. A bucket that does not fit in memory is a piece of a temporary file, of
//! which every 256th fingerprint is kept: a look-up reads 4 KiB.

use std::fs::File;
use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::buckets::{BUCKETS, Buckets, Record, Store};
use crate::positioned::read_exact_at;
use crate::shelf::unspilled;
use crate::threads::in_threads;
use crate::{Batch, Driver, Result, Tally, lock};

/// Records in a page of the file.
const PAGE: usize = 256;

/// The keys of an input.
#[derive(Debug)]
pub struct ExactSet {
    buckets: Vec<Sorted>,
    file: Option<File>,
}

/// The records of a bucket, in order.
#[derive(Debug)]
enum Sorted {
    Memory(Vec<Record>),
    File {
        /// Where it begins in the file, in bytes.
        place: u64,
        len: usize,
        /// The first record of each page.
        first: Vec<Record>,
    },
}

impl ExactSet {
    /// Reads the keys of an input, of which at most `memory` bytes stay in memory.
    pub fn read(driver: &Driver, memory: usize) -> Result<(ExactSet, Tally)> {
        let store = Store::new(memory);
        let outcome = driver.run(
            Buckets::new,
            |buckets, batch| {
                batch
                    .rows()
                    .try_for_each(|row| buckets.push(Record::of_key(batch.key(&row)), &store))
            },
            |()| Ok(()),
        )?;
        let kept = outcome.partials.into_iter().map(|(buckets, _)| buckets).collect();
        Ok((ExactSet::sort(&store, kept, driver.threads)?, outcome.tally))
    }

    fn sort(store: &Store, kept: Vec<Buckets>, threads: usize) -> Result<ExactSet> {
        let (kept, file) = (Mutex::new(kept), Mutex::new(Writer::default()));
        let next = AtomicUsize::new(0);
        let parts = in_threads(threads, || {
            let (mut records, mut sorted) = (Vec::new(), Vec::new());
            loop {
                let bucket = next.fetch_add(1, Ordering::Relaxed);
                if bucket >= BUCKETS {
                    return Ok(sorted);
                }
                let taken: Vec<_> =
                    lock(&kept).iter_mut().map(|buckets| buckets.take(bucket)).collect();
                store.bucket(bucket, taken.iter().map(Vec::as_slice), &mut records)?;
                store.release(taken.iter().map(Vec::capacity).sum());
                drop(taken);
                sorted.push((bucket, Sorted::new(&records, store, &file)?));
            }
        })?;
        let mut sorted: Vec<_> = parts.into_iter().flatten().collect();
        sorted.sort_unstable_by_key(|(bucket, _)| *bucket);
        let buckets = sorted.into_iter().map(|(_, sorted)| sorted).collect();
        let writer = file.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        Ok(ExactSet { buckets, file: writer.file })
    }

    /// Whether the key is in the set.
    pub fn contains(&self, key: &[u8]) -> Result<bool> {
        let wanted = Record::of_key(key);
        match (&self.buckets[wanted.bucket()], &self.file) {
            (Sorted::Memory(records), _) => Ok(search(records, wanted)),
            (Sorted::File { place, len, first }, Some(file)) => {
                let Some(page) = first.partition_point(|&first| first <= wanted).checked_sub(1)
                else {
                    return Ok(false);
                };
                let mut records = [Record::default(); PAGE];
                let records = &mut records[..PAGE.min(len - page * PAGE)];
                let place = place + (page * PAGE * size_of::<Record>()) as u64;
                read_exact_at(file, bytemuck::cast_slice_mut(records), place).map_err(unspilled)?;
                Ok(records.binary_search(&wanted).is_ok())
            }
            (Sorted::File { .. }, None) => Ok(false),
        }
    }

    /// Clears the bits of keys that are not in the set.
    pub(crate) fn refine(&self, batch: &Batch, found: &mut [u64]) -> Result<()> {
        for (word, first) in found.iter_mut().zip((0..).step_by(64)) {
            let mut left = *word;
            while left != 0 {
                let at = left.trailing_zeros() as usize;
                left &= left - 1;
                if !self.contains(batch.key(&batch.row(first + at)))? {
                    *word &= !(1 << at);
                }
            }
        }
        Ok(())
    }
}

/// The file that buckets are written to.
#[derive(Default)]
struct Writer {
    file: Option<File>,
    end: u64,
}

impl Sorted {
    /// Keeps the records of a bucket where there is room for them.
    fn new(records: &[Record], store: &Store, writer: &Mutex<Writer>) -> Result<Sorted> {
        if records.is_empty() || store.reserve(records.len()) {
            return Ok(Sorted::Memory(records.to_vec()));
        }
        let place = lock(writer).write(records).map_err(unspilled)?;
        let first = records.iter().step_by(PAGE).copied().collect();
        Ok(Sorted::File { place, len: records.len(), first })
    }
}

impl Writer {
    /// Writes records at the end; returns where that was.
    fn write(&mut self, records: &[Record]) -> std::io::Result<u64> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        let bytes: &[u8] = bytemuck::cast_slice(records);
        file.write_all(bytes)?;
        self.end += bytes.len() as u64;
        Ok(self.end - bytes.len() as u64)
    }
}

/// Looks for a record among those of its bucket. Fingerprints are spread evenly: where one should be, it nearly is, and the
/// steps from there double until it is between two.
fn search(records: &[Record], wanted: Record) -> bool {
    let len = records.len();
    let guess = wanted.place(len);
    let mut step = 1;
    let range = if records.get(guess).is_some_and(|&found| found <= wanted) {
        while records.get(guess + step).is_some_and(|&found| found <= wanted) {
            step *= 2;
        }
        guess + step / 2..len.min(guess + step)
    } else {
        while guess >= step && records[guess - step] > wanted {
            step *= 2;
        }
        guess.saturating_sub(step)..guess.saturating_sub(step / 2)
    };
    records[range].binary_search(&wanted).is_ok()
}
