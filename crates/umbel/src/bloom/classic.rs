//! The classic layout: k bits anywhere among m.

use crate::hash::{mix, reduce};
use crate::memory::Line;
use crate::simd::prefetch;

/// Keys whose lines are asked for together.
const TOGETHER: usize = 16;

/// The bits of a hash: k remixes, each reduced to m.
#[inline(always)]
fn indexes(hash: u64, m: u64, k: u32) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(hash), |&x| Some(mix(x))).take(k as usize).map(move |x| reduce(x, m))
}

#[inline(always)]
pub(super) fn get(lines: &[Line], index: u64) -> bool {
    lines[(index / 512) as usize].0[(index / 64 % 8) as usize] >> (index % 64) & 1 == 1
}

/// Sets a bit; says whether it was missing.
#[inline(always)]
pub(super) fn set(lines: &mut [Line], index: u64) -> bool {
    let word = &mut lines[(index / 512) as usize].0[(index / 64 % 8) as usize];
    let bit = 1 << (index % 64);
    let new = *word & bit == 0;
    *word |= bit;
    new
}

#[inline]
pub(super) fn contains(lines: &[Line], m: u64, k: u32, hash: u64) -> bool {
    indexes(hash, m, k).all(|index| get(lines, index))
}

#[inline]
pub(super) fn insert(lines: &mut [Line], m: u64, k: u32, hash: u64) -> bool {
    indexes(hash, m, k).fold(false, |new, index| set(lines, index) | new)
}

pub(super) fn contains_batch(lines: &[Line], m: u64, k: u32, hashes: &[u64], found: &mut [u64]) {
    found.fill(0);
    for (block, hashes) in hashes.chunks(TOGETHER).enumerate() {
        ask_for(lines, m, k, hashes);
        for (i, &hash) in hashes.iter().enumerate() {
            let at = block * TOGETHER + i;
            found[at / 64] |= u64::from(contains(lines, m, k, hash)) << (at % 64);
        }
    }
}

pub(super) fn insert_batch(lines: &mut [Line], m: u64, k: u32, hashes: &[u64], new: &mut [u64]) {
    new.fill(0);
    for (block, hashes) in hashes.chunks(TOGETHER).enumerate() {
        ask_for(lines, m, k, hashes);
        for (i, &hash) in hashes.iter().enumerate() {
            let at = block * TOGETHER + i;
            new[at / 64] |= u64::from(insert(lines, m, k, hash)) << (at % 64);
        }
    }
}

/// Asks memory for the lines of these keys, so that it works on all of them at once.
fn ask_for(lines: &[Line], m: u64, k: u32, hashes: &[u64]) {
    for index in hashes.iter().flat_map(|&hash| indexes(hash, m, k)) {
        prefetch(&raw const lines[(index / 512) as usize]);
    }
}
