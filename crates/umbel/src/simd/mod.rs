//! The inner loops of the blocked layout: one algorithm (`generic`), compiled once for each instruction set that
//! is worth it, chosen when the program runs. Every path gives the same bits and the same answers.

#[cfg(target_arch = "x86_64")]
mod alike;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod block;
#[cfg(target_arch = "x86_64")]
mod eight;
mod generic;
#[cfg(target_arch = "x86_64")]
mod inline;
pub(crate) mod left;
mod portable;
#[cfg(target_arch = "x86_64")]
mod quads;
pub(crate) mod select;
mod source;
pub(crate) mod wide;

pub(crate) use generic::NEAR;
pub(crate) use source::{Hashes, Integers, Source, Spans, Texts};

use std::sync::OnceLock;

use crate::memory::Line;

/// An instruction set that this machine has. It can only be had from [`Level::available`] or [`Level::best`],
/// so holding one proves that its loops can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level(Isa);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Isa {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// Every level this machine can run, the best last.
    pub fn available() -> Vec<Level> {
        #[cfg_attr(not(target_arch = "x86_64"), allow(unused_mut))]
        let mut levels = vec![Level(Isa::Portable)];
        #[cfg(target_arch = "x86_64")]
        {
            if avx2::is_available() {
                levels.push(Level(Isa::Avx2));
            }
            if avx512::is_available() {
                levels.push(Level(Isa::Avx512));
            }
        }
        levels
    }

    /// Whether its code for one key is inlined where it is called.
    #[inline(always)]
    pub(crate) fn inlines(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return self.0 != Isa::Portable;
        #[cfg(not(target_arch = "x86_64"))]
        false
    }

    /// Whether its vectors hold a whole line.
    #[inline(always)]
    pub(crate) fn is_whole(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return self.0 == Isa::Avx512;
        #[cfg(not(target_arch = "x86_64"))]
        false
    }

    /// The best level of this machine.
    pub fn best() -> Level {
        static BEST: OnceLock<Level> = OnceLock::new();
        *BEST.get_or_init(|| Level::available().pop().unwrap_or(Level(Isa::Portable)))
    }
}

/// Which of a filter's lines are at hand: those from `first` on, of `total`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    pub(crate) first: usize,
    pub(crate) total: usize,
}

/// Runs a loop of the level's instruction set.
macro_rules! dispatch {
    ($level:expr, $name:ident($($argument:expr),*)) => {
        match $level.0 {
            Isa::Portable => portable::$name($($argument),*),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a `Level` holds only what the machine was found to have.
            Isa::Avx2 => unsafe { avx2::$name($($argument),*) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Isa::Avx512 => unsafe { avx512::$name($($argument),*) },
        }
    };
}

/// Whether the line of `hash` has all its bits.
#[inline(always)]
pub(crate) fn contains(level: Level, lines: &[Line], hash: u64) -> bool {
    dispatch!(level, contains(lines, hash))
}

/// Sets the bits of `hash`; says whether any was missing.
#[inline(always)]
pub(crate) fn insert(level: Level, lines: &mut [Line], hash: u64) -> bool {
    dispatch!(level, insert(lines, hash))
}

/// [`contains`] for an integer key, with the secret of the hash's seed.
#[inline(always)]
pub(crate) fn contains_u64(level: Level, lines: &[Line], key: u64, secret: u64) -> bool {
    dispatch!(level, contains_u64(lines, key, secret))
}

/// [`insert`] for an integer key, with the secret of the hash's seed.
#[inline(always)]
pub(crate) fn insert_u64(level: Level, lines: &mut [Line], key: u64, secret: u64) -> bool {
    dispatch!(level, insert_u64(lines, key, secret))
}

/// One answer bit a key, 64 to a word of `found`.
pub(crate) fn contains_batch(level: Level, lines: &[Line], keys: &impl Source, found: &mut [u64]) {
    dispatch!(level, contains_batch(lines, keys, found))
}

/// The same for hashes in several filters, whose words of `found` stand one filter behind the other.
pub(crate) fn contains_together(
    level: Level,
    filters: &[&[Line]],
    hashes: &[u64],
    found: &mut [u64],
) {
    dispatch!(level, contains_together(filters, hashes, found))
}

/// Sets the bits of every key. Panics when the line of a key is not in the window.
pub(crate) fn insert_batch(level: Level, lines: &mut [Line], window: Window, keys: &impl Source) {
    dispatch!(level, insert_batch(lines, window, keys))
}

/// Sets the bits of every key, in order; one bit a key that was new, 64 to a word of `new`.
pub(crate) fn insert_mask(level: Level, lines: &mut [Line], keys: &impl Source, new: &mut [u64]) {
    dispatch!(level, insert_mask(lines, keys, new))
}

/// The hashes of integer keys.
pub(crate) fn hash_batch(level: Level, keys: &[u64], seed: u64, hashes: &mut [u64]) {
    dispatch!(level, hash_batch(keys, seed, hashes))
}

/// Asks memory for what will soon be needed; any address is good.
#[inline(always)]
pub(crate) fn prefetch<T>(line: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}
