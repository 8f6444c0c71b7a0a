//! Many keys at once: their hashes block by block, and the places of a block row by row.

use super::table::AHEAD;
use crate::bloom::Keys;
use crate::hash::{mix, reduce, xxh3};
use crate::simd::{self, Level};

/// Keys worked on together: their hashes, places and answers stay in the nearest cache.
pub(crate) const BLOCK: usize = 512;

/// Calls `work` with the hashes of each block of keys, and the number of keys before it.
pub(super) fn each_block(keys: Keys<'_>, seed: u64, mut work: impl FnMut(usize, &[u64])) {
    let mut buffer = [0; BLOCK];
    match keys {
        Keys::Bytes(keys) => {
            for (i, keys) in keys.chunks(BLOCK).enumerate() {
                buffer.iter_mut().zip(keys).for_each(|(hash, key)| *hash = xxh3(key, seed));
                work(i * BLOCK, &buffer[..keys.len()]);
            }
        }
        Keys::Spans(text, spans) => {
            for (i, spans) in spans.chunks(BLOCK).enumerate() {
                let keys = spans.iter().map(|span| span.of(text));
                buffer.iter_mut().zip(keys).for_each(|(hash, key)| *hash = xxh3(key, seed));
                work(i * BLOCK, &buffer[..spans.len()]);
            }
        }
        Keys::U64(keys) => {
            for (i, keys) in keys.chunks(BLOCK).enumerate() {
                let hashes = &mut buffer[..keys.len()];
                simd::hash_batch(Level::best(), keys, seed, hashes);
                work(i * BLOCK, hashes);
            }
        }
        Keys::Hashes(hashes) => {
            hashes.chunks(BLOCK).enumerate().for_each(|(i, hashes)| work(i * BLOCK, hashes));
        }
    }
}

/// The places of a block of keys in one row after the other.
pub(super) struct Rows {
    /// The remixed hashes for the row to come.
    xs: [u64; BLOCK],
    /// Behind the last stand zeros: looking ahead needs no test, as the first counter is always there.
    places: [usize; BLOCK + AHEAD],
    len: usize,
}

impl Rows {
    /// At most [`BLOCK`] hashes.
    pub(super) fn new(hashes: &[u64]) -> Rows {
        let mut xs = [0; BLOCK];
        xs[..hashes.len()].copy_from_slice(hashes);
        Rows { xs, places: [0; BLOCK + AHEAD], len: hashes.len() }
    }

    /// The places in the next row, which begins at `start` and has `width` counters; [`AHEAD`] zeros stand behind.
    pub(super) fn next(&mut self, start: usize, width: u64) -> &[usize] {
        let places = &mut self.places[..self.len];
        if let Ok(narrow) = u32::try_from(width) {
            // The same numbers as `reduce` gives, from 32-bit products, which vectorise.
            let narrow = u64::from(narrow);
            for (place, &x) in places.iter_mut().zip(&self.xs) {
                let low = (u64::from(x as u32) * narrow) >> 32;
                *place = start + (((x >> 32) * narrow + low) >> 32) as usize;
            }
        } else {
            for (place, &x) in places.iter_mut().zip(&self.xs) {
                *place = start + reduce(x, width) as usize;
            }
        }
        self.xs[..self.len].iter_mut().for_each(|x| *x = mix(*x));
        &self.places[..self.len + AHEAD]
    }
}
