//! The algorithm, over what an instruction set can do with one line, and with many keys at once ([`Lanes`]).
//!
//! ```text
//! line  = hi(hash, number of lines)             one cache line a key
//! g     = mix(hash)
//! mask  = for j in 0..8: 1 << (g >> (16 + 6 j)) mod 64      one bit a word
//! found = mask & !line == 0                      one test
//! ```
//! A batch goes block by block: the keys of the next one are hashed before the block at hand is tested, and memory is asked for each line
//! a while before its test, during hashing or the tests of other keys (`block` says when). Keys are asked for long before they are
//! hashed: between so many random lines the processor does not see that they stand in a row. Where the filter fits the cache, asking is
//! work for nothing, and is left out.

use super::block::{Ahead, BLOCK, Block, FEW, Few};
use super::{Source, Window};
use crate::bloom::Span;
use crate::hash::{mix, reduce, xxh3, xxh3_u64, xxh3_u64_with};
use crate::memory::Line;

/// Filters up to this many lines (512 KiB) are taken to be in the cache.
pub(crate) const NEAR: usize = 1 << 13;

/// What an instruction set does with the one line of a key. `g` is the remixed hash.
pub(crate) trait Lanes: Sized {
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
    fn all(tests: &[u8; BLOCK]) -> u64;
    /// [`test_block`], for those who want a function of their own for it.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    unsafe fn test_block(first: *const Line, block: &Block, ahead: Ahead<'_>) -> u64 {
        // SAFETY: as the caller promises.
        unsafe { test_block::<Self>(first, block, ahead) }
    }
    /// [`set_block`], likewise.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    unsafe fn set_block(first: *mut Line, block: &Block, ahead: Ahead<'_>) -> u64 {
        // SAFETY: as the caller promises.
        unsafe { set_block::<Self>(first, block, ahead) }
    }
    /// [`fill_block`], likewise.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    unsafe fn fill_block(first: *mut Line, block: &Block, ahead: Ahead<'_>) {
        // SAFETY: as the caller promises.
        unsafe { fill_block::<Self>(first, block, ahead) }
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
    visit::<L, _>(first, len, window, keys, |block, ahead| {
        // SAFETY: `visit` finds lines among these.
        let tests = unsafe { L::test_block(first, block, ahead) };
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
    visit::<L, _>(first, len, window, keys, |block, ahead| unsafe {
        L::fill_block(first, block, ahead)
    });
}

#[inline(always)]
pub(super) fn insert_mask<L: Lanes>(lines: &mut [Line], keys: &impl Source, new: &mut [u64]) {
    let (first, len) = (lines.as_mut_ptr(), lines.len());
    let mut new = new.iter_mut();
    let window = Window { first: 0, total: len };
    visit::<L, _>(first, len, window, keys, |block, ahead| {
        // Where nothing was missing, the key is not new.
        // SAFETY: `visit` finds lines among these, which are borrowed mutably.
        let old = unsafe { L::set_block(first, block, ahead) };
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
    ahead: Ahead<'_>,
) -> u64 {
    let mut tests = [0; BLOCK];
    block.each(first, ahead, |j, place, g| {
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
pub(super) unsafe fn set_block<L: Lanes>(first: *mut Line, block: &Block, ahead: Ahead<'_>) -> u64 {
    let mut tests = [0; BLOCK];
    block.each(first, ahead, |j, place, g| {
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
pub(super) unsafe fn fill_block<L: Lanes>(first: *mut Line, block: &Block, ahead: Ahead<'_>) {
    // SAFETY: as above.
    block.each(first, ahead, |_, place, g| _ = L::set(unsafe { &mut *first.byte_add(place) }, g));
}

/// Calls `touch` for each block of keys, in order, and says what it is to ask for meanwhile. Panics when the line of a key is
/// not one of the `len` in the window.
#[inline(always)]
fn visit<L: Lanes, S: Source>(
    first: *const Line,
    len: usize,
    window: Window,
    keys: &S,
    mut touch: impl FnMut(&Block, Ahead<'_>),
) {
    assert!(len > 0, "a filter has a line");
    let far = len > NEAR;
    let (mut now, mut next) = (&mut Block::new(), &mut Block::new());
    next.find::<L>(len, window, keys, 0, |_| ());
    if far {
        next.ask_for_half(first);
    }
    for start in (0..keys.len()).step_by(BLOCK) {
        std::mem::swap(&mut now, &mut next);
        if far && now.is_whole() {
            keys.ask(start);
        }
        next.find::<L>(len, window, keys, start + BLOCK, |i| {
            if far && S::TAKES_LONG {
                now.ask_for_rest(first, i);
            }
        });
        // Also behind the last key, where the places are those of keys before, or of the first line, and are asked for in vain: a test of that in
        // each round took a seventh of the time of inserts.
        let ahead = match (far, S::TAKES_LONG) {
            (false, _) => Ahead::Nothing,
            (true, false) => Ahead::Each(next),
            (true, true) => Ahead::Half(next),
        };
        // One call: two would not be inlined, and a closure of its own has no instruction set.
        touch(now, ahead);
    }
}
