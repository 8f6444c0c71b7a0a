//! The one place of this crate that uses vectors: where a byte stands in a text, 64 bytes at a time. One algorithm, compiled
//! for each instruction set that is worth it, chosen when the program runs.

use crate::split::{Places, Seen, ends_with, marks_with};

/// Adds the places where lines end, from `from` on, where one begins.
pub(crate) fn ends(bytes: &[u8], from: usize, found: &mut Places) -> Seen {
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

    /// The place of each bit of a mask, counted from `base` on; anything may be written behind the last. How many lines 64 bytes hold is
    /// nothing that a processor can foresee, so four places are written whether they are there or not.
    #[inline(always)]
    fn write(mut mask: u64, base: u32, places: &mut [u32; 64]) {
        for slots in places.as_chunks_mut::<4>().0 {
            for slot in slots {
                *slot = base.wrapping_add(mask.trailing_zeros());
                mask &= mask.wrapping_sub(1);
            }
            if mask == 0 {
                break;
            }
        }
    }
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

    use super::{Chunk, Places, Seen, ends_with, marks_with};

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
    pub(super) fn ends(bytes: &[u8], from: usize, found: &mut Places) -> Seen {
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

    use super::{Chunk, Places, Seen, ends_with, marks_with};

    pub(super) fn is_available() -> bool {
        is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vbmi2")
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

        #[inline(always)]
        fn write(mask: u64, base: u32, places: &mut [u32; 64]) {
            // SAFETY: called only from the functions below, which have AVX-512.
            unsafe { write(mask, base, places) }
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,popcnt")]
    #[inline]
    fn mask(chunk: &[u8; 64], wanted: u8) -> u64 {
        // SAFETY: 64 bytes are read.
        let bytes = unsafe { _mm512_loadu_si512(chunk.as_ptr().cast()) };
        _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(wanted as i8))
    }

    /// The numbers of the bytes of a chunk.
    const NUMBERS: [u8; 64] = {
        let mut numbers = [0; 64];
        let mut i = 0;
        while i < 64 {
            numbers[i] = i as u8;
            i += 1;
        }
        numbers
    };

    /// Sixteen places at once: one instruction picks the numbers of all bits.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,popcnt")]
    #[inline]
    fn write(mask: u64, base: u32, places: &mut [u32; 64]) {
        // SAFETY: 64 bytes are read.
        let numbers = unsafe { _mm512_loadu_si512(NUMBERS.as_ptr().cast()) };
        let picked = _mm512_maskz_compress_epi8(mask, numbers);
        let first = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(picked));
        let first = _mm512_add_epi32(first, _mm512_set1_epi32(base as i32));
        // SAFETY: there is room for sixteen.
        unsafe { _mm512_storeu_si512(places.as_mut_ptr().cast(), first) };
        if mask.count_ones() > 16 {
            let mut numbers = [0u8; 64];
            // SAFETY: there is room for 64 bytes.
            unsafe { _mm512_storeu_si512(numbers.as_mut_ptr().cast(), picked) };
            for (place, number) in places.iter_mut().zip(numbers).skip(16) {
                *place = base.wrapping_add(u32::from(number));
            }
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,popcnt")]
    pub(super) fn ends(bytes: &[u8], from: usize, found: &mut Places) -> Seen {
        ends_with::<Whole>(bytes, from, found)
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,popcnt")]
    pub(super) fn marks(bytes: &[u8], from: usize, ends: &[u32], wanted: u8, found: &mut Vec<u64>) {
        marks_with::<Whole>(bytes, from, ends, wanted, found);
    }
}
