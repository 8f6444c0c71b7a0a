//! The algorithm, over what an instruction set can do with one line, and with many keys at once ([`Lanes`]).
//!
//! ```text
//! line  = hi(hash, number of lines)             one cache line a key
//! g     = mix(hash)
//! mask  = for j in 0..8: 1 << (g >> (16 + 6 j)) mod 64      one bit a word
//! found = mask & !line == 0                      one test
//! ```
//! A batch goes block by block. The keys of the next block are hashed before the block at hand is tested, and memory is asked for
//! their lines in time: for texts, whose hashes take long where they are worked out one by one, as soon as a few are known, so that memory works while the next are
//! hashed; otherwise one with each test, because so many requests at once would have to wait for each other. Keys are asked for long
//! before they are hashed: between so many random lines the processor does not see that they stand in a row. Where the filter
//! fits the cache, asking is work for nothing, and is left out.

use super::{Source, Window, prefetch};
use crate::bloom::Span;
use crate::hash::{mix, reduce, xxh3, xxh3_u64, xxh3_u64_with};
use crate::memory::Line;

/// Filters up to this many lines (512 KiB) are taken to be in the cache.
pub(crate) const NEAR: usize = 1 << 13;
/// Keys that go together: a word of answers.
pub(crate) const BLOCK: usize = 64;
/// Keys that are hashed together.
pub(crate) const FEW: usize = 16;

/// How many times so many make a block.
const FEWS: usize = BLOCK / FEW;
/// How many of them ahead lines are asked for: with 64 keys ahead in place of 32, a filter that is far larger than the caches took a tenth
/// longer.
const FEWS_AHEAD: usize = 2;

/// What an instruction set does with the one line of a key. `g` is the remixed hash.
pub(crate) trait Lanes: Sized {
    /// The bits of a key.
    type Mask: Copy;
    /// Whether texts are hashed in vectors, so fast that requests for all their lines at once would have to wait for each other.
    const HASHES_TEXTS: bool = false;
    /// What a test gives for a line that has all of them.
    const ALL: u8;

    /// The bits of `g`.
    fn mask(g: u64) -> Self::Mask;
    /// Tests a line for all bits of a mask.
    fn test(line: &Line, mask: Self::Mask) -> u8;
    /// Sets the bits of `g`; gives what a test gave before.
    fn set(line: &mut Line, g: u64) -> u8;
    /// One bit for each test that found all bits.
    fn all(tests: &[u8; BLOCK]) -> u64;
    /// [`test_block`], for those who want a function of their own for it.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    unsafe fn test_block(first: *const Line, block: &Block, next: Option<&Block>) -> u64 {
        // SAFETY: as the caller promises.
        unsafe { test_block::<Self>(first, block, next) }
    }
    /// [`set_block`], likewise.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    unsafe fn set_block(first: *mut Line, block: &Block, next: Option<&Block>) -> u64 {
        // SAFETY: as the caller promises.
        unsafe { set_block::<Self>(first, block, next) }
    }
    /// [`fill_block`], likewise.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    unsafe fn fill_block(first: *mut Line, block: &Block, next: Option<&Block>) {
        // SAFETY: as the caller promises.
        unsafe { fill_block::<Self>(first, block, next) }
    }
    /// Where a few hashes go, among lines that take `total` bytes in all.
    #[inline(always)]
    fn place(hashes: &[u64; FEW], total: u32, few: &mut Few) {
        for (i, &hash) in hashes.iter().enumerate() {
            // The upper half of the product, from products of 32 bits, which vectorise; without its last bits it is the place of a
            // line, as `reduce` gives it.
            let (upper, lower) = (hash >> 32, u64::from(hash as u32));
            let carried = (lower * u64::from(total)) >> 32;
            let bytes = (upper * u64::from(total) + carried) >> 32;
            few.places[i] = bytes as usize & !(size_of::<Line>() - 1);
            few.gs[i] = mix(hash);
        }
    }
    /// Where a block of integer keys goes.
    #[inline(always)]
    fn place_integers(keys: &[u64; BLOCK], secret: u64, total: u32, block: &mut Block) {
        for (keys, few) in keys.as_chunks::<FEW>().0.iter().zip(&mut block.fews) {
            let mut hashes = [0; FEW];
            for (hash, &key) in hashes.iter_mut().zip(keys) {
                *hash = xxh3_u64_with(key, secret);
            }
            Self::place(&hashes, total, few);
        }
    }
    /// The hashes of as many keys, at most [`FEW`].
    #[inline(always)]
    fn hash(keys: &[&[u8]], seed: u64, hashes: &mut [u64]) {
        Self::hash_each(|i| keys[i], seed, hashes);
    }
    /// The same for keys that stand in a text.
    #[inline(always)]
    fn hash_spans(text: &[u8], spans: &[Span], seed: u64, hashes: &mut [u64]) {
        Self::hash_each(|i| spans[i].of(text), seed, hashes);
    }
    /// The hashes of as many keys, at most [`FEW`], of which `key(i)` is the i-th.
    #[inline(always)]
    fn hash_each<'k>(key: impl Fn(usize) -> &'k [u8], seed: u64, hashes: &mut [u64]) {
        for (i, hash) in hashes.iter_mut().enumerate() {
            *hash = xxh3(key(i), seed);
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
    fn all(tests: &[u8; BLOCK]) -> u64 {
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
pub(super) fn contains_batch<L: Lanes>(lines: &[Line], keys: &impl Source, found: &mut [u64]) {
    let (first, len) = (lines.as_ptr(), lines.len());
    let mut found = found.iter_mut();
    let window = Window { first: 0, total: len };
    visit::<L, _>(first, len, window, keys, |block, next| {
        // SAFETY: `visit` finds lines among these.
        let tests = unsafe { L::test_block(first, block, next) };
        found.next().into_iter().for_each(|word| *word = tests);
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
pub(super) fn insert_batch<L: Lanes>(lines: &mut [Line], window: Window, keys: &impl Source) {
    let (first, len) = (lines.as_mut_ptr(), lines.len());
    // SAFETY: `visit` finds lines among these, which are borrowed mutably.
    visit::<L, _>(first, len, window, keys, |block, next| unsafe {
        L::fill_block(first, block, next)
    });
}

#[inline(always)]
pub(super) fn insert_mask<L: Lanes>(lines: &mut [Line], keys: &impl Source, new: &mut [u64]) {
    let (first, len) = (lines.as_mut_ptr(), lines.len());
    let mut new = new.iter_mut();
    let window = Window { first: 0, total: len };
    visit::<L, _>(first, len, window, keys, |block, next| {
        // Where nothing was missing, the key is not new.
        // SAFETY: `visit` finds lines among these, which are borrowed mutably.
        let old = unsafe { L::set_block(first, block, next) };
        new.next().into_iter().for_each(|word| *word = !old & block.keys());
    });
}

/// The hashes of integer keys.
#[inline(always)]
pub(super) fn hash_batch(keys: &[u64], seed: u64, hashes: &mut [u64]) {
    for (hash, &key) in hashes.iter_mut().zip(keys) {
        *hash = xxh3_u64(key, seed);
    }
}

/// One bit for each key of a block whose line has all its bits. Lines of keys to come, the first of the next block among them, are asked for between the tests.
///
/// # Safety
/// The block was found among the lines from `first` on.
#[inline(always)]
pub(super) unsafe fn test_block<L: Lanes>(
    first: *const Line,
    block: &Block,
    next: Option<&Block>,
) -> u64 {
    let mut tests = [0; BLOCK];
    block.each(first, next, |j, place, g| {
        // SAFETY: every place is that of a line.
        tests[j] = L::test(unsafe { &*first.byte_add(place) }, L::mask(g));
    });
    L::all(&tests) & block.keys()
}

/// Sets the bits of each key of a block; one bit for each whose line had them all before.
///
/// # Safety
/// As above, and nobody else has the lines.
#[inline(always)]
pub(super) unsafe fn set_block<L: Lanes>(
    first: *mut Line,
    block: &Block,
    next: Option<&Block>,
) -> u64 {
    let mut tests = [0; BLOCK];
    block.each(first, next, |j, place, g| {
        // SAFETY: every place is that of a line, which nobody else has.
        tests[j] = L::set(unsafe { &mut *first.byte_add(place) }, g);
    });
    L::all(&tests) & block.keys()
}

/// The same without answers.
///
/// # Safety
/// As above.
#[inline(always)]
pub(super) unsafe fn fill_block<L: Lanes>(first: *mut Line, block: &Block, next: Option<&Block>) {
    // SAFETY: as above.
    block.each(first, next, |_, place, g| _ = L::set(unsafe { &mut *first.byte_add(place) }, g));
}

/// Calls `touch` for each block of keys, in order, with the next one if lines of keys to come are to be asked for. Panics when the line of a key is
/// not one of the `len` in the window.
#[inline(always)]
fn visit<L: Lanes, S: Source>(
    first: *const Line,
    len: usize,
    window: Window,
    keys: &S,
    mut touch: impl FnMut(&Block, Option<&Block>),
) {
    assert!(len > 0, "a filter has a line");
    let (far, at_once) = (len > NEAR, S::TAKES_LONG && !L::HASHES_TEXTS);
    let ask =
        |few: &Few| few.places.iter().for_each(|&place| prefetch(first.wrapping_byte_add(place)));
    let ask_at_once = |few: &Few| {
        if far && at_once {
            ask(few);
        }
    };
    let (mut now, mut next) = (&mut Block::new(), &mut Block::new());
    next.find::<L>(len, window, keys, 0, ask_at_once);
    if far && !at_once {
        next.fews.iter().take(FEWS_AHEAD.min(next.len.div_ceil(FEW))).for_each(ask);
    }
    for start in (0..keys.len()).step_by(BLOCK) {
        std::mem::swap(&mut now, &mut next);
        if far && now.len == BLOCK {
            keys.ask(start);
        }
        next.find::<L>(len, window, keys, start + BLOCK, ask_at_once);
        // Also behind the last key, where the places are those of keys before: a test of that in each round took a seventh of the time of inserts.
        touch(now, (far && !at_once).then_some(next));
    }
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

    /// A bit for each key.
    #[inline(always)]
    fn keys(&self) -> u64 {
        u64::MAX >> (BLOCK - self.len)
    }

    /// Calls `touch` for each key, with its number, place and remixed hash. Memory is asked for a line of those to come each time.
    #[inline(always)]
    fn each(
        &self,
        first: *const Line,
        next: Option<&Block>,
        mut touch: impl FnMut(usize, usize, u64),
    ) {
        let mut touch = |i: usize, j: usize| {
            touch(FEW * i + j, self.fews[i].places[j], self.fews[i].gs[j]);
        };
        if self.len < BLOCK {
            if next.is_some() {
                let rest = self.fews.iter().take(self.len.div_ceil(FEW)).skip(FEWS_AHEAD);
                rest.flat_map(|few| &few.places)
                    .for_each(|&place| prefetch(first.wrapping_byte_add(place)));
            }
            return (0..self.len).for_each(|j| touch(j / FEW, j % FEW));
        }
        for i in 0..FEWS {
            for j in 0..FEW {
                if let Some(next) = next {
                    let ahead = self
                        .fews
                        .get(i + FEWS_AHEAD)
                        .unwrap_or(&next.fews[(i + FEWS_AHEAD) % FEWS]);
                    prefetch(first.wrapping_byte_add(ahead.places[j]));
                }
                touch(i, j);
            }
        }
    }

    /// Works out the places of the keys from `start` on, among the `len` lines of a window, and calls `ask` for a few at a time; panics when
    /// one lies outside.
    #[inline(always)]
    fn find<L: Lanes>(
        &mut self,
        len: usize,
        window: Window,
        keys: &impl Source,
        start: usize,
        ask: impl Fn(&Few),
    ) {
        self.len = keys.len().saturating_sub(start).min(BLOCK);
        let whole = window.first == 0 && window.total == len;
        let total = whole.then_some(window.total * size_of::<Line>());
        let total = total.and_then(|total| u32::try_from(total).ok());
        if let (Some(total), Some((keys, secret))) = (total, keys.integers(start)) {
            return L::place_integers(keys, secret, total, self);
        }
        for i in 0..self.len.div_ceil(FEW) {
            let few = &mut self.fews[i];
            let mut room = [0; FEW];
            let hashes = keys.few::<L>(start + i * FEW, &mut room);
            match total {
                Some(total) => L::place(hashes, total, few),
                None => place_in(window, len, hashes, few),
            }
            ask(few);
        }
    }
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
