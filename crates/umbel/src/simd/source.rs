//! Where the hashes of a batch come from. Inlined into the loops, so that hashing has their instruction set.

use std::ops::Range;

use super::generic::{BLOCK, FEW, Lanes};
use super::prefetch;
use crate::hash::xxh3_u64_with;

/// How many keys ahead keys are asked for.
const AHEAD: usize = 384;
/// Integers in a cache line, and bytes.
const IN_LINE: usize = 8;
const LINE: usize = 64;
/// Keys that take no more bytes than these together are taken to stand in a row.
const ROW: usize = BLOCK * LINE;

/// The keys of a batch, and what their hash needs.
#[derive(Clone, Copy)]
pub(crate) enum Source<'a, F> {
    /// Keys as bytes, and the seed.
    Texts(&'a [&'a [u8]], u64),
    /// So many keys as bytes, of which `key(i)` is the i-th, and the seed.
    Each { len: usize, key: F, seed: u64 },
    /// Integer keys, and the secret of the seed.
    Integers(&'a [u64], u64),
    /// Hashes worked out before.
    Hashes(&'a [u64]),
}

impl<'a, F: Fn(usize) -> &'a [u8]> Source<'a, F> {
    /// How many keys.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        match self {
            Source::Texts(keys, _) => keys.len(),
            Source::Each { len, .. } => *len,
            Source::Integers(keys, _) | Source::Hashes(keys) => keys.len(),
        }
    }

    /// Whether hashing a key takes longer than looking it up.
    #[inline(always)]
    pub(super) fn take_long(&self) -> bool {
        matches!(self, Source::Texts(..) | Source::Each { .. })
    }

    /// The hashes of a few keys from `start` on, in `room` where they must be worked out; behind the last key, hashes of keys that are there.
    #[inline(always)]
    pub(super) fn few<'r, L: Lanes>(
        &'r self,
        start: usize,
        room: &'r mut [u64; FEW],
    ) -> &'r [u64; FEW] {
        if let Source::Hashes(keys) = self
            && let Some(hashes) = keys[start..].first_chunk()
        {
            return hashes;
        }
        let len = (self.len() - start).min(FEW);
        self.hash::<L>(start, &mut room[..len]);
        let filler = room[0];
        room[len..].fill(filler);
        room
    }

    /// The hashes of the keys from `start` on, as many as there is room for, at most [`FEW`].
    #[inline(always)]
    fn hash<L: Lanes>(&self, start: usize, hashes: &mut [u64]) {
        match *self {
            Source::Texts(keys, seed) => L::hash(&keys[start..][..hashes.len()], seed, hashes),
            Source::Each { ref key, seed, .. } => {
                L::hash_each(|i| key(start + i), seed, hashes);
            }
            Source::Integers(keys, secret) => {
                for (hash, &key) in hashes.iter_mut().zip(&keys[start..]) {
                    *hash = xxh3_u64_with(key, secret);
                }
            }
            Source::Hashes(keys) => {
                hashes.iter_mut().zip(&keys[start..]).for_each(|(hash, &key)| *hash = key);
            }
        }
    }

    /// A block of integer keys from `start` on and the secret, if that is what they are.
    #[inline(always)]
    pub(super) fn integers(&self, start: usize) -> Option<(&[u64; BLOCK], u64)> {
        match self {
            Source::Integers(keys, secret) => Some((keys.get(start..)?.first_chunk()?, *secret)),
            _ => None,
        }
    }

    /// Asks memory for the keys that will be hashed a while after those from `start` on.
    #[inline(always)]
    pub(super) fn ask(&self, start: usize) {
        let ahead = start + AHEAD..start + AHEAD + BLOCK;
        match self {
            Source::Texts(keys, _) => ask_for_texts(keys.len(), |i| keys[i], ahead),
            Source::Each { len, key, .. } => ask_for_texts(*len, key, ahead),
            Source::Integers(keys, _) | Source::Hashes(keys) => {
                ahead.step_by(IN_LINE).for_each(|i| prefetch(keys.as_ptr().wrapping_add(i)));
            }
        }
    }
}

/// Keys that stand in a row are asked for line by line.
#[inline(always)]
fn ask_for_texts<'a>(len: usize, key: impl Fn(usize) -> &'a [u8], ahead: Range<usize>) {
    let (first, end) = (place(len, &key, ahead.start), place(len, &key, ahead.end));
    if end.wrapping_sub(first) <= ROW {
        (first..end).step_by(LINE).for_each(|place| prefetch(place as *const u8));
    } else {
        (ahead.start..ahead.end.min(len)).for_each(|i| prefetch(key(i).as_ptr()));
    }
}

/// Where the i-th of `len` keys stands; behind the last, where it would if its like went on from there: batches are often pieces of
/// one text, handed over bit by bit.
#[inline(always)]
fn place<'a>(len: usize, key: impl Fn(usize) -> &'a [u8], i: usize) -> usize {
    let last = key(i.min(len - 1));
    let on = (i + 1).saturating_sub(len).wrapping_mul(last.len());
    last.as_ptr().addr().wrapping_add(on)
}
