//! The loops for 256-bit vectors: a line is two of them.

use std::arch::x86_64::*;

use super::block::{Ahead, BLOCK, Block, FEW, Few};
use super::generic::{self, Lanes};
pub(super) use super::inline::halves::{contains, contains_u64, insert, insert_u64};
use super::{Source, Window, alike, quads};
use crate::hash::xxh3;
use crate::memory::Line;

pub(super) fn is_available() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
}

struct Halves;

impl Lanes for Halves {
    type Mask = [__m256i; 2];
    const ALL: u8 = 0xF;

    #[inline(always)]
    fn mask(g: u64) -> [__m256i; 2] {
        // SAFETY: called only from the functions below, which have AVX2.
        unsafe { lefts(g) }
    }

    #[inline(always)]
    fn test(line: &Line, mask: [__m256i; 2]) -> u8 {
        // SAFETY: called only from the functions below, which have AVX2.
        unsafe { test(line, mask) }
    }

    #[inline(always)]
    fn set(line: &mut Line, g: u64) -> u8 {
        // SAFETY: called only from the functions below, which have AVX2.
        unsafe { set(line, g) }
    }

    #[inline(always)]
    fn all(tests: &[u8; BLOCK]) -> u64 {
        // SAFETY: called only from the functions below, which have AVX2.
        unsafe { all(tests) }
    }

    #[inline(always)]
    unsafe fn test_block(first: *const Line, block: &Block, ahead: Ahead<'_>) -> u64 {
        // SAFETY: called only from the functions below, which have AVX2; the rest is the caller's promise.
        unsafe { test_block(first, block, ahead) }
    }

    #[inline(always)]
    unsafe fn set_block(first: *mut Line, block: &Block, ahead: Ahead<'_>) -> u64 {
        // SAFETY: called only from the functions below, which have AVX2; the rest is the caller's promise.
        unsafe { set_block(first, block, ahead) }
    }

    #[inline(always)]
    unsafe fn fill_block(first: *mut Line, block: &Block, ahead: Ahead<'_>) {
        // SAFETY: called only from the functions below, which have AVX2; the rest is the caller's promise.
        unsafe { fill_block(first, block, ahead) }
    }

    #[inline(always)]
    fn place(hashes: &[u64; FEW], total: u32, few: &mut Few) {
        // SAFETY: called only from the functions below, which have AVX2.
        unsafe { quads::place(hashes, total, few) }
    }

    #[inline(always)]
    fn place_integers(keys: &[u64; BLOCK], secret: u64, total: u32, block: &mut Block) {
        // SAFETY: called only from the functions below, which have AVX2.
        unsafe { quads::place_integers(keys, secret, total, block) }
    }

    #[inline(always)]
    fn hash_each<'k>(key: impl Fn(usize) -> &'k [u8], seed: u64, hashes: &mut [u64]) {
        if let Ok(hashes) = <&mut [u64; FEW]>::try_from(&mut *hashes)
            // SAFETY: called only from the functions below, which have AVX2.
            && unsafe { alike::hash(&key, seed, hashes) }
        {
            return;
        }
        for (i, hash) in hashes.iter_mut().enumerate() {
            *hash = xxh3(key(i), seed);
        }
    }
}

/// How far the bits of words 0 to 3 and 4 to 7 are from the top.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn lefts(g: u64) -> [__m256i; 2] {
    let g = _mm256_set1_epi64x(g as i64);
    let shifts = [_mm256_setr_epi64x(16, 22, 28, 34), _mm256_setr_epi64x(40, 46, 52, 58)];
    shifts.map(|shifts| _mm256_andnot_si256(_mm256_srlv_epi64(g, shifts), _mm256_set1_epi64x(63)))
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn halves(line: &Line) -> [__m256i; 2] {
    let half: *const __m256i = line.0.as_ptr().cast();
    // SAFETY: a line is 64 aligned bytes: two aligned halves.
    unsafe { [_mm256_load_si256(half), _mm256_load_si256(half.add(1))] }
}

/// The bits are brought to the top of their words, where one instruction collects them.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn test(line: &Line, lefts: [__m256i; 2]) -> u8 {
    let [a, b] = halves(line);
    let tops = _mm256_and_si256(_mm256_sllv_epi64(a, lefts[0]), _mm256_sllv_epi64(b, lefts[1]));
    _mm256_movemask_pd(_mm256_castsi256_pd(tops)) as u8
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn set(line: &mut Line, g: u64) -> u8 {
    let (lefts, top) = (lefts(g), _mm256_set1_epi64x(i64::MIN));
    let before = test(line, lefts);
    let [a, b] = halves(line);
    let half: *mut __m256i = line.0.as_mut_ptr().cast();
    // SAFETY: a line is 64 aligned bytes: two aligned halves.
    unsafe {
        _mm256_store_si256(half, _mm256_or_si256(a, _mm256_srlv_epi64(top, lefts[0])));
        _mm256_store_si256(half.add(1), _mm256_or_si256(b, _mm256_srlv_epi64(top, lefts[1])));
    }
    before
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn all(tests: &[u8; BLOCK]) -> u64 {
    let halves: [__m256i; 2] = bytemuck::cast(*tests);
    let [low, high] = halves.map(|half| {
        let equal = _mm256_cmpeq_epi8(half, _mm256_set1_epi8(Halves::ALL as i8));
        u64::from(_mm256_movemask_epi8(equal) as u32)
    });
    low | high << 32
}

// Functions of their own: within the loop over blocks the compiler has too few registers for them.

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline(never)]
unsafe fn test_block(first: *const Line, block: &Block, ahead: Ahead<'_>) -> u64 {
    // SAFETY: as the caller promises.
    unsafe { generic::test_block::<Halves>(first, block, ahead) }
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline(never)]
unsafe fn set_block(first: *mut Line, block: &Block, ahead: Ahead<'_>) -> u64 {
    // SAFETY: as the caller promises.
    unsafe { generic::set_block::<Halves>(first, block, ahead) }
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline(never)]
unsafe fn fill_block(first: *mut Line, block: &Block, ahead: Ahead<'_>) {
    // SAFETY: as the caller promises.
    unsafe { generic::fill_block::<Halves>(first, block, ahead) }
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) fn contains_batch(lines: &[Line], keys: &impl Source, found: &mut [u64]) {
    generic::contains_batch::<Halves>(lines, keys, found);
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) fn contains_together(filters: &[&[Line]], hashes: &[u64], found: &mut [u64]) {
    generic::contains_together::<Halves>(filters, hashes, found);
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) fn insert_batch(lines: &mut [Line], window: Window, keys: &impl Source) {
    generic::insert_batch::<Halves>(lines, window, keys);
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) fn insert_mask(lines: &mut [Line], keys: &impl Source, new: &mut [u64]) {
    generic::insert_mask::<Halves>(lines, keys, new);
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) fn hash_batch(keys: &[u64], seed: u64, hashes: &mut [u64]) {
    generic::hash_batch(keys, seed, hashes);
}
