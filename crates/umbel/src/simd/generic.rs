//! The algorithm, written once over what an instruction set can do with one line ([`Lanes`]).
//!
//! ```text
//! line  = hi(hash, number of lines)             one cache line a key
//! g     = mix(hash)
//! mask  = for j in 0..8: 1 << (g >> (16 + 6 j)) mod 64      one bit a word
//! found = mask & !line == 0                      one test
//! ```
//! A batch goes block by block. The keys of the next block are hashed before the block at hand is tested, and each test is
//! preceded by a request for the line of the key [`AHEAD`] places on, so that memory works on many lines at once, and
//! never waits for hashing. Keys are asked for long before they are hashed: between so many random lines the processor does not see
//! that they stand in a row. Where the filter fits the cache, asking is work for nothing, and is left out.

use super::{Source, Window, prefetch};
use crate::hash::{mix, reduce, xxh3, xxh3_u64};
use crate::memory::Line;

/// Filters up to this many lines (512 KiB) are taken to be in the cache.
pub(crate) const NEAR: usize = 1 << 13;
/// Keys that go together: a word of answers.
const BLOCK: usize = 64;
/// How many keys ahead a line is asked for.
const AHEAD: usize = 24;

/// What an instruction set does with the one line of a key. `g` is the remixed hash.
pub(super) trait Lanes {
    /// The bits of a key.
    type Mask: Copy;
    /// What a test gives for a line that has all of them.
    const ALL: u8;

    /// The bits of `g`.
    fn mask(g: u64) -> Self::Mask;
    /// Tests a line for all bits of a mask.
    fn test(line: &Line, mask: Self::Mask) -> u8;
    /// Sets the bits of `g`; gives what a test gave before.
    fn set(line: &mut Line, g: u64) -> u8;
    /// One bit for each test that found all bits.
    fn all(tests: &[u8; 64]) -> u64;
    /// The hashes of as many keys.
    #[inline(always)]
    fn hash(keys: &[&[u8]], seed: u64, hashes: &mut [u64]) {
        // A plain loop: what a closure does is not made part of a function with more features.
        for (hash, key) in hashes.iter_mut().zip(keys) {
            *hash = xxh3(key, seed);
        }
    }
}

/// Plain 64-bit words.
pub(super) struct Words;

impl Lanes for Words {
    type Mask = [u64; 8];
    const ALL: u8 = 0;

    #[inline(always)]
    fn mask(g: u64) -> [u64; 8] {
        std::array::from_fn(|j| 1 << ((g >> (16 + 6 * j)) & 63))
    }

    #[inline(always)]
    fn test(line: &Line, mask: [u64; 8]) -> u8 {
        u8::from((0..8).fold(0, |missing, j| missing | (mask[j] & !line.0[j])) != 0)
    }

    #[inline(always)]
    fn set(line: &mut Line, g: u64) -> u8 {
        let mask = Words::mask(g);
        let before = Words::test(line, mask);
        line.0.iter_mut().zip(mask).for_each(|(word, bit)| *word |= bit);
        before
    }

    #[inline(always)]
    fn all(tests: &[u8; 64]) -> u64 {
        tests.iter().enumerate().fold(0, |all, (i, &test)| all | u64::from(test == Words::ALL) << i)
    }
}

#[inline(always)]
fn place(lines: &[Line], hash: u64) -> usize {
    reduce(hash, lines.len() as u64) as usize
}

#[inline(always)]
pub(super) fn contains<L: Lanes>(lines: &[Line], hash: u64) -> bool {
    L::test(&lines[place(lines, hash)], L::mask(mix(hash))) == L::ALL
}

#[inline(always)]
pub(super) fn insert<L: Lanes>(lines: &mut [Line], hash: u64) -> bool {
    let place = place(lines, hash);
    L::set(&mut lines[place], mix(hash)) != L::ALL
}

#[inline(always)]
pub(super) fn contains_batch<'k, L: Lanes>(
    lines: &[Line],
    keys: &Source<'k, impl Fn(usize) -> &'k [u8]>,
    found: &mut [u64],
) {
    let (first, len) = (lines.as_ptr(), lines.len());
    let mut found = found.iter_mut();
    // SAFETY: every place is that of a line.
    let test = |place, g| L::test(unsafe { &*first.byte_add(place) }, L::mask(g));
    let window = Window { first: 0, total: len };
    visit::<L>(first, len, window, keys, test, |all, _| {
        found.next().into_iter().for_each(|word| *word = all);
    });
}

/// The same for hashes in several filters, whose words of `found` stand one filter behind the other. The bits of a hash are worked
/// out once for all of them; memory is not asked beforehand.
#[inline(always)]
pub(super) fn contains_together<L: Lanes>(filters: &[&[Line]], hashes: &[u64], found: &mut [u64]) {
    let words = hashes.len().div_ceil(BLOCK);
    let mut tests = vec![[0; BLOCK]; filters.len()];
    for (word, hashes) in hashes.chunks(BLOCK).enumerate() {
        for (j, &hash) in hashes.iter().enumerate() {
            let mask = L::mask(mix(hash));
            for (lines, tests) in filters.iter().zip(&mut tests) {
                tests[j] = L::test(&lines[place(lines, hash)], mask);
            }
        }
        let keys = u64::MAX >> (BLOCK - hashes.len());
        for (filter, tests) in tests.iter().enumerate() {
            found[filter * words + word] = L::all(tests) & keys;
        }
    }
}

#[inline(always)]
pub(super) fn insert_batch<'k, L: Lanes>(
    lines: &mut [Line],
    window: Window,
    keys: &Source<'k, impl Fn(usize) -> &'k [u8]>,
) {
    let (first, len) = (lines.as_mut_ptr(), lines.len());
    // SAFETY: every place is that of a line, and `lines` is borrowed mutably.
    let set = |place, g| L::set(unsafe { &mut *first.byte_add(place) }, g);
    visit::<L>(first, len, window, keys, set, |_, _| ());
}

#[inline(always)]
pub(super) fn insert_mask<'k, L: Lanes>(
    lines: &mut [Line],
    keys: &Source<'k, impl Fn(usize) -> &'k [u8]>,
    new: &mut [u64],
) {
    let (first, len) = (lines.as_mut_ptr(), lines.len());
    let mut new = new.iter_mut();
    // SAFETY: every place is that of a line, and `lines` is borrowed mutably.
    let set = |place, g| L::set(unsafe { &mut *first.byte_add(place) }, g);
    let window = Window { first: 0, total: len };
    visit::<L>(first, len, window, keys, set, |all, keys| {
        // Where nothing was missing, the key is not new.
        new.next().into_iter().for_each(|word| *word = !all & keys);
    });
}

/// The hashes of integer keys.
#[inline(always)]
pub(super) fn hash_batch(keys: &[u64], seed: u64, hashes: &mut [u64]) {
    for (hash, &key) in hashes.iter_mut().zip(keys) {
        *hash = xxh3_u64(key, seed);
    }
}

/// Calls `test` for each key in order, with its line's distance from the first in bytes and its remixed hash; and
/// `done` for each block, with a bit for each key that had all its bits, and a bit for each key. Panics when the line of a key
/// is not one of the `len` in the window.
#[inline(always)]
fn visit<'k, L: Lanes>(
    first: *const Line,
    len: usize,
    window: Window,
    keys: &Source<'k, impl Fn(usize) -> &'k [u8]>,
    mut test: impl FnMut(usize, u64) -> u8,
    mut done: impl FnMut(u64, u64),
) {
    let far = len > NEAR;
    let ask = |place| prefetch(first.wrapping_byte_add(place));
    let (mut now, mut next) = (&mut Block::new(), &mut Block::new());
    next.fill::<L>(len, window, keys, 0);
    if far {
        next.places[..AHEAD].iter().for_each(|&place| ask(place));
    }
    let mut tests = [0; BLOCK];
    for start in (0..keys.len()).step_by(BLOCK) {
        std::mem::swap(&mut now, &mut next);
        next.fill::<L>(len, window, keys, start + BLOCK);
        let mut touch = |j: usize| tests[j] = test(now.places[j], now.gs[j]);
        if far && now.len == BLOCK {
            keys.ask(start);
            for j in 0..BLOCK - AHEAD {
                ask(now.places[j + AHEAD]);
                touch(j);
            }
            for j in 0..AHEAD {
                ask(next.places[j]);
                touch(BLOCK - AHEAD + j);
            }
        } else {
            (0..now.len).for_each(touch);
        }
        let keys = u64::MAX >> (BLOCK - now.len);
        done(L::all(&tests) & keys, keys);
    }
}

/// Where the keys of a block go.
struct Block {
    /// How far each key's line is from the first, in bytes.
    places: [usize; BLOCK],
    /// Each key's remixed hash.
    gs: [u64; BLOCK],
    len: usize,
}

impl Block {
    #[inline(always)]
    fn new() -> Block {
        Block { places: [0; BLOCK], gs: [0; BLOCK], len: 0 }
    }

    /// Works out the places of the keys from `start` on, among the `len` lines of a window; panics when one lies
    /// outside.
    #[inline(always)]
    fn fill<'k, L: Lanes>(
        &mut self,
        len: usize,
        window: Window,
        keys: &Source<'k, impl Fn(usize) -> &'k [u8]>,
        start: usize,
    ) {
        self.len = keys.len().saturating_sub(start).min(BLOCK);
        if self.len == 0 {
            return;
        }
        let mut room = [0; BLOCK];
        let hashes = match keys.whole(start) {
            Some(hashes) => hashes,
            None => {
                keys.hash::<L>(start, &mut room[..self.len]);
                // Whole blocks are quicker: a short one is filled up with a key that is there.
                let filler = room[0];
                room[self.len..].fill(filler);
                &room
            }
        };
        let (first, end) = (window.first * size_of::<Line>(), len * size_of::<Line>());
        let total = window.total * size_of::<Line>();
        let mut last = 0;
        if let Ok(total) = u32::try_from(total) {
            // The upper half of the product, from products of 32 bits, which vectorise; without its last bits it is the place of a
            // line, as `reduce` gives it.
            for (i, &hash) in hashes.iter().enumerate() {
                let (upper, lower) = (hash >> 32, u64::from(hash as u32));
                let carried = (lower * u64::from(total)) >> 32;
                let bytes = (upper * u64::from(total) + carried) >> 32;
                self.places[i] = (bytes as usize & !(size_of::<Line>() - 1)).wrapping_sub(first);
                self.gs[i] = mix(hash);
                last = last.max(self.places[i]);
            }
        } else {
            for (i, &hash) in hashes.iter().enumerate() {
                let line = reduce(hash, window.total as u64) as usize;
                self.places[i] = (line * size_of::<Line>()).wrapping_sub(first);
                self.gs[i] = mix(hash);
                last = last.max(self.places[i]);
            }
        }
        assert!(last < end, "a key was sent to a range of lines it does not belong to");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Hashes<'a> = Source<'a, fn(usize) -> &'static [u8]>;

    /// In filters of any size, also of more than 4 GiB, whose places come from wider products.
    #[test]
    fn a_block_has_the_places_that_single_keys_have() {
        let hashes: Vec<u64> = [0, 1, u64::MAX, u64::MAX << 32, u64::MAX >> 32]
            .into_iter()
            .chain((1..996).map(mix))
            .collect();
        for total in [1, 2, 1000, (1 << 26) - 1, 1 << 26, (1 << 26) + 1, (1 << 39) - 7] {
            let window = Window { first: 0, total };
            let mut block = Block::new();
            for start in (0..hashes.len()).step_by(BLOCK) {
                block.fill::<Words>(total, window, &Hashes::Hashes(&hashes), start);
                for (i, &hash) in hashes[start..].iter().take(BLOCK).enumerate() {
                    assert_eq!(block.places[i] as u64, 64 * reduce(hash, total as u64));
                    assert_eq!(block.gs[i], mix(hash));
                }
            }
        }
    }
}
