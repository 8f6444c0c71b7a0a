//! The loops for any machine. The code for one key stays out of line: where it is inlined is for a better level to fill.

use super::Window;
use super::generic::{self, Words};
use crate::hash::xxh3_u64_with;
use crate::memory::Line;

#[inline(never)]
pub(super) fn contains(lines: &[Line], hash: u64) -> bool {
    generic::contains::<Words>(lines, hash)
}

#[inline(never)]
pub(super) fn insert(lines: &mut [Line], hash: u64) -> bool {
    generic::insert::<Words>(lines, hash)
}

#[inline(never)]
pub(super) fn contains_u64(lines: &[Line], key: u64, secret: u64) -> bool {
    generic::contains::<Words>(lines, xxh3_u64_with(key, secret))
}

#[inline(never)]
pub(super) fn insert_u64(lines: &mut [Line], key: u64, secret: u64) -> bool {
    generic::insert::<Words>(lines, xxh3_u64_with(key, secret))
}

pub(super) fn contains_batch(lines: &[Line], hashes: &[u64], next: &[u64], found: &mut [u64]) {
    generic::contains_batch::<Words>(lines, hashes, next, found);
}

pub(super) fn contains_keys<'k>(
    lines: &[Line],
    seed: u64,
    len: usize,
    key: impl Fn(usize) -> &'k [u8],
    found: &mut [u64],
) {
    generic::contains_keys::<Words>(lines, seed, len, key, found);
}

pub(super) fn insert_batch(
    lines: &mut [Line],
    window: Window,
    hashes: &[u64],
    next: &[u64],
    new: &mut [u64],
) {
    generic::insert_batch::<Words>(lines, window, hashes, next, new);
}

pub(super) fn hash_batch(keys: &[u64], seed: u64, hashes: &mut [u64]) {
    generic::hash_batch(keys, seed, hashes);
}
