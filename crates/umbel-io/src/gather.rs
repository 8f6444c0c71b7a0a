//! Keeping the hashes of keys until their number is known: in memory, then in a temporary file.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use umbel::distinct::Distinct;
use umbel::hash::xxh3;

use crate::batch::CHUNK;
use crate::{Batch, Error, Result, lock};

/// Where hashes go that do not fit in memory. All threads share one.
#[derive(Debug)]
pub(crate) struct Spill {
    /// Bytes that may still be kept in memory.
    left: AtomicUsize,
    file: Mutex<Option<BufWriter<File>>>,
}

impl Spill {
    /// Keeps at most this many bytes in memory.
    pub(crate) fn new(memory: usize) -> Spill {
        Spill { left: AtomicUsize::new(memory), file: Mutex::new(None) }
    }

    /// Whether this many more bytes may be kept.
    fn reserve(&self, bytes: usize) -> bool {
        let take = |left: usize| left.checked_sub(bytes);
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }

    /// Writes hashes of a thread's group to the file.
    fn write(&self, thread: usize, group: usize, hashes: &[u64]) -> Result<()> {
        let mut file = lock(&self.file);
        let write = |file: &mut Option<BufWriter<File>>| -> std::io::Result<()> {
            let out = match file {
                Some(out) => out,
                none => none.insert(BufWriter::with_capacity(1 << 20, tempfile::tempfile()?)),
            };
            let head = [thread as u64, group as u64, hashes.len() as u64];
            out.write_all(bytemuck::cast_slice(&head))?;
            out.write_all(bytemuck::cast_slice(hashes))
        };
        write(&mut file)
            .map_err(Error::io("a temporary file (--memory sets how much is kept in memory)"))
    }

    /// Hands out everything that was written, piece by piece: thread, group, hashes.
    pub(crate) fn read(
        self,
        mut take: impl FnMut(usize, usize, &[u64]) -> Result<()>,
    ) -> Result<()> {
        let Some(out) = self.file.into_inner().unwrap_or_else(PoisonError::into_inner) else {
            return Ok(());
        };
        let name = "a temporary file";
        let mut file = out.into_inner().map_err(|failed| Error::io(name)(failed.into_error()))?;
        file.rewind().map_err(Error::io(name))?;
        let mut file = BufReader::with_capacity(1 << 20, file);
        let mut hashes = Vec::new();
        let mut head = [0u64; 3];
        loop {
            match file.read_exact(bytemuck::cast_slice_mut(&mut head)) {
                Err(end) if end.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(()),
                other => other.map_err(Error::io(name))?,
            }
            hashes.resize(head[2] as usize, 0);
            file.read_exact(bytemuck::cast_slice_mut(&mut hashes)).map_err(Error::io(name))?;
            take(head[0] as usize, head[1] as usize, &hashes)?;
        }
    }
}

/// What a thread knows of one group: its rows and distinct keys, and the hashes of its keys.
#[derive(Debug, Default)]
pub(crate) struct Part {
    pub(crate) distinct: Distinct,
    pub(crate) hashes: Vec<u64>,
}

/// What a thread gathers: a part for each group in the order of their coming; one part when there are no groups.
#[derive(Debug)]
pub(crate) struct Gather<'a> {
    pub(crate) thread: usize,
    pub(crate) parts: Vec<Part>,
    /// Where hashes go; none counts only.
    spill: Option<&'a Spill>,
    /// The seed of the filter's hash. The count takes seed 0 whatever the filter does.
    seed: u64,
}

impl<'a> Gather<'a> {
    pub(crate) fn new(thread: usize, spill: Option<&'a Spill>, seed: u64) -> Gather<'a> {
        Gather { thread, parts: Vec::new(), spill, seed }
    }

    pub(crate) fn take(&mut self, batch: &Batch) -> Result<()> {
        let groups = batch.groups();
        batch.for_each_chunk(|first, keys| {
            let mut hashes = [0; CHUNK];
            let hashes = &mut hashes[..keys.len()];
            hashes.iter_mut().zip(keys).for_each(|(hash, key)| *hash = xxh3(key, 0));
            if groups.is_empty() {
                self.part(0).distinct.insert_hashes(hashes);
            } else {
                for (&hash, &group) in hashes.iter().zip(&groups[first..]) {
                    self.part(group as usize).distinct.insert_hash(hash);
                }
            }
            if self.spill.is_none() {
                return Ok(());
            }
            if self.seed != 0 {
                let seed = self.seed;
                hashes.iter_mut().zip(keys).for_each(|(hash, key)| *hash = xxh3(key, seed));
            }
            if groups.is_empty() {
                return self.keep(0, hashes);
            }
            hashes
                .iter()
                .zip(&groups[first..])
                .try_for_each(|(&hash, &group)| self.keep(group as usize, &[hash]))
        })
    }

    fn part(&mut self, group: usize) -> &mut Part {
        if group >= self.parts.len() {
            self.parts.resize_with(group + 1, Part::default);
        }
        &mut self.parts[group]
    }

    /// Keeps hashes, in memory as long as there is room. Room is asked for when the vector must grow.
    #[inline]
    fn keep(&mut self, group: usize, hashes: &[u64]) -> Result<()> {
        let (thread, spill) = (self.thread, self.spill);
        let kept = &mut self.part(group).hashes;
        if let Some(spill) = spill.filter(|_| kept.len() + hashes.len() > kept.capacity()) {
            let more = kept.capacity().max(hashes.len()).max(16);
            if spill.reserve(8 * more) {
                kept.reserve_exact(more);
            } else {
                spill.write(thread, group, kept)?;
                kept.clear();
            }
        }
        kept.extend_from_slice(hashes);
        Ok(())
    }
}
