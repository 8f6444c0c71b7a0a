//! A filter of a fixed set, after Grafite: cells are hashed so that neighbours stay neighbours, and the codes stand in
//! a sorted list.
//!
//! ```text
//! block(c) = c >> t          shift(b) = a random number below r, from the hash of b
//! code(c)  = (shift(block) + c mod 2^t) mod r                      r = ⌈n L / p⌉
//! ```
//!
//! A range of cells within a block is a range of codes, which may pass r - 1 and go on at 0. A stored cell of another
//! block falls into a range of w codes with probability w/r, so n of them make a wrong "yes" for L cells with
//! probability p at most; one of the same block falls into it only if it is in the range. A range that leaves its block
//! is cut there, as each block has a shift of its own.
//!
//! Grafite's blocks are r long. These are shorter, 64 L, and a power of two: no division, and a crowd of values has
//! many shifts instead of one, so that a crowd of questions does not share one bad luck.
//!
//! Reference: M. Costa, P. Ferragina, G. Vinciguerra, Grafite: taming adversarial queries with optimal range filters, 2024.

use super::Params;
use super::batch::TOGETHER;
use super::cell::Span;
use super::elias_fano::{EliasFano, Shape};
use crate::hash::{reduce, xxh3_u64};
use crate::{Error, Result};

/// A block has at most this many times the cells of a question: few questions are cut in two.
const QUESTIONS: u64 = 64;
/// The most codes: sums of two stay below 2^64.
pub(super) const MAX_CODES: u64 = 1 << 63;

/// How cells become codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Codes {
    /// r: codes lie below it.
    pub(super) limit: u64,
    /// t: a block has 2^t cells, at most r.
    pub(super) block_bits: u32,
    pub(super) seed: u64,
}

impl Codes {
    /// The codes that keep the rate for n cells.
    pub(super) fn new(params: &Params) -> Result<Codes> {
        let cells = params.grid().most_cells();
        let limit = least_codes(params);
        if limit > MAX_CODES as f64 {
            return Err(Error::Sizing(format!(
                "{limit:.1e} codes are more than a Grafite list has (2^63): take an exact list, or ask for a higher rate"
            )));
        }
        let limit = limit as u64;
        let block_bits = limit.min(cells.saturating_mul(QUESTIONS)).ilog2();
        Ok(Codes { limit, block_bits, seed: params.seed() })
    }

    /// The code of the first of these cells, which lie in one block.
    #[inline]
    fn start(&self, cell: u64) -> u64 {
        let shift = reduce(xxh3_u64(cell >> self.block_bits, self.seed), self.limit);
        self.wrap(shift + (cell & !(u64::MAX << self.block_bits)))
    }

    /// The codes of these cells, where they are one range.
    #[inline(always)]
    fn range(&self, cells: Span) -> (u64, u64) {
        let start = self.start(unsigned(cells.first));
        (start, start.wrapping_add(cells.last.abs_diff(cells.first)))
    }

    /// Whether the cells leave their block or pass the last code, so that their codes are no range.
    #[inline(always)]
    fn is_cut(&self, cells: Span, (_, end): (u64, u64)) -> bool {
        let leave_block = (unsigned(cells.first) ^ unsigned(cells.last)) >> self.block_bits != 0;
        leave_block | (end >= self.limit)
    }

    #[inline]
    fn wrap(&self, code: u64) -> u64 {
        if code < self.limit { code } else { code - self.limit }
    }
}

/// r = ⌈n L / p⌉, at least 1.
pub(super) fn least_codes(params: &Params) -> f64 {
    (params.n() as f64 * params.grid().most_cells() as f64 / params.p()).ceil().max(1.0)
}

/// The sorted codes of the cells.
#[derive(Clone)]
pub(super) struct Grafite {
    codes: Codes,
    list: EliasFano,
}

impl Grafite {
    /// The filter of these cells.
    pub(super) fn build(params: &Params, cells: &[i64]) -> Result<Grafite> {
        let codes = Codes::new(params)?;
        let mut numbers: Vec<u64> = cells.iter().map(|&cell| codes.start(unsigned(cell))).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let shape = Shape::new(numbers.len() as u64, codes.limit - 1);
        Ok(Grafite { codes, list: EliasFano::build(shape, numbers.into_iter())? })
    }

    pub(super) fn from_list(codes: Codes, list: EliasFano) -> Grafite {
        Grafite { codes, list }
    }

    pub(super) fn codes(&self) -> Codes {
        self.codes
    }

    pub(super) fn list(&self) -> &EliasFano {
        &self.list
    }

    pub(super) fn into_memory(self) -> Grafite {
        Grafite { list: self.list.into_memory(), ..self }
    }

    #[inline]
    pub(super) fn any_in(&self, cells: Span) -> bool {
        let range = self.codes.range(cells);
        if self.codes.is_cut(cells, range) {
            return self.any_in_parts(cells);
        }
        self.list.any_in(range.0, range.1)
    }

    /// Few questions leave their block or pass the last code: those are asked part by part.
    #[cold]
    fn any_in_parts(&self, cells: Span) -> bool {
        let (mut first, last) = (unsigned(cells.first), unsigned(cells.last));
        loop {
            // The last cell of the block.
            let end = last.min(first | !(u64::MAX << self.codes.block_bits));
            if self.any_in_block(first, end - first) {
                return true;
            }
            if end == last {
                return false;
            }
            first = end + 1;
        }
    }

    pub(super) fn any_in_batch(&self, cells: &[Span], answers: &mut [bool]) {
        let mut ranges = [(0, 0); TOGETHER];
        ranges.iter_mut().zip(cells).for_each(|(range, &cells)| *range = self.codes.range(cells));
        self.list.any_in_batch(&ranges[..cells.len()], answers);
        for ((&range, &cells), answer) in ranges.iter().zip(cells).zip(answers) {
            if self.codes.is_cut(cells, range) {
                *answer = self.any_in_parts(cells);
            }
        }
    }

    /// Whether a code lies where those of a cell and the `more` behind it do.
    fn any_in_block(&self, first: u64, more: u64) -> bool {
        let start = self.codes.start(first);
        let end = self.codes.wrap(start + more);
        if start <= end {
            return self.list.any_in(start, end);
        }
        self.list.any_in(start, self.codes.limit - 1) || self.list.any_in(0, end)
    }
}

/// Cells from 0 on, in the same order.
#[inline]
fn unsigned(cell: i64) -> u64 {
    (cell as u64) ^ (1 << 63)
}
