//! The algorithm, written once over what an instruction set can do with one line ([`Lanes`]).
//!
//! ```text
//! line  = hi(hash, number of lines)             one cache line a key
//! g     = mix(hash)
//! mask  = for j in 0..8: 1 << (g >> (16 + 6 j)) mod 64      one bit a word
//! found = mask & !line == 0                      one test
//! ```
//! A batch asks for the line of the key [`AHEAD`] places on before it tests the key at hand, so that memory works on
//! many lines at once. Where the filter fits the cache that is work for nothing, and is left out.

use super::{Window, prefetch};
use crate::hash::{mix, reduce, xxh3_u64};
use crate::memory::Line;

/// How many keys ahead a line is asked for.
const AHEAD: usize = 16;
/// Filters up to this many lines (2 MiB) are taken to be in the cache.
const NEAR: usize = 1 << 15;
/// Keys whose places are worked out together.
const BLOCK: usize = 512;

/// What an instruction set does with the one line of a key. `g` is the remixed hash.
pub(super) trait Lanes {
    /// Whether the line has all bits of `g`.
    fn has(line: &Line, g: u64) -> bool;
    /// Sets the bits of `g`; says whether one was missing.
    fn set(line: &mut Line, g: u64) -> bool;
}

/// Plain 64-bit words.
pub(super) struct Words;

impl Words {
    #[inline(always)]
    fn mask(g: u64) -> [u64; 8] {
        std::array::from_fn(|j| 1 << ((g >> (16 + 6 * j)) & 63))
    }
}

impl Lanes for Words {
    #[inline(always)]
    fn has(line: &Line, g: u64) -> bool {
        let mask = Words::mask(g);
        (0..8).fold(0, |missing, j| missing | (mask[j] & !line.0[j])) == 0
    }

    #[inline(always)]
    fn set(line: &mut Line, g: u64) -> bool {
        let new = !Words::has(line, g);
        let mask = Words::mask(g);
        line.0.iter_mut().zip(mask).for_each(|(word, bit)| *word |= bit);
        new
    }
}

#[inline(always)]
fn place(lines: &[Line], hash: u64) -> usize {
    reduce(hash, lines.len() as u64) as usize
}

#[inline(always)]
pub(super) fn contains<L: Lanes>(lines: &[Line], hash: u64) -> bool {
    L::has(&lines[place(lines, hash)], mix(hash))
}

#[inline(always)]
pub(super) fn insert<L: Lanes>(lines: &mut [Line], hash: u64) -> bool {
    let place = place(lines, hash);
    L::set(&mut lines[place], mix(hash))
}

#[inline(always)]
pub(super) fn contains_batch<L: Lanes>(lines: &[Line], hashes: &[u64], found: &mut [u64]) {
    let mut block = Block::new();
    let window = Window { first: 0, total: lines.len() };
    for (hashes, found) in hashes.chunks(BLOCK).zip(found.chunks_mut(BLOCK / 64)) {
        block.fill(lines.len(), window, hashes);
        block.visit(lines.as_ptr(), found, |place, g| {
            // SAFETY: `fill` made sure that every place is below `lines.len()`.
            L::has(unsafe { lines.get_unchecked(place) }, g)
        });
    }
}

#[inline(always)]
pub(super) fn insert_batch<L: Lanes>(
    lines: &mut [Line],
    window: Window,
    hashes: &[u64],
    new: &mut [u64],
) {
    let mut block = Block::new();
    for (hashes, new) in hashes.chunks(BLOCK).zip(new.chunks_mut(BLOCK / 64)) {
        block.fill(lines.len(), window, hashes);
        block.visit(lines.as_ptr(), new, |place, g| {
            // SAFETY: `fill` made sure that every place is below `lines.len()`.
            L::set(unsafe { lines.get_unchecked_mut(place) }, g)
        });
    }
}

/// Plain Rust: the compiler turns it into vectors of the width it is allowed.
#[inline(always)]
pub(super) fn hash_batch(keys: &[u64], seed: u64, hashes: &mut [u64]) {
    for (hash, &key) in hashes.iter_mut().zip(keys) {
        *hash = xxh3_u64(key, seed);
    }
}

/// Where the keys of a block go.
struct Block {
    /// Each key's line. Behind the last stand zeros, so that looking ahead needs no test: line 0 is always there.
    places: [usize; BLOCK + AHEAD],
    /// Each key's remixed hash.
    gs: [u64; BLOCK],
    len: usize,
    /// Whether the lines are likely to be out of the cache.
    far: bool,
}

impl Block {
    #[inline(always)]
    fn new() -> Block {
        Block { places: [0; BLOCK + AHEAD], gs: [0; BLOCK], len: 0, far: false }
    }

    /// Works out the places of at most `BLOCK` hashes among the `len` lines of a window; panics when one lies
    /// outside.
    #[inline(always)]
    fn fill(&mut self, len: usize, window: Window, hashes: &[u64]) {
        self.len = hashes.len();
        self.far = len > NEAR;
        let places = &mut self.places[..hashes.len()];
        let first = window.first;
        let mut last = 0;
        if let Ok(total) = u32::try_from(window.total) {
            // The same numbers as `reduce` gives, from 32-bit products, which vectorise.
            for (place, &hash) in places.iter_mut().zip(hashes) {
                let low = (u64::from(hash as u32) * u64::from(total)) >> 32;
                let line = ((hash >> 32) * u64::from(total) + low) >> 32;
                *place = (line as usize).wrapping_sub(first);
                last = last.max(*place);
            }
        } else {
            for (place, &hash) in places.iter_mut().zip(hashes) {
                *place = (reduce(hash, window.total as u64) as usize).wrapping_sub(first);
                last = last.max(*place);
            }
        }
        assert!(last < len, "a key was sent to a range of lines it does not belong to");
        self.places[self.len..].fill(0);
        for (g, &hash) in self.gs.iter_mut().zip(hashes) {
            *g = mix(hash);
        }
    }

    /// Calls `answer` for each key in order and collects the answers, 64 to a word.
    #[inline(always)]
    fn visit(
        &self,
        lines: *const Line,
        answers: &mut [u64],
        mut answer: impl FnMut(usize, u64) -> bool,
    ) {
        if self.far {
            self.places[..AHEAD].iter().for_each(|&place| prefetch(lines.wrapping_add(place)));
        }
        let places = self.places[..self.len].chunks(64);
        let aheads = self.places[AHEAD..].chunks(64);
        let gs = self.gs[..self.len].chunks(64);
        for (word, ((places, aheads), gs)) in answers.iter_mut().zip(places.zip(aheads).zip(gs)) {
            let mut bits = 0;
            if self.far {
                for (i, ((&place, &ahead), &g)) in places.iter().zip(aheads).zip(gs).enumerate() {
                    prefetch(lines.wrapping_add(ahead));
                    bits |= u64::from(answer(place, g)) << i;
                }
            } else {
                for (i, (&place, &g)) in places.iter().zip(gs).enumerate() {
                    bits |= u64::from(answer(place, g)) << i;
                }
            }
            *word = bits;
        }
    }
}
