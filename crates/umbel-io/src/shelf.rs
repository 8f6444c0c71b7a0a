//! Values kept by bin (a bucket, a group) until all have come: in memory, in large pages, then in a temporary file.
//!
//! A thread gathers the values of a bin until they make a run of two kibibytes, and puts the run down where there is room next. So memory
//! is taken in order, whatever the number of bins, and never moved. When there is no more, the runs are written to a
//! file, those of a bin together.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytemuck::Pod;
use memmap2::MmapMut;

use crate::positioned::read_exact_at;
use crate::{Error, Result, lock};

/// Bytes in a run.
const RUN: usize = 1 << 11;
/// Bytes in a page, at most: enough for some of the system's huge pages.
const PAGE: usize = 8 << 20;
/// Values that a bin has room for, once it has any.
const LEAST: usize = 16;
/// Values read from the file at once.
const PIECE: usize = 1 << 16;

/// A failure of the temporary file, which says where it stands.
pub(crate) fn unspilled(source: io::Error) -> Error {
    let folder = std::env::temp_dir();
    let name = format!(
        "a temporary file in {} (TMPDIR names the folder, --memory sets how much is kept in memory)",
        folder.display()
    );
    Error::Io { name, source }
}

/// The memory and the file that all threads share.
#[derive(Debug)]
pub(crate) struct Store {
    /// Bytes that may still be kept in memory.
    left: AtomicUsize,
    page: usize,
    file: Mutex<Option<Spilled>>,
}

#[derive(Debug)]
struct Spilled {
    out: BufWriter<File>,
    end: u64,
}

impl Store {
    /// Keeps at most this many bytes in memory.
    pub(crate) fn new(memory: usize) -> Store {
        let page = (memory / 64).clamp(RUN, PAGE) / RUN * RUN;
        Store { left: AtomicUsize::new(memory), page, file: Mutex::new(None) }
    }

    /// Whether this many more bytes may be kept.
    fn reserve(&self, bytes: usize) -> bool {
        let take = |left: usize| left.checked_sub(bytes);
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }

    /// Writes values to the end of the file; returns where they begin.
    fn write<'v, T: Pod>(&self, parts: impl Iterator<Item = &'v [T]>) -> Result<u64> {
        let mut file = lock(&self.file);
        let write = || {
            let spilled = match &mut *file {
                Some(spilled) => spilled,
                none => {
                    let out = BufWriter::with_capacity(1 << 20, tempfile::tempfile()?);
                    none.insert(Spilled { out, end: 0 })
                }
            };
            let start = spilled.end;
            for part in parts {
                spilled.out.write_all(bytemuck::cast_slice(part))?;
                spilled.end += size_of_val(part) as u64;
            }
            Ok(start)
        };
        write().map_err(unspilled)
    }

    /// The file with all that was written, if anything was.
    fn written(&self) -> Result<Option<File>> {
        let mut file = lock(&self.file);
        let Some(spilled) = &mut *file else { return Ok(None) };
        let read = spilled.out.flush().and_then(|()| spilled.out.get_ref().try_clone());
        read.map(Some).map_err(unspilled)
    }
}

/// The values of one thread.
#[derive(Debug)]
pub(crate) struct Shelf<'s, T> {
    store: &'s Store,
    bins: Vec<Bin<T>>,
    pages: Vec<MmapMut>,
    /// Runs in the pages.
    used: usize,
    /// What is in the file, in its order.
    pieces: Vec<Piece>,
}

#[derive(Debug)]
struct Bin<T> {
    /// The run that is being gathered.
    open: Vec<T>,
    /// The runs that are in the pages, by number.
    runs: Vec<u32>,
}

/// Values of a bin that are in the file.
#[derive(Debug, Clone, Copy)]
struct Piece {
    bin: usize,
    place: u64,
    len: usize,
}

impl<'s, T: Pod> Shelf<'s, T> {
    /// Values in a run.
    const LEN: usize = RUN / size_of::<T>();

    pub(crate) fn new(store: &'s Store) -> Shelf<'s, T> {
        Shelf { store, bins: Vec::new(), pages: Vec::new(), used: 0, pieces: Vec::new() }
    }

    /// Makes sure that there are so many bins.
    #[inline]
    pub(crate) fn grow(&mut self, bins: usize) {
        if self.bins.len() < bins {
            self.bins.resize_with(bins, || Bin { open: Vec::new(), runs: Vec::new() });
        }
    }

    /// Keeps a value. The bin must be there.
    #[inline]
    pub(crate) fn push(&mut self, bin: usize, value: T) -> Result<()> {
        if self.bins[bin].open.len() == self.bins[bin].open.capacity() {
            self.make_room(bin)?;
        }
        self.bins[bin].open.push(value);
        Ok(())
    }

    /// Keeps several values.
    pub(crate) fn extend(&mut self, bin: usize, mut values: &[T]) -> Result<()> {
        while !values.is_empty() {
            if self.bins[bin].open.is_empty() && values.len() >= Self::LEN {
                let (run, rest) = values.split_at(Self::LEN);
                self.put_down(bin, run)?;
                values = rest;
                continue;
            }
            let open = &mut self.bins[bin].open;
            if open.len() == open.capacity() {
                self.make_room(bin)?;
                continue;
            }
            let (now, rest) = values.split_at(values.len().min(open.capacity() - open.len()));
            open.extend_from_slice(now);
            values = rest;
        }
        Ok(())
    }

    /// Makes room for a value in a bin that has none.
    #[cold]
    fn make_room(&mut self, bin: usize) -> Result<()> {
        let open = &mut self.bins[bin].open;
        if open.capacity() < Self::LEN {
            let more = open.capacity().max(LEAST).min(Self::LEN - open.capacity());
            // The least is taken whether there is memory left or not: a file is not written value by value.
            if self.store.reserve(more * size_of::<T>()) || open.capacity() == 0 {
                open.reserve_exact(more);
                return Ok(());
            }
        }
        let mut full = std::mem::take(open);
        match full.len() == Self::LEN {
            true => self.put_down(bin, &full)?,
            false => self.write(bin, &full)?,
        }
        full.clear();
        self.bins[bin].open = full;
        Ok(())
    }

    /// Puts a run into the next place of the pages.
    fn put_down(&mut self, bin: usize, run: &[T]) -> Result<()> {
        let a_page = self.store.page / RUN;
        if self.used == self.pages.len() * a_page && !self.add_page()? {
            if self.pages.is_empty() {
                return self.write(bin, run);
            }
            self.spill()?;
        }
        let (page, place) = (self.used / a_page, self.used % a_page);
        let bytes = &mut self.pages[page][place * RUN..(place + 1) * RUN];
        bytes.copy_from_slice(bytemuck::cast_slice(run));
        self.bins[bin].runs.push(self.used as u32);
        self.used += 1;
        Ok(())
    }

    fn add_page(&mut self) -> Result<bool> {
        if !self.store.reserve(self.store.page) {
            return Ok(false);
        }
        let page = MmapMut::map_anon(self.store.page).map_err(Error::io("memory"))?;
        // Advice only: a system without huge pages serves small ones.
        #[cfg(target_os = "linux")]
        let _ = page.advise(memmap2::Advice::HugePage);
        self.pages.push(page);
        Ok(true)
    }

    fn write(&mut self, bin: usize, values: &[T]) -> Result<()> {
        let place = self.store.write(std::iter::once(values))?;
        self.pieces.push(Piece { bin, place, len: values.len() });
        Ok(())
    }

    /// Writes all runs to the file, bin by bin; the pages can be used again.
    fn spill(&mut self) -> Result<()> {
        for bin in 0..self.bins.len() {
            if self.bins[bin].runs.is_empty() {
                continue;
            }
            let place = self.store.write(self.runs(bin))?;
            let len = self.bins[bin].runs.len() * Self::LEN;
            self.pieces.push(Piece { bin, place, len });
            self.bins[bin].runs.clear();
        }
        self.used = 0;
        Ok(())
    }

    /// The runs of a bin; those that stand together come together.
    fn runs(&self, bin: usize) -> impl Iterator<Item = &[T]> {
        let a_page = self.store.page / RUN;
        let together = move |a: &u32, b: &u32| a + 1 == *b && !(*b as usize).is_multiple_of(a_page);
        self.bins[bin].runs.chunk_by(together).map(move |runs| {
            let (page, place) = (runs[0] as usize / a_page, runs[0] as usize % a_page);
            bytemuck::cast_slice(&self.pages[page][place * RUN..(place + runs.len()) * RUN])
        })
    }

    /// What is in memory of a bin.
    pub(crate) fn kept(&self, bin: usize) -> impl Iterator<Item = &[T]> {
        let open = self.bins.get(bin).map(|bin| &bin.open[..]).unwrap_or_default();
        let runs = (bin < self.bins.len()).then(|| self.runs(bin));
        runs.into_iter().flatten().chain(std::iter::once(open))
    }

    /// Nothing more comes: what is in the file can be asked for.
    pub(crate) fn finish(mut self) -> Result<Kept<'s, T>> {
        self.pieces.sort_by_key(|piece| piece.bin);
        Ok(Kept { file: self.store.written()?, shelf: self })
    }
}

/// The values of one thread when all have come.
#[derive(Debug)]
pub(crate) struct Kept<'s, T> {
    shelf: Shelf<'s, T>,
    file: Option<File>,
}

impl<T: Pod> Kept<'_, T> {
    /// What is in memory of a bin.
    pub(crate) fn in_memory(&self, bin: usize) -> impl Iterator<Item = &[T]> {
        self.shelf.kept(bin)
    }

    /// Hands out what is in the file of a bin, some at a time.
    pub(crate) fn in_file(
        &self,
        bin: usize,
        mut take: impl FnMut(&[T]) -> Result<()>,
    ) -> Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let pieces = &self.shelf.pieces;
        let first = pieces.partition_point(|piece| piece.bin < bin);
        let mut values = Vec::new();
        for piece in pieces[first..].iter().take_while(|piece| piece.bin == bin) {
            for start in (0..piece.len).step_by(PIECE) {
                values.resize(PIECE.min(piece.len - start), T::zeroed());
                let place = piece.place + (start * size_of::<T>()) as u64;
                read_exact_at(file, bytemuck::cast_slice_mut(&mut values), place)
                    .map_err(unspilled)?;
                take(&values)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All values of a bin, sorted.
    fn values(kept: &Kept<u64>, bin: usize) -> Vec<u64> {
        let mut values: Vec<u64> = kept.in_memory(bin).flatten().copied().collect();
        let in_file = kept.in_file(bin, |more| {
            values.extend(more);
            Ok(())
        });
        in_file.unwrap();
        values.sort_unstable();
        values
    }

    /// Values of very unequal bins, one by one and in parts, in all kinds of memory.
    #[test]
    fn what_was_put_in_comes_out() {
        let bin = |value: u64| (value % 7 * (value % 11)) as usize;
        for memory in [0, 1000, 20_000, 1_000_000, 1 << 30] {
            let store = Store::new(memory);
            let (mut one_by_one, mut parts) = (Shelf::new(&store), Shelf::new(&store));
            one_by_one.grow(61);
            parts.grow(61);
            let mut sorted = vec![Vec::new(); 61];
            for value in 0..100_000 {
                one_by_one.push(bin(value), value).unwrap();
                sorted[bin(value)].push(value);
            }
            for (bin, values) in sorted.iter().enumerate() {
                let (some, others) = values.split_at(values.len().min(5));
                parts.extend(bin, some).unwrap();
                others.chunks(1000).for_each(|values| parts.extend(bin, values).unwrap());
            }
            let (one_by_one, parts) = (one_by_one.finish().unwrap(), parts.finish().unwrap());
            for (bin, expected) in sorted.iter().enumerate() {
                assert!(values(&one_by_one, bin) == *expected, "{memory}, bin {bin}");
                assert!(values(&parts, bin) == *expected, "{memory}, bin {bin}");
            }
            assert!(values(&parts, 1000).is_empty());
            assert_eq!(one_by_one.file.is_some(), memory <= 1_000_000, "{memory}");
        }
    }

    #[test]
    fn runs_that_stand_together_come_together() {
        let store = Store::new(1 << 30);
        let mut shelf = Shelf::new(&store);
        shelf.grow(1);
        let all: Vec<u64> = (0..3_000_000).collect();
        all.chunks(1000).for_each(|values| shelf.extend(0, values).unwrap());
        let parts: Vec<usize> = shelf.kept(0).map(<[u64]>::len).collect();
        assert_eq!(parts[..2], [PAGE / 8, PAGE / 8]);
        assert_eq!(parts.len(), 4);
        assert!(shelf.kept(0).flatten().eq(&all));
    }
}
