//! Where the hashes of a batch come from. Inlined into the loops, so that hashing has their instruction set.

use std::ops::Range;

use super::generic::Lanes;
use super::prefetch;
use crate::hash::xxh3_u64_with;

/// How many keys ahead keys are asked for.
const AHEAD: usize = 384;
/// Keys that are asked for together.
const TOGETHER: usize = 64;
/// Integers in a cache line.
const IN_LINE: usize = 8;

/// The keys of a batch, and what their hash needs.
#[derive(Clone, Copy)]
pub(crate) enum Source<'a> {
    /// Keys as bytes, and the seed.
    Texts(&'a [&'a [u8]], u64),
    /// Integer keys, and the secret of the seed.
    Integers(&'a [u64], u64),
    /// Hashes worked out before.
    Hashes(&'a [u64]),
}

impl Source<'_> {
    /// How many keys.
    #[inline(always)]
    pub(super) fn len(self) -> usize {
        match self {
            Source::Texts(keys, _) => keys.len(),
            Source::Integers(keys, _) | Source::Hashes(keys) => keys.len(),
        }
    }

    /// The hashes of the keys from `start` on, as many as there is room for.
    #[inline(always)]
    pub(super) fn hash<L: Lanes>(self, start: usize, hashes: &mut [u64]) {
        match self {
            Source::Texts(keys, seed) => L::hash(&keys[start..], seed, hashes),
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

    /// Asks memory for the keys that will be hashed a while after those from `start` on.
    #[inline(always)]
    pub(super) fn ask(self, start: usize) {
        let ahead = start + AHEAD..start + AHEAD + TOGETHER;
        match self {
            Source::Texts(keys, _) => ask_for_texts(keys, ahead),
            Source::Integers(keys, _) | Source::Hashes(keys) => {
                ahead.step_by(IN_LINE).for_each(|i| prefetch(keys.as_ptr().wrapping_add(i)));
            }
        }
    }
}

/// Behind the last key, memory is asked for what a next batch would hold if its keys went on from there: they are often pieces
/// of one text, handed over bit by bit.
#[inline(always)]
fn ask_for_texts(keys: &[&[u8]], ahead: Range<usize>) {
    if let Some(keys) = keys.get(ahead.clone()) {
        keys.iter().for_each(|key| prefetch(key.as_ptr()));
    } else if let Some(last) = keys.last() {
        for i in ahead {
            let keys_on = (i + 1).saturating_sub(keys.len());
            prefetch(last.as_ptr().wrapping_add(keys_on * last.len()));
        }
    }
}
