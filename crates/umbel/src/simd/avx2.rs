//! The loops for 256-bit vectors: a line is two of them.

use std::arch::x86_64::*;

use super::generic::{self, Lanes};
use super::{Source, Window};
use crate::hash::xxh3_u64_with;
use crate::memory::Line;

pub(super) fn is_available() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
}

struct Halves;

impl Lanes for Halves {
    type Mask = [__m256i; 2];

    #[inline(always)]
    fn mask(g: u64) -> [__m256i; 2] {
        // SAFETY: called only from the functions below, which have AVX2.
        unsafe { masks(g) }
    }

    #[inline(always)]
    fn lacks(line: &Line, mask: [__m256i; 2]) -> u8 {
        // SAFETY: called only from the functions below, which have AVX2.
        unsafe { lacks(line, mask) }
    }

    #[inline(always)]
    fn set(line: &mut Line, g: u64) -> u8 {
        // SAFETY: called only from the functions below, which have AVX2.
        unsafe { set(line, g) }
    }

    #[inline(always)]
    fn zeros(bytes: &[u8; 64]) -> u64 {
        // SAFETY: called only from the functions below, which have AVX2.
        unsafe { zeros(bytes) }
    }
}

/// The masks of words 0 to 3 and 4 to 7.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn masks(g: u64) -> [__m256i; 2] {
    let g = _mm256_set1_epi64x(g as i64);
    let shifts = [_mm256_setr_epi64x(16, 22, 28, 34), _mm256_setr_epi64x(40, 46, 52, 58)];
    shifts.map(|shifts| {
        let place = _mm256_and_si256(_mm256_srlv_epi64(g, shifts), _mm256_set1_epi64x(63));
        _mm256_sllv_epi64(_mm256_set1_epi64x(1), place)
    })
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn halves(line: &Line) -> [__m256i; 2] {
    let half: *const __m256i = line.0.as_ptr().cast();
    // SAFETY: a line is 64 aligned bytes: two aligned halves.
    unsafe { [_mm256_load_si256(half), _mm256_load_si256(half.add(1))] }
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn lacks(line: &Line, [low, high]: [__m256i; 2]) -> u8 {
    let [a, b] = halves(line);
    let missing = _mm256_or_si256(_mm256_andnot_si256(a, low), _mm256_andnot_si256(b, high));
    u8::from(_mm256_testz_si256(missing, missing) == 0)
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn set(line: &mut Line, g: u64) -> u8 {
    let ([a, b], [low, high]) = (halves(line), masks(g));
    let missing = lacks(line, [low, high]);
    let half: *mut __m256i = line.0.as_mut_ptr().cast();
    // SAFETY: a line is 64 aligned bytes: two aligned halves.
    unsafe {
        _mm256_store_si256(half, _mm256_or_si256(a, low));
        _mm256_store_si256(half.add(1), _mm256_or_si256(b, high));
    }
    missing
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn zeros(bytes: &[u8; 64]) -> u64 {
    let halves: [__m256i; 2] = bytemuck::cast(*bytes);
    let [low, high] = halves.map(|half| {
        u64::from(_mm256_movemask_epi8(_mm256_cmpeq_epi8(half, _mm256_setzero_si256())) as u32)
    });
    low | high << 32
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) fn contains(lines: &[Line], hash: u64) -> bool {
    generic::contains::<Halves>(lines, hash)
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) fn insert(lines: &mut [Line], hash: u64) -> bool {
    generic::insert::<Halves>(lines, hash)
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) fn contains_u64(lines: &[Line], key: u64, secret: u64) -> bool {
    generic::contains::<Halves>(lines, xxh3_u64_with(key, secret))
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) fn insert_u64(lines: &mut [Line], key: u64, secret: u64) -> bool {
    generic::insert::<Halves>(lines, xxh3_u64_with(key, secret))
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) fn contains_batch<'k>(
    lines: &[Line],
    keys: &Source<'k, impl Fn(usize) -> &'k [u8]>,
    found: &mut [u64],
) {
    generic::contains_batch::<Halves>(lines, keys, found);
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) fn contains_together(filters: &[&[Line]], hashes: &[u64], found: &mut [u64]) {
    generic::contains_together::<Halves>(filters, hashes, found);
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) fn insert_batch<'k>(
    lines: &mut [Line],
    window: Window,
    keys: &Source<'k, impl Fn(usize) -> &'k [u8]>,
) {
    generic::insert_batch::<Halves>(lines, window, keys);
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) fn insert_mask<'k>(
    lines: &mut [Line],
    keys: &Source<'k, impl Fn(usize) -> &'k [u8]>,
    new: &mut [u64],
) {
    generic::insert_mask::<Halves>(lines, keys, new);
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) fn hash_batch(keys: &[u64], seed: u64, hashes: &mut [u64]) {
    generic::hash_batch(keys, seed, hashes);
}
