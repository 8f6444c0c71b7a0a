//! The one place of this crate that uses vectors: where a byte stands in a text, 64 bytes at a time. One algorithm, compiled
//! for each instruction set that is worth it, chosen when the program runs.

use crate::split::{Places, ends_with, marks_with};

/// Adds the places where lines end, from `from` on; tells whether a CR is there.
pub(crate) fn ends(bytes: &[u8], from: usize, found: &mut Places) -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        if avx512::is_available() {
            // SAFETY: the machine has it.
            return unsafe { avx512::ends(bytes, from, found) };
        }
        if avx2::is_available() {
            // SAFETY: the machine has it.
            return unsafe { avx2::ends(bytes, from, found) };
        }
    }
    ends_with::<Plain>(bytes, from, found)
}

/// For each line, of which the first begins at `from` and each ends at its place in `ends`: one bit for each of its first 64 bytes
/// that is `wanted`, and one for its end, the first byte that is no text of it.
pub(crate) fn marks(bytes: &[u8], from: usize, ends: &[u32], wanted: u8, found: &mut Vec<u64>) {
    #[cfg(target_arch = "x86_64")]
    {
        if avx512::is_available() {
            // SAFETY: the machine has it.
            return unsafe { avx512::marks(bytes, from, ends, wanted, found) };
        }
        if avx2::is_available() {
            // SAFETY: the machine has it.
            return unsafe { avx2::marks(bytes, from, ends, wanted, found) };
        }
    }
    marks_with::<Plain>(bytes, from, ends, wanted, found);
}

/// What an instruction set does with 64 bytes.
pub(crate) trait Chunk {
    /// One bit for each byte that is `wanted`.
    fn mask(chunk: &[u8; 64], wanted: u8) -> u64;
}

/// What every machine can do.
pub(crate) struct Plain;

#[cfg(target_arch = "x86_64")]
impl Chunk for Plain {
    #[inline(always)]
    fn mask(chunk: &[u8; 64], wanted: u8) -> u64 {
        use std::arch::x86_64::{__m128i, _mm_cmpeq_epi8, _mm_movemask_epi8, _mm_set1_epi8};
        let parts: [__m128i; 4] = bytemuck::cast(*chunk);
        let [a, b, c, d] = parts.map(|part| {
            // SAFETY: SSE2 belongs to every x86-64 machine.
            let mask =
                unsafe { _mm_movemask_epi8(_mm_cmpeq_epi8(part, _mm_set1_epi8(wanted as i8))) };
            u64::from(mask as u16)
        });
        a | b << 16 | c << 32 | d << 48
    }
}

#[cfg(not(target_arch = "x86_64"))]
impl Chunk for Plain {
    #[inline(always)]
    fn mask(chunk: &[u8; 64], wanted: u8) -> u64 {
        chunk.iter().enumerate().fold(0, |mask, (i, &byte)| mask | u64::from(byte == wanted) << i)
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    use super::{Chunk, Places, ends_with, marks_with};

    pub(super) fn is_available() -> bool {
        is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("popcnt")
    }

    struct Halves;

    impl Chunk for Halves {
        #[inline(always)]
        fn mask(chunk: &[u8; 64], wanted: u8) -> u64 {
            // SAFETY: called only from the functions below, which have AVX2.
            unsafe { mask(chunk, wanted) }
        }
    }

    #[target_feature(enable = "avx2,bmi1,popcnt")]
    #[inline]
    fn mask(chunk: &[u8; 64], wanted: u8) -> u64 {
        let parts: [__m256i; 2] = bytemuck::cast(*chunk);
        let [low, high] = parts.map(|part| {
            let equal = _mm256_cmpeq_epi8(part, _mm256_set1_epi8(wanted as i8));
            u64::from(_mm256_movemask_epi8(equal) as u32)
        });
        low | high << 32
    }

    #[target_feature(enable = "avx2,bmi1,popcnt")]
    pub(super) fn ends(bytes: &[u8], from: usize, found: &mut Places) -> bool {
        ends_with::<Halves>(bytes, from, found)
    }

    #[target_feature(enable = "avx2,bmi1,popcnt")]
    pub(super) fn marks(bytes: &[u8], from: usize, ends: &[u32], wanted: u8, found: &mut Vec<u64>) {
        marks_with::<Halves>(bytes, from, ends, wanted, found);
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::*;

    use super::{Chunk, Places, ends_with, marks_with};

    pub(super) fn is_available() -> bool {
        is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("popcnt")
    }

    struct Whole;

    impl Chunk for Whole {
        #[inline(always)]
        fn mask(chunk: &[u8; 64], wanted: u8) -> u64 {
            // SAFETY: called only from the functions below, which have AVX-512.
            unsafe { mask(chunk, wanted) }
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,bmi1,popcnt")]
    #[inline]
    fn mask(chunk: &[u8; 64], wanted: u8) -> u64 {
        // SAFETY: 64 bytes are read.
        let bytes = unsafe { _mm512_loadu_si512(chunk.as_ptr().cast()) };
        _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(wanted as i8))
    }

    #[target_feature(enable = "avx512f,avx512bw,bmi1,popcnt")]
    pub(super) fn ends(bytes: &[u8], from: usize, found: &mut Places) -> bool {
        ends_with::<Whole>(bytes, from, found)
    }

    #[target_feature(enable = "avx512f,avx512bw,bmi1,popcnt")]
    pub(super) fn marks(bytes: &[u8], from: usize, ends: &[u32], wanted: u8, found: &mut Vec<u64>) {
        marks_with::<Whole>(bytes, from, ends, wanted, found);
    }
}
