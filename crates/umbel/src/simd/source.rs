//! Where the hashes of a batch come from. Inlined into the loops, so that hashing has their instruction set.

use std::ops::Range;

use super::block::{BLOCK, FEW};
use super::generic::Lanes;
use super::prefetch;
use crate::bloom::Span;
use crate::hash::xxh3_u64_with;

/// How many keys ahead keys are asked for.
const AHEAD: usize = 384;
/// Integers in a cache line, and bytes.
const IN_LINE: usize = 8;
const LINE: usize = 64;
/// Keys that take no more bytes than these together are taken to stand in a row.
const ROW: usize = BLOCK * LINE;

/// The keys of a batch, and what their hash needs. Each kind has loops of its own: one for all would have too few registers.
pub(crate) trait Source {
    /// Whether hashing a key takes so long, about as long as testing it, that memory is asked for lines meanwhile.
    const TAKES_LONG: bool;

    /// How many keys.
    fn len(&self) -> usize;

    /// The hashes of the keys from `start` on, as many as there is room for, at most [`FEW`].
    fn hash<L: Lanes>(&self, start: usize, hashes: &mut [u64]);

    /// Asks memory for the keys that will be hashed a while after those from `start` on.
    fn ask(&self, start: usize);

    /// The hashes of a few keys from `start` on, in `room` where they must be worked out; behind the last key, hashes of keys that are there.
    #[inline(always)]
    fn few<'r, L: Lanes>(&'r self, start: usize, room: &'r mut [u64; FEW]) -> &'r [u64; FEW] {
        filled::<L>(self, start, room)
    }

    /// A block of integer keys from `start` on and the secret, if that is what they are.
    #[inline(always)]
    fn integers(&self, _start: usize) -> Option<(&[u64; BLOCK], u64)> {
        None
    }
}

/// What [`Source::few`] says, worked out.
#[inline(always)]
fn filled<'r, L: Lanes>(
    keys: &(impl Source + ?Sized),
    start: usize,
    room: &'r mut [u64; FEW],
) -> &'r [u64; FEW] {
    let len = (keys.len() - start).min(FEW);
    keys.hash::<L>(start, &mut room[..len]);
    let filler = room[0];
    room[len..].fill(filler);
    room
}

/// Keys as bytes.
pub(crate) struct Texts<'a> {
    pub(crate) keys: &'a [&'a [u8]],
    pub(crate) seed: u64,
}

impl Source for Texts<'_> {
    const TAKES_LONG: bool = true;

    #[inline(always)]
    fn len(&self) -> usize {
        self.keys.len()
    }

    #[inline(always)]
    fn hash<L: Lanes>(&self, start: usize, hashes: &mut [u64]) {
        L::hash(&self.keys[start..][..hashes.len()], self.seed, hashes);
    }

    #[inline(always)]
    fn ask(&self, start: usize) {
        let key = |i: usize| (self.keys[i].as_ptr().addr(), self.keys[i].len());
        ask_for_texts(self.keys.len(), key, start + AHEAD..start + AHEAD + BLOCK);
    }
}

/// Keys that stand in a text.
pub(crate) struct Spans<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) spans: &'a [Span],
    pub(crate) seed: u64,
}

impl Source for Spans<'_> {
    const TAKES_LONG: bool = true;

    #[inline(always)]
    fn len(&self) -> usize {
        self.spans.len()
    }

    #[inline(always)]
    fn hash<L: Lanes>(&self, start: usize, hashes: &mut [u64]) {
        L::hash_spans(self.text, &self.spans[start..][..hashes.len()], self.seed, hashes);
    }

    #[inline(always)]
    fn ask(&self, start: usize) {
        let key = |i: usize| {
            let span = self.spans[i];
            (self.text.as_ptr().addr().wrapping_add(span.start as usize), span.len())
        };
        ask_for_texts(self.spans.len(), key, start + AHEAD..start + AHEAD + BLOCK);
    }
}

/// Integer keys, and the secret of the seed.
pub(crate) struct Integers<'a> {
    pub(crate) keys: &'a [u64],
    pub(crate) secret: u64,
}

impl Source for Integers<'_> {
    const TAKES_LONG: bool = false;

    #[inline(always)]
    fn len(&self) -> usize {
        self.keys.len()
    }

    #[inline(always)]
    fn hash<L: Lanes>(&self, start: usize, hashes: &mut [u64]) {
        for (hash, &key) in hashes.iter_mut().zip(&self.keys[start..]) {
            *hash = xxh3_u64_with(key, self.secret);
        }
    }

    #[inline(always)]
    fn ask(&self, start: usize) {
        ask_for_words(self.keys, start);
    }

    #[inline(always)]
    fn integers(&self, start: usize) -> Option<(&[u64; BLOCK], u64)> {
        Some((self.keys.get(start..)?.first_chunk()?, self.secret))
    }
}

/// Hashes worked out before.
pub(crate) struct Hashes<'a>(pub(crate) &'a [u64]);

impl Source for Hashes<'_> {
    const TAKES_LONG: bool = false;

    #[inline(always)]
    fn len(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn hash<L: Lanes>(&self, start: usize, hashes: &mut [u64]) {
        hashes.copy_from_slice(&self.0[start..][..hashes.len()]);
    }

    #[inline(always)]
    fn ask(&self, start: usize) {
        ask_for_words(self.0, start);
    }

    /// As they stand, where there are as many.
    #[inline(always)]
    fn few<'r, L: Lanes>(&'r self, start: usize, room: &'r mut [u64; FEW]) -> &'r [u64; FEW] {
        match self.0[start..].first_chunk() {
            Some(hashes) => hashes,
            None => filled::<L>(self, start, room),
        }
    }
}

#[inline(always)]
fn ask_for_words(words: &[u64], start: usize) {
    let ahead = start + AHEAD..start + AHEAD + BLOCK;
    ahead.step_by(IN_LINE).for_each(|i| prefetch(words.as_ptr().wrapping_add(i)));
}

/// Keys that stand in a row are asked for line by line. `key(i)` is where the i-th of `len` begins, and how long it is.
#[inline(always)]
fn ask_for_texts(len: usize, key: impl Fn(usize) -> (usize, usize), ahead: Range<usize>) {
    let ask = |place: usize| prefetch(place as *const u8);
    let (first, end) = (place(len, &key, ahead.start), place(len, &key, ahead.end));
    if end.wrapping_sub(first) <= ROW {
        (first..end).step_by(LINE).for_each(ask);
    } else {
        (ahead.start..ahead.end.min(len)).for_each(|i| ask(key(i).0));
    }
}

/// Where the i-th key stands; behind the last, where it would if its like went on from there: batches are often pieces of
/// one text, handed over bit by bit.
#[inline(always)]
fn place(len: usize, key: impl Fn(usize) -> (usize, usize), i: usize) -> usize {
    let (begin, size) = key(i.min(len - 1));
    begin.wrapping_add((i + 1).saturating_sub(len).wrapping_mul(size))
}
