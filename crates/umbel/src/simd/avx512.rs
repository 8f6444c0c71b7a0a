//! The loops for 512-bit vectors: a line is one of them.

use std::arch::x86_64::*;

use super::block::BLOCK;
use super::eight;
use super::generic::{self, Lanes};
pub(super) use super::inline::whole::{contains, contains_u64, insert, insert_u64};
use super::{Source, Window};
use crate::bloom::Span;
use crate::memory::Line;

pub(super) fn is_available() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
}

struct Whole;

impl Lanes for Whole {
    type Mask = __m512i;
    const ALL: u8 = 0;

    #[inline(always)]
    fn mask(g: u64) -> __m512i {
        // SAFETY: called only from the functions below, which have AVX-512.
        unsafe { mask(g) }
    }

    #[inline(always)]
    fn test(line: &Line, mask: __m512i) -> u8 {
        // SAFETY: called only from the functions below, which have AVX-512.
        unsafe { test(line, mask) }
    }

    #[inline(always)]
    fn set(line: &mut Line, g: u64) -> u8 {
        // SAFETY: called only from the functions below, which have AVX-512.
        unsafe { set(line, g) }
    }

    #[inline(always)]
    fn all(tests: &[u8; BLOCK]) -> u64 {
        // SAFETY: called only from the functions below, which have AVX-512.
        unsafe { all(tests) }
    }

    #[inline(always)]
    fn hash(keys: &[&[u8]], seed: u64, hashes: &mut [u64]) {
        // SAFETY: called only from the functions below, which have AVX-512.
        unsafe { eight::hash(keys, seed, hashes) }
    }

    #[inline(always)]
    fn hash_spans(text: &[u8], spans: &[Span], seed: u64, hashes: &mut [u64]) {
        // SAFETY: called only from the functions below, which have AVX-512.
        unsafe { eight::hash_spans(text, spans, seed, hashes) }
    }
}

/// One bit a word. Rotating a 1 takes the place modulo 64 by itself.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi1,bmi2")]
#[inline]
fn mask(g: u64) -> __m512i {
    let shifts = _mm512_setr_epi64(16, 22, 28, 34, 40, 46, 52, 58);
    let places = _mm512_srlv_epi64(_mm512_set1_epi64(g as i64), shifts);
    _mm512_rolv_epi64(_mm512_set1_epi64(1), places)
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi1,bmi2")]
#[inline]
fn test(line: &Line, mask: __m512i) -> u8 {
    // SAFETY: a line is 64 aligned bytes.
    let words = unsafe { _mm512_load_si512(line.0.as_ptr().cast()) };
    _mm512_testn_epi64_mask(words, mask)
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi1,bmi2")]
#[inline]
fn set(line: &mut Line, g: u64) -> u8 {
    let mask = mask(g);
    let place = line.0.as_mut_ptr().cast();
    // SAFETY: a line is 64 aligned bytes.
    let words = unsafe { _mm512_load_si512(place) };
    // SAFETY: as above.
    unsafe { _mm512_store_si512(place, _mm512_or_si512(words, mask)) };
    _mm512_testn_epi64_mask(words, mask)
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi1,bmi2")]
#[inline]
fn all(tests: &[u8; BLOCK]) -> u64 {
    // SAFETY: 64 bytes are read.
    let tests = unsafe { _mm512_loadu_si512(tests.as_ptr().cast()) };
    _mm512_testn_epi8_mask(tests, tests)
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi1,bmi2")]
pub(super) fn contains_batch(lines: &[Line], keys: &impl Source, found: &mut [u64]) {
    generic::contains_batch::<Whole>(lines, keys, found);
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi1,bmi2")]
pub(super) fn contains_together(filters: &[&[Line]], hashes: &[u64], found: &mut [u64]) {
    generic::contains_together::<Whole>(filters, hashes, found);
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi1,bmi2")]
pub(super) fn insert_batch(lines: &mut [Line], window: Window, keys: &impl Source) {
    generic::insert_batch::<Whole>(lines, window, keys);
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi1,bmi2")]
pub(super) fn insert_mask(lines: &mut [Line], keys: &impl Source, new: &mut [u64]) {
    generic::insert_mask::<Whole>(lines, keys, new);
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi1,bmi2")]
pub(super) fn hash_batch(keys: &[u64], seed: u64, hashes: &mut [u64]) {
    generic::hash_batch(keys, seed, hashes);
}
