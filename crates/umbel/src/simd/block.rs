//! Where the keys of a block go, and when memory is asked for their lines.
//!
//! Memory brings so many lines at a time and no more, so it is asked for them evenly: requests that come all at once wait for each other, and
//! those that do not come leave it idle. Integers are hashed in no time: a line is asked for with each test. Texts take
//! as long to hash as to test: half of the lines are asked for with the tests, half while the keys of the next block are hashed.
//!
//! ```text
//!              integers                                    texts
//! hash         the next block                              the next block; after each few, an eighth of this block: its second half
//! test         this block; with each key, the line         this block; with every second key, a line of
//!              of the key 32 ahead, also in the next       the next block: its first half
//! ```

use super::generic::Lanes;
use super::{Source, Window, prefetch};
use crate::hash::{mix, reduce};
use crate::memory::Line;

/// Keys that go together: a word of answers.
pub(crate) const BLOCK: usize = 64;
/// Keys that are hashed together.
pub(crate) const FEW: usize = 16;

/// How many times so many make a block.
const FEWS: usize = BLOCK / FEW;
/// How many of them ahead lines are asked for: with 64 keys ahead in place of 32, a filter that is far larger than the caches took a tenth
/// longer.
const FEWS_AHEAD: usize = FEWS / 2;

/// What memory is asked for while a block is tested: lines of this one, and of the next.
#[derive(Clone, Copy)]
pub(crate) enum Ahead<'a> {
    /// Nothing: the filter is in the cache.
    Nothing,
    /// With each key, the line of the one that is so many ahead.
    Each(&'a Block),
    /// With every second key, a line of the first half of the next block.
    Half(&'a Block),
}

/// Where a few keys go.
#[repr(align(64))]
pub(crate) struct Few {
    /// How far each key's line is from the first, in bytes.
    pub(super) places: [usize; FEW],
    /// Each key's remixed hash.
    pub(super) gs: [u64; FEW],
}

/// Where the keys of a block go.
pub(crate) struct Block {
    pub(super) fews: [Few; FEWS],
    len: usize,
}

impl Block {
    #[inline(always)]
    pub(super) fn new() -> Block {
        Block { fews: [const { Few { places: [0; FEW], gs: [0; FEW] } }; FEWS], len: 0 }
    }

    /// Whether it has as many keys as it can.
    #[inline(always)]
    pub(super) fn is_whole(&self) -> bool {
        self.len == BLOCK
    }

    /// A bit for each key.
    #[inline(always)]
    pub(super) fn keys(&self) -> u64 {
        u64::MAX >> (BLOCK - self.len)
    }

    /// Those that hold keys.
    #[inline(always)]
    fn filled(&self) -> &[Few] {
        &self.fews[..self.len.div_ceil(FEW)]
    }

    /// Asks memory for the first half of a block that has none before it.
    #[inline(always)]
    pub(super) fn ask_for_half(&self, first: *const Line) {
        let half = self.filled().iter().take(FEWS_AHEAD);
        ask(first, half.flat_map(|few| &few.places));
    }

    /// Asks memory for the `i`-th of [`FEWS`] parts of the other half.
    #[inline(always)]
    pub(super) fn ask_for_rest(&self, first: *const Line, i: usize) {
        // Not a constant of the module: with one, the compiler laid out what is around it anew, and batches of integers took twice as
        // long to insert.
        let part = FEW * (FEWS - FEWS_AHEAD) / FEWS;
        if let Some(few) = self.filled().get(FEWS_AHEAD + i * part / FEW) {
            ask(first, &few.places[i * part % FEW..][..part]);
        }
    }

    /// Calls `touch` for each key, with its number, place and remixed hash, and asks memory for what lies ahead.
    #[inline(always)]
    pub(super) fn each(
        &self,
        first: *const Line,
        ahead: Ahead<'_>,
        mut touch: impl FnMut(usize, usize, u64),
    ) {
        let mut touch = |i: usize, j: usize| {
            touch(FEW * i + j, self.fews[i].places[j], self.fews[i].gs[j]);
        };
        if !self.is_whole() {
            if let Ahead::Each(_) = ahead {
                let rest = self.filled().iter().skip(FEWS_AHEAD);
                ask(first, rest.flat_map(|few| &few.places));
            }
            return (0..self.len).for_each(|j| touch(j / FEW, j % FEW));
        }
        for i in 0..FEWS {
            for j in 0..FEW {
                match ahead {
                    Ahead::Nothing => {}
                    Ahead::Each(next) => {
                        let few = self.fews.get(i + FEWS_AHEAD);
                        let few = few.unwrap_or(&next.fews[(i + FEWS_AHEAD) % FEWS]);
                        ask(first, [&few.places[j]]);
                    }
                    Ahead::Half(next) => {
                        let half = (i * FEW + j) / 2;
                        if j % 2 == 0 {
                            ask(first, [&next.fews[half / FEW].places[half % FEW]]);
                        }
                    }
                }
                touch(i, j);
            }
        }
    }

    /// Works out the places of the keys from `start` on, among the `len` lines of a window, and calls `meanwhile` [`FEWS`] times, after every
    /// few keys as far as there are any; panics when a line lies outside. Behind the last key of all, places are those of keys before, or of
    /// the first line. A whole block of integers goes at once, without a call: nothing is to be done while integers are hashed
    /// ([`Source::TAKES_LONG`]).
    #[inline(always)]
    pub(super) fn find<L: Lanes>(
        &mut self,
        len: usize,
        window: Window,
        keys: &impl Source,
        start: usize,
        meanwhile: impl Fn(usize),
    ) {
        self.len = keys.len().saturating_sub(start).min(BLOCK);
        let whole = window.first == 0 && window.total == len;
        let total = whole.then_some(window.total * size_of::<Line>());
        let total = total.and_then(|total| u32::try_from(total).ok());
        if let (Some(total), Some((keys, secret))) = (total, keys.integers(start)) {
            return L::place_integers(keys, secret, total, self);
        }
        for i in 0..FEWS {
            if i * FEW < self.len {
                let few = &mut self.fews[i];
                let mut room = [0; FEW];
                let hashes = keys.few::<L>(start + i * FEW, &mut room);
                match total {
                    Some(total) => L::place(hashes, total, few),
                    None => place_in(window, len, hashes, few),
                }
            }
            meanwhile(i);
        }
    }
}

#[inline(always)]
fn ask<'p>(first: *const Line, places: impl IntoIterator<Item = &'p usize>) {
    places.into_iter().for_each(|&place| prefetch(first.wrapping_byte_add(place)));
}

/// Where a few hashes go, in any window; panics when one lies outside.
#[inline(always)]
fn place_in(window: Window, len: usize, hashes: &[u64; FEW], few: &mut Few) {
    let mut last = 0;
    for (i, &hash) in hashes.iter().enumerate() {
        let line = (reduce(hash, window.total as u64) as usize).wrapping_sub(window.first);
        few.places[i] = line.wrapping_mul(size_of::<Line>());
        few.gs[i] = mix(hash);
        last = last.max(line);
    }
    assert!(last < len, "a key was sent to a range of lines it does not belong to");
}

#[cfg(test)]
mod tests {
    use super::super::Hashes;
    use super::super::generic::Words;
    use super::*;

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
                block.find::<Words>(total, window, &Hashes(&hashes), start, |_| ());
                for (i, &hash) in hashes[start..].iter().take(BLOCK).enumerate() {
                    let few = &block.fews[i / FEW];
                    assert_eq!(few.places[i % FEW] as u64, 64 * reduce(hash, total as u64));
                    assert_eq!(few.gs[i % FEW], mix(hash));
                }
            }
        }
    }
}
