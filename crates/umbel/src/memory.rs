//! The lines of bits and where they live: on the heap, in huge pages, or in a mapped file.

use std::ops::{Deref, Range};
use std::ptr::NonNull;
use std::sync::Arc;

use memmap2::{Mmap, MmapMut};

use crate::{Error, Result};

#[cfg(target_endian = "big")]
compile_error!("umbel maps little-endian files as they are: it needs a little-endian machine");

/// One cache line of bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub struct Line(pub(crate) [u64; 8]);

/// Bytes in a line.
pub(crate) const LINE_BYTES: usize = size_of::<Line>();

/// From this size on, memory comes from the system as zero pages, huge ones if it has them: they are worth
/// 1.2 to 1.7 times the speed on large filters, and only cost time on small ones.
const LARGE: usize = 4 << 20;

/// Lines copied at a time out of a mapped file: 1 MiB.
const PIECE: usize = (1 << 20) / LINE_BYTES;

/// Lines that belong to someone: read them through `Deref`, write them through [`Memory::lines_mut`].
pub(crate) struct Memory {
    /// Points at `len` lines inside `owner` (or at the heap block itself), for as long as `owner` lives.
    lines: NonNull<Line>,
    len: usize,
    /// `len`, or 0 when the lines lie in a mapped file: one test tells an insert that there is a line to write.
    writable: usize,
    owner: Owner,
}

enum Owner {
    Heap,
    Pages { _pages: MmapMut },
    File { _map: Arc<Mmap> },
}

// SAFETY: `Memory` owns its lines like a `Box<[Line]>` (or shares them read-only through an `Arc`);
// they are only written through `&mut self`.
unsafe impl Send for Memory {}
// SAFETY: as above; `&Memory` gives only `&[Line]`.
unsafe impl Sync for Memory {}

impl Memory {
    /// `len` lines of zeros.
    pub(crate) fn zeroed(len: usize) -> Result<Memory> {
        let bytes = len.checked_mul(LINE_BYTES).ok_or_else(|| no_memory(len))?;
        if bytes < LARGE {
            let mut heap = Vec::new();
            heap.try_reserve_exact(len).map_err(|_| no_memory(len))?;
            heap.resize(len, Line([0; 8]));
            return Ok(Memory::from_heap(heap.into_boxed_slice()));
        }
        let mut pages = MmapMut::map_anon(bytes).map_err(|_| no_memory(len))?;
        // Advice only: a system without huge pages serves small ones.
        #[cfg(target_os = "linux")]
        let _ = pages.advise(memmap2::Advice::HugePage);
        // A mapping begins on a page, so it is aligned for lines.
        let lines = NonNull::new(pages.as_mut_ptr().cast()).ok_or_else(|| no_memory(len))?;
        Ok(Memory { lines, len, writable: len, owner: Owner::Pages { _pages: pages } })
    }

    /// The lines in this range of bytes of a mapped file. The range must begin and end on a multiple of 64.
    pub(crate) fn mapped(map: Arc<Mmap>, bytes: Range<usize>) -> Result<Memory> {
        let slice = map.get(bytes).ok_or_else(|| Error::Format("the file is too short".into()))?;
        let lines: &[Line] = bytemuck::try_cast_slice(slice)
            .map_err(|_| Error::Format("the body does not lie on a 64-byte boundary".into()))?;
        let (lines, len) = (NonNull::from(lines).cast(), lines.len());
        Ok(Memory { lines, len, writable: 0, owner: Owner::File { _map: map } })
    }

    fn from_heap(lines: Box<[Line]>) -> Memory {
        let len = lines.len();
        let lines = NonNull::from(Box::leak(lines)).cast();
        Memory { lines, len, writable: len, owner: Owner::Heap }
    }

    /// The lines, to be written. Lines of a mapped file are copied into memory first.
    #[inline(always)]
    pub(crate) fn lines_mut(&mut self) -> &mut [Line] {
        if self.writable == 0 {
            self.copy();
        }
        // SAFETY: `lines` points at `writable` initialised lines that `self` alone owns (not mapped), and
        // `&mut self` is held for the result's lifetime.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_ptr(), self.writable) }
    }

    /// The lines, if there are any that can be written as they are.
    #[inline(always)]
    pub(crate) fn writable(&mut self) -> Option<&mut [Line]> {
        (self.writable != 0).then(|| self.lines_mut())
    }

    #[cold]
    fn copy(&mut self) {
        if self.is_mapped() {
            *self = self.clone();
        }
    }

    /// The lines in memory of their own. Pages of a mapped file are let go as they are copied, so that file and copy
    /// together take hardly more than one of them.
    pub(crate) fn into_memory(self) -> Memory {
        let Owner::File { _map: map } = &self.owner else { return self };
        let mut copy = self.zeroed_alike();
        let mut offset = self.lines.as_ptr() as usize - map.as_ptr() as usize;
        for (to, from) in copy.lines_mut().chunks_mut(PIECE).zip(self.chunks(PIECE)) {
            to.copy_from_slice(from);
            let len = size_of_val(from);
            #[cfg(unix)]
            if from.len() == PIECE {
                // SAFETY: a read-only mapping of a file has nothing to lose: its pages come back when they are asked for.
                // Advice only: where it is refused, the pages stay for a while.
                let _ = unsafe {
                    map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, offset, len)
                };
            }
            offset += len;
        }
        copy
    }

    /// As many lines of zeros. Like a `Vec`, it ends the program when there is no memory.
    fn zeroed_alike(&self) -> Memory {
        let Ok(zeroed) = Memory::zeroed(self.len) else {
            std::alloc::handle_alloc_error(std::alloc::Layout::for_value::<[Line]>(self));
        };
        zeroed
    }

    /// Whether the lines lie in a mapped file.
    #[inline]
    pub(crate) fn is_mapped(&self) -> bool {
        matches!(self.owner, Owner::File { .. })
    }
}

/// The same lines in memory of their own.
impl Clone for Memory {
    fn clone(&self) -> Memory {
        let mut copy = self.zeroed_alike();
        copy.lines_mut().copy_from_slice(self);
        copy
    }
}

impl Deref for Memory {
    type Target = [Line];

    #[inline(always)]
    fn deref(&self) -> &[Line] {
        // SAFETY: `lines` points at `len` initialised lines that live as long as `owner`, hence as `self`.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr(), self.len) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if matches!(self.owner, Owner::Heap) {
            let lines = std::ptr::slice_from_raw_parts_mut(self.lines.as_ptr(), self.len);
            // SAFETY: a heap block came from `Box::leak` of a boxed slice of this length and is freed once.
            drop(unsafe { Box::from_raw(lines) });
        }
    }
}

fn no_memory(lines: usize) -> Error {
    Error::Sizing(format!(
        "there is not enough memory for {} bytes of filter: ask for fewer keys or a higher rate",
        lines as u128 * LINE_BYTES as u128
    ))
}
