//! The blocked layout, whose strategy is always xxh3.

use super::{Keys, Params};
use crate::hash::{Strategy, xxh3, xxh3_u64_secret};
use crate::memory::{Line, Memory};
use crate::simd::{self, Hashes, Integers, Level, Spans, Texts, Window};
use crate::sizing::Layout;

/// What one key needs, side by side: it is asked for with every key.
#[derive(Clone, Copy)]
pub(super) struct Blocked {
    level: Level,
    seed: u64,
    /// What the hash of an integer makes of the seed.
    secret: u64,
}

impl Blocked {
    /// For filters of this layout.
    pub(super) fn of(params: &Params, level: Level) -> Option<Blocked> {
        match (params.strategy(), params.sizing().layout()) {
            (&Strategy::Xxh3 { seed }, Layout::Blocked) => {
                Some(Blocked { level, seed, secret: xxh3_u64_secret(seed) })
            }
            _ => None,
        }
    }

    /// Whether the code for one key is inlined where it is called.
    #[inline(always)]
    pub(super) fn is_inlined(self) -> bool {
        self.level.inlines()
    }

    /// Whether a vector holds a whole line.
    #[inline(always)]
    pub(super) fn is_whole(&self) -> bool {
        self.level.is_whole()
    }

    #[inline(always)]
    pub(super) fn contains(self, bits: &Memory, key: &[u8]) -> bool {
        self.contains_hash(bits, xxh3(key, self.seed))
    }

    #[inline(always)]
    pub(super) fn contains_u64(self, bits: &Memory, key: u64) -> bool {
        simd::contains_u64(self.level, bits, key, self.secret)
    }

    #[inline(always)]
    pub(super) fn contains_hash(self, bits: &Memory, hash: u64) -> bool {
        simd::contains(self.level, bits, hash)
    }

    #[inline(always)]
    pub(super) fn insert(self, bits: &mut Memory, key: &[u8]) -> bool {
        self.insert_hash(bits, xxh3(key, self.seed))
    }

    #[inline(always)]
    pub(super) fn insert_u64(self, lines: &mut [Line], key: u64) -> bool {
        simd::insert_u64(self.level, lines, key, self.secret)
    }

    #[inline(always)]
    pub(super) fn insert_hash(self, bits: &mut Memory, hash: u64) -> bool {
        simd::insert(self.level, bits.lines_mut(), hash)
    }

    pub(super) fn contains_mask(self, bits: &Memory, keys: Keys<'_>, found: &mut [u64]) {
        let Blocked { level, seed, secret } = self;
        match keys {
            Keys::Bytes(keys) => simd::contains_batch(level, bits, &Texts { keys, seed }, found),
            Keys::Spans(text, spans) => {
                simd::contains_batch(level, bits, &Spans { text, spans, seed }, found);
            }
            Keys::U64(keys) => simd::contains_batch(level, bits, &Integers { keys, secret }, found),
            Keys::Hashes(keys) => simd::contains_batch(level, bits, &Hashes(keys), found),
        }
    }

    pub(super) fn insert_batch(self, bits: &mut Memory, keys: Keys<'_>) {
        let (Blocked { level, seed, secret }, lines) = (self, bits.lines_mut());
        let window = Window { first: 0, total: lines.len() };
        match keys {
            Keys::Bytes(keys) => simd::insert_batch(level, lines, window, &Texts { keys, seed }),
            Keys::Spans(text, spans) => {
                simd::insert_batch(level, lines, window, &Spans { text, spans, seed });
            }
            Keys::U64(keys) => simd::insert_batch(level, lines, window, &Integers { keys, secret }),
            Keys::Hashes(keys) => simd::insert_batch(level, lines, window, &Hashes(keys)),
        }
    }

    pub(super) fn insert_mask(self, bits: &mut Memory, keys: Keys<'_>, new: &mut [u64]) {
        let (Blocked { level, seed, secret }, lines) = (self, bits.lines_mut());
        match keys {
            Keys::Bytes(keys) => simd::insert_mask(level, lines, &Texts { keys, seed }, new),
            Keys::Spans(text, spans) => {
                simd::insert_mask(level, lines, &Spans { text, spans, seed }, new);
            }
            Keys::U64(keys) => simd::insert_mask(level, lines, &Integers { keys, secret }, new),
            Keys::Hashes(keys) => simd::insert_mask(level, lines, &Hashes(keys), new),
        }
    }
}
