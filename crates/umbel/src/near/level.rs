//! One level of a growing filter: a Bloom filter that is asked for 512 neighbouring cells at once.
//!
//! ```text
//! insert z     for each of k probes of the block z >> 9: in its line, turned by its turn, set bit z mod 512
//! ask a..=b    left = the bits of a..=b;  for each probe: left &= its line, turned back;  yes if some are left
//! ```
//!
//! So a question costs k lines for 512 cells instead of k lines for each, and most often fewer, as it ends when no bit is left.
//! Without the turns, values that are multiples of 512 would all have the same bit of their lines.

use super::cell::Span;
use crate::hash::{mix, reduce, xxh3_u64};
use crate::memory::{Line, Memory};
use crate::simd::left::{Left, Work, run};
use crate::simd::prefetch;

/// Cells in a block, bits in a line.
pub(super) const BLOCK: u64 = 512;
/// The last cell of a block, counted from its first.
const LAST: i64 = BLOCK as i64 - 1;
/// As many lines as leave one cell, and so many more, are likely to be needed.
const MORE: u32 = 2;
/// Up to this many lines (512 KiB) are taken to be in the cache.
const IN_CACHE: u64 = 1 << 13;

/// The size of a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LevelSize {
    /// s: 2^s cells count as one.
    pub(super) shift: u32,
    /// k: probes.
    pub(super) probes: u32,
    /// Lines of 512 bits.
    pub(super) lines: u64,
}

impl LevelSize {
    /// The fewest lines for `n` cells at the rate `q` for each cell asked.
    pub(super) fn new(n: u64, q: f64, shift: u32) -> LevelSize {
        let probes = (-q.log2()).round().clamp(1.0, 64.0);
        let bits = -probes * n as f64 / (-q.powf(1.0 / probes)).ln_1p();
        let lines = (bits / BLOCK as f64).ceil().max(1.0);
        LevelSize { shift, probes: probes as u32, lines: lines as u64 }
    }

    pub(super) fn bits(&self) -> u64 {
        self.lines.saturating_mul(BLOCK)
    }

    /// The share of bits that are set when it holds n cells.
    pub(super) fn fill_at(&self, n: u64) -> f64 {
        -(-f64::from(self.probes) * n as f64 / self.bits() as f64).exp_m1()
    }
}

/// Lines of bits and how cells find theirs.
#[derive(Clone)]
pub(super) struct Level {
    size: LevelSize,
    seed: u64,
    lines: Memory,
}

impl Level {
    /// As many lines as the size says.
    pub(super) fn new(size: LevelSize, seed: u64, lines: Memory) -> Level {
        Level { size, seed, lines }
    }

    pub(super) fn size(&self) -> LevelSize {
        self.size
    }

    pub(super) fn lines(&self) -> &Memory {
        &self.lines
    }

    pub(super) fn into_memory(self) -> Level {
        Level { lines: self.lines.into_memory(), ..self }
    }

    /// Adds a cell; says whether it was certainly new.
    pub(super) fn insert(&mut self, cell: i64) -> bool {
        let cell = cell >> self.size.shift;
        let (word, bit) = (word_of(cell), cell as u32 % 64);
        let mut x = self.hash(cell);
        let lines = self.lines.lines_mut();
        let mut new = 0;
        for _ in 0..self.size.probes {
            let line = &mut lines[reduce(x, self.size.lines) as usize];
            let word = &mut line.0[turned(word, x)];
            let bit = 1_u64.rotate_left(bit.wrapping_add(x as u32));
            new |= bit & !*word;
            *word |= bit;
            x = mix(x);
        }
        new != 0
    }

    /// Asks memory for the lines of a cell that is to be added, unless they are near.
    pub(super) fn ask_for_cell(&self, cell: i64) {
        if self.size.lines > IN_CACHE {
            self.ask_for_lines(cell >> self.size.shift, self.size.probes);
        }
    }

    /// Whether one of these cells may have been added. `asked` says that memory has been asked for the lines.
    #[inline]
    pub(super) fn any_in(&self, cells: Span, asked: bool) -> bool {
        run(AnyIn { level: self, cells, asked })
    }

    /// Asks memory for the lines of a question that is to come, unless they are near or too many; says whether it did.
    pub(super) fn ask_for(&self, cells: Span) -> bool {
        let (first, last) = (cells.first >> self.size.shift, cells.last >> self.size.shift);
        let blocks = (first >> 9).abs_diff(last >> 9) + 1;
        let worth = self.size.lines > IN_CACHE && blocks <= 2;
        if worth && blocks == 1 {
            self.ask_for_block(first, last);
        } else if worth {
            self.ask_for_block(first, first | LAST);
            self.ask_for_block(last & !LAST, last);
        }
        worth
    }

    /// Asks for as many lines as a "no" is likely to need: each leaves half of the cells. A "yes" needs the others too, but
    /// sees them coming.
    #[inline]
    fn ask_for_block(&self, first: i64, last: i64) {
        let likely = (first.abs_diff(last) + 1).ilog2() + MORE;
        self.ask_for_lines(first, self.size.probes.min(likely));
    }

    #[inline]
    fn ask_for_lines(&self, cell: i64, probes: u32) {
        let mut x = self.hash(cell);
        for _ in 0..probes {
            prefetch(self.lines.as_ptr().wrapping_add(reduce(x, self.size.lines) as usize));
            x = mix(x);
        }
    }

    /// Whether one of these cells, which lie in one block, may have been added.
    #[inline(always)]
    fn any_in_block<L: Left>(&self, first: i64, last: i64) -> bool {
        let mut left = L::between((first & LAST) as usize, (last & LAST) as usize);
        let mut x = self.hash(first);
        for _ in 0..self.size.probes {
            if !left.keep(&self.lines[reduce(x, self.size.lines) as usize], x) {
                return false;
            }
            x = mix(x);
        }
        true
    }

    #[inline]
    fn hash(&self, cell: i64) -> u64 {
        xxh3_u64((cell >> 9) as u64, self.seed)
    }

    /// Takes in the cells of a level of the same size and seed.
    pub(super) fn merge(&mut self, other: &Level) {
        let lines = self.lines.lines_mut().iter_mut().zip(other.lines.iter());
        let pairs = lines.flat_map(|(ours, theirs)| ours.0.iter_mut().zip(theirs.0));
        pairs.for_each(|(ours, theirs)| *ours |= theirs);
    }

    /// The share of bits that are set.
    pub(super) fn fill(&self) -> f64 {
        let ones =
            |line: &Line| line.0.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        self.lines.iter().map(ones).sum::<u64>() as f64 / self.size.bits() as f64
    }
}

/// Whether one of some cells may have been added.
struct AnyIn<'a> {
    level: &'a Level,
    cells: Span,
    asked: bool,
}

impl Work for AnyIn<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<L: Left>(self) -> bool {
        let AnyIn { level, cells, asked } = self;
        let size = level.size;
        let (mut first, last) = (cells.first >> size.shift, cells.last >> size.shift);
        loop {
            let end = last.min(first | LAST);
            if !asked && size.lines > IN_CACHE {
                level.ask_for_block(first, end);
            }
            if level.any_in_block::<L>(first, end) {
                return true;
            }
            if end == last {
                return false;
            }
            first = end + 1;
        }
    }
}

/// The word of a block that a cell has its bit in.
#[inline]
fn word_of(cell: i64) -> usize {
    (cell as u64 % BLOCK / 64) as usize
}

/// The place of a word in a line that is turned by x mod 512.
#[inline]
fn turned(word: usize, x: u64) -> usize {
    (word + (x >> 6) as usize) % 8
}
