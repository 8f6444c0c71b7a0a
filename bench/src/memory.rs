//! Memory in huge pages, as umbel asks for it.

use memmap2::MmapMut;

/// One cache line.
pub type Line = [u64; 8];

/// Zeroed lines in huge pages where the system has them; small amounts in ordinary ones.
pub struct Pages {
    map: MmapMut,
}

impl Pages {
    pub fn new(bytes: usize) -> Pages {
        let lines = bytes.div_ceil(size_of::<Line>()).max(1);
        let mut map = MmapMut::map_anon(lines * size_of::<Line>()).expect("there is memory");
        if bytes >= 4 << 20 {
            let _ = map.advise(memmap2::Advice::HugePage);
        }
        map.fill(0);
        Pages { map }
    }

    pub fn lines(&self) -> &[Line] {
        let (ptr, len) = (self.map.as_ptr().cast(), self.map.len() / size_of::<Line>());
        // SAFETY: the mapping is page-aligned, initialised and lives as long as `self`.
        unsafe { std::slice::from_raw_parts(ptr, len) }
    }

    pub fn lines_mut(&mut self) -> &mut [Line] {
        let (ptr, len) = (self.map.as_mut_ptr().cast(), self.map.len() / size_of::<Line>());
        // SAFETY: as above, and `&mut self` is held.
        unsafe { std::slice::from_raw_parts_mut(ptr, len) }
    }

    pub fn as_ptr(&self) -> *const u8 {
        self.map.as_ptr()
    }

    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.map.as_mut_ptr()
    }

    pub fn len(&self) -> usize {
        self.map.len()
    }

    pub fn clear(&mut self) {
        self.map.fill(0);
    }
}

/// Asks for a line that will soon be needed.
#[inline(always)]
pub fn prefetch<T>(place: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}
