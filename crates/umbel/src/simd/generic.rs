//! The algorithm, written once over what an instruction set can do with one line ([`Lanes`]).
//!
//! ```text
//! line  = hi(hash, number of lines)             one cache line a key
//! g     = mix(hash)
//! mask  = for j in 0..8: 1 << (g >> (16 + 6 j)) mod 64      one bit a word
//! found = mask & !line == 0                      one test
//! ```
//! A batch asks for the line of the key [`AHEAD`] places on before it tests the key at hand, so that memory works on
//! many lines at once. Where the filter fits the cache that is work for nothing, and is left out. The keys of the next batch are asked for on the
//! way, so that hashing them does not have to wait.

use super::{Window, prefetch};
use crate::hash::{mix, reduce, xxh3, xxh3_u64};
use crate::memory::Line;

/// How many keys ahead a line is asked for.
const AHEAD: usize = 24;
/// Filters up to this many lines (512 KiB) are taken to be in the cache.
const NEAR: usize = 1 << 13;
/// Keys whose places are worked out together.
const BLOCK: usize = 512;

/// What an instruction set does with the one line of a key. `g` is the remixed hash.
pub(super) trait Lanes {
    /// Zero when the line has all bits of `g`.
    fn missing(line: &Line, g: u64) -> u8;
    /// Sets the bits of `g`; zero when none was missing.
    fn set(line: &mut Line, g: u64) -> u8;
    /// One bit for each byte that is zero.
    fn zeros(bytes: &[u8; 64]) -> u64;
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
    fn missing(line: &Line, g: u64) -> u8 {
        let mask = Words::mask(g);
        u8::from((0..8).fold(0, |missing, j| missing | (mask[j] & !line.0[j])) != 0)
    }

    #[inline(always)]
    fn set(line: &mut Line, g: u64) -> u8 {
        let missing = Words::missing(line, g);
        let mask = Words::mask(g);
        line.0.iter_mut().zip(mask).for_each(|(word, bit)| *word |= bit);
        missing
    }

    #[inline(always)]
    fn zeros(bytes: &[u8; 64]) -> u64 {
        bytes.iter().enumerate().fold(0, |zeros, (i, &byte)| zeros | u64::from(byte == 0) << i)
    }
}

#[inline(always)]
fn place(lines: &[Line], hash: u64) -> usize {
    reduce(hash, lines.len() as u64) as usize
}

#[inline(always)]
pub(super) fn contains<L: Lanes>(lines: &[Line], hash: u64) -> bool {
    L::missing(&lines[place(lines, hash)], mix(hash)) == 0
}

#[inline(always)]
pub(super) fn insert<L: Lanes>(lines: &mut [Line], hash: u64) -> bool {
    let place = place(lines, hash);
    L::set(&mut lines[place], mix(hash)) != 0
}

#[inline(always)]
pub(super) fn contains_batch<L: Lanes>(
    lines: &[Line],
    hashes: &[u64],
    next: &[u64],
    found: &mut [u64],
) {
    let mut block = Block::new();
    let window = Window { first: 0, total: lines.len() };
    let first = lines.as_ptr();
    for (i, (hashes, found)) in hashes.chunks(BLOCK).zip(found.chunks_mut(BLOCK / 64)).enumerate() {
        block.fill(lines.len(), window, hashes);
        let next = next.as_ptr().wrapping_add(i * BLOCK);
        block.visit::<L>(first, next, found, |place, g| {
            // SAFETY: `fill` made sure that every place is that of a line.
            L::missing(unsafe { &*first.byte_add(place) }, g)
        });
    }
}

/// The same for keys that are not hashed yet, the i-th of which is `key(i)`. While 64 keys are tested, the next 64 are hashed and their
/// lines asked for: arithmetic and memory work at the same time.
#[inline(always)]
pub(super) fn contains_keys<'k, L: Lanes>(
    lines: &[Line],
    seed: u64,
    len: usize,
    key: impl Fn(usize) -> &'k [u8],
    found: &mut [u64],
) {
    let mut bytes = [0; 64];
    // The keys that are tested, and those that are hashed meanwhile: where they go, and their remixed hashes.
    let (mut now, mut next) = (&mut [(0, 0); 64], &mut [(0, 0); 64]);
    let mut here = 0;
    let mut words = found.iter_mut();
    for start in (0..len + 64).step_by(64) {
        let ahead = len.saturating_sub(start).min(64);
        // One loop for all cases, because what is called from several places is not made part of any.
        for j in 0..64 {
            if j < ahead {
                let hash = xxh3(key(start + j), seed);
                let place = place(lines, hash);
                prefetch(lines.as_ptr().wrapping_add(place));
                next[j] = (place, mix(hash));
            }
            if j < here {
                let (place, g) = now[j];
                bytes[j] = L::missing(&lines[place], g);
            }
        }
        if here > 0
            && let Some(word) = words.next()
        {
            *word = L::zeros(&bytes) & u64::MAX >> (64 - here);
        }
        here = ahead;
        std::mem::swap(&mut now, &mut next);
    }
}

#[inline(always)]
pub(super) fn insert_batch<L: Lanes>(
    lines: &mut [Line],
    window: Window,
    hashes: &[u64],
    next: &[u64],
    new: &mut [u64],
) {
    let mut block = Block::new();
    let first = lines.as_mut_ptr();
    for (i, (hashes, new)) in hashes.chunks(BLOCK).zip(new.chunks_mut(BLOCK / 64)).enumerate() {
        block.fill(lines.len(), window, hashes);
        let next = next.as_ptr().wrapping_add(i * BLOCK);
        block.visit::<L>(first, next, new, |place, g| {
            // SAFETY: `fill` made sure that every place is that of a line, and `lines` is borrowed mutably.
            L::set(unsafe { &mut *first.byte_add(place) }, g)
        });
        // A bit was collected where nothing was missing: new is the contrary.
        let last = hashes.len();
        for (i, word) in new.iter_mut().enumerate() {
            *word = !*word & u64::MAX >> (64 - (last - 64 * i).min(64));
        }
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
    /// How far each key's line is from the first, in bytes. Behind the last stand zeros, so that looking ahead needs no test: the
    /// first line is always there.
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
        let mut last = 0;
        let mut put = |place: &mut usize, line: u64| {
            let line = (line as usize).wrapping_sub(window.first);
            last = last.max(line);
            *place = line.wrapping_mul(size_of::<Line>());
        };
        if let Ok(total) = u32::try_from(window.total) {
            // The same numbers as `reduce` gives, from 32-bit products, which vectorise.
            for (place, &hash) in places.iter_mut().zip(hashes) {
                let low = (u64::from(hash as u32) * u64::from(total)) >> 32;
                put(place, ((hash >> 32) * u64::from(total) + low) >> 32);
            }
        } else {
            for (place, &hash) in places.iter_mut().zip(hashes) {
                put(place, reduce(hash, window.total as u64));
            }
        }
        assert!(last < len, "a key was sent to a range of lines it does not belong to");
        self.places[self.len..].fill(0);
        for (g, &hash) in self.gs.iter_mut().zip(hashes) {
            *g = mix(hash);
        }
    }

    /// Calls `missing` for each key in order and collects a bit for each zero, 64 to a word. The memory at `next` is asked for on
    /// the way, a word for each key.
    #[inline(always)]
    fn visit<L: Lanes>(
        &self,
        lines: *const Line,
        next: *const u64,
        answers: &mut [u64],
        mut missing: impl FnMut(usize, u64) -> u8,
    ) {
        if self.far {
            self.places[..AHEAD].iter().for_each(|&place| prefetch(lines.wrapping_byte_add(place)));
        }
        let places = self.places[..self.len].chunks(64);
        let aheads = self.places[AHEAD..].chunks(64);
        let gs = self.gs[..self.len].chunks(64);
        let mut bytes = [0; 64];
        for (i, (word, ((places, aheads), gs))) in
            answers.iter_mut().zip(places.zip(aheads).zip(gs)).enumerate()
        {
            match (places.first_chunk::<64>(), aheads.first_chunk::<64>(), gs.first_chunk::<64>()) {
                (Some(places), Some(aheads), Some(gs)) if self.far => {
                    (0..8).for_each(|j| prefetch(next.wrapping_add(64 * i + 8 * j)));
                    for j in 0..64 {
                        prefetch(lines.wrapping_byte_add(aheads[j]));
                        bytes[j] = missing(places[j], gs[j]);
                    }
                    *word = L::zeros(&bytes);
                }
                (Some(places), _, Some(gs)) => {
                    for j in 0..64 {
                        bytes[j] = missing(places[j], gs[j]);
                    }
                    *word = L::zeros(&bytes);
                }
                _ => {
                    for (byte, (&place, &g)) in bytes.iter_mut().zip(places.iter().zip(gs)) {
                        *byte = missing(place, g);
                    }
                    *word = L::zeros(&bytes) & !(u64::MAX << places.len());
                }
            }
        }
    }
}
