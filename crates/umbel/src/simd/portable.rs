//! The loops for any machine. The code for one key stays out of line: where it is inlined is for a better level to fill.

use super::generic::{self, Words};
use super::{Source, Window};
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

pub(super) fn contains_batch(lines: &[Line], keys: &impl Source, found: &mut [u64]) {
    generic::contains_batch::<Words>(lines, keys, found);
}

pub(super) fn contains_together(filters: &[&[Line]], hashes: &[u64], found: &mut [u64]) {
    generic::contains_together::<Words>(filters, hashes, found);
}

pub(super) fn insert_batch(lines: &mut [Line], window: Window, keys: &impl Source) {
    generic::insert_batch::<Words>(lines, window, keys);
}

pub(super) fn insert_mask(lines: &mut [Line], keys: &impl Source, new: &mut [u64]) {
    generic::insert_mask::<Words>(lines, keys, new);
}

pub(super) fn hash_batch(keys: &[u64], seed: u64, hashes: &mut [u64]) {
    generic::hash_batch(keys, seed, hashes);
}
