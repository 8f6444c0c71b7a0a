//! The growing filter: takes values one by one, and merges.
//!
//! One level holds the cells. Wide questions get a second one in front, in which as many cells count as one as a
//! question asks for: it says "no" to most questions after a few lines.

use super::Params;
use super::cell::Span;
use super::level::{BLOCK, Level, LevelSize};
use crate::bloom::same;
use crate::memory::Memory;
use crate::sizing::MAX_BITS;
use crate::{Error, Result};

/// The most cells a question may ask of a growing filter: 8192 blocks.
pub(super) const MOST_CELLS: u64 = 1 << 22;
/// The rate of the first of two levels.
const FIRST_RATE: f64 = 1.0 / 16.0;

/// Questions or cells whose lines are asked for together: they are many, and the first must not be driven out by the last.
const AT_ONCE: usize = 8;

/// The sizes of the levels: the first of two, and the one that holds the cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) coarse: Option<LevelSize>,
    pub(super) fine: LevelSize,
}

impl Sizes {
    /// The sizes that keep the rate for n cells.
    pub(super) fn new(params: &Params, two_levels: bool) -> Result<Sizes> {
        let (n, cells) = (params.n(), params.grid().most_cells());
        check_cells(cells)?;
        if n == 0 {
            return Err(Error::Sizing(
                "a growing filter for 0 values cannot be sized: give at least 1".into(),
            ));
        }
        // Blocks whose 64-bit hashes meet cannot be told apart.
        let lowest = (cells / 256 + 64) as f64 * n as f64 / 2f64.powi(64);
        if params.p() < lowest {
            let rate = match lowest * 1.05 {
                rate if rate < 1.0 => format!("at least {rate:.1e}, or for "),
                _ => String::new(),
            };
            return Err(Error::Sizing(format!(
                "a 64-bit hash cannot carry a rate of {} for {n} values: ask for {rate}fewer values",
                params.p(),
            )));
        }
        // A question asks for up to L cells, each at the rate q: 1 - (1 - q)^L = p.
        let q = -((-params.p()).ln_1p() / cells as f64).exp_m1();
        let shift = cells.next_power_of_two().ilog2();
        let sizes = Sizes {
            coarse: two_levels.then(|| LevelSize::new(n, FIRST_RATE, shift)),
            fine: LevelSize::new(n, q, 0),
        };
        sizes.check()?;
        Ok(sizes)
    }

    pub(super) fn check(&self) -> Result<()> {
        if self.bits() > MAX_BITS {
            return Err(Error::Sizing(format!(
                "{:.3e} bits are more than one filter holds (2^48): ask for fewer values or a higher rate",
                self.bits() as f64
            )));
        }
        Ok(())
    }

    pub(super) fn bits(&self) -> u64 {
        self.fine.bits().saturating_add(self.coarse.map_or(0, |coarse| coarse.bits()))
    }

    /// The rate of false positives of a question for `cells` cells, when n are stored.
    pub(super) fn rate_at(&self, n: u64, cells: u64) -> f64 {
        rate(self.fine, self.fine.fill_at(n), cells)
    }
}

/// Refuses questions that would look at too many blocks.
pub(super) fn check_cells(cells: u64) -> Result<()> {
    if cells > MOST_CELLS {
        return Err(Error::Sizing(format!(
            "a question for {cells} cells is too wide for a growing filter (2^22): take a larger beta, or build a list"
        )));
    }
    Ok(())
}

fn rate(fine: LevelSize, fill: f64, cells: u64) -> f64 {
    let q = fill.powi(fine.probes as i32);
    -(cells as f64 * (-q).ln_1p()).exp_m1()
}

/// One level, or two.
#[derive(Clone)]
pub(super) struct Growing {
    coarse: Option<Level>,
    fine: Level,
}

impl Growing {
    pub(super) fn new(sizes: Sizes, seed: u64) -> Result<Growing> {
        Growing::with(sizes, seed, |size| Memory::zeroed(size.lines as usize))
    }

    /// The levels over memory that is given, the first level first.
    pub(super) fn with(
        sizes: Sizes,
        seed: u64,
        mut memory: impl FnMut(LevelSize) -> Result<Memory>,
    ) -> Result<Growing> {
        let coarse = match sizes.coarse {
            Some(size) => Some(Level::new(size, seed.wrapping_add(1), memory(size)?)),
            None => None,
        };
        Ok(Growing { coarse, fine: Level::new(sizes.fine, seed, memory(sizes.fine)?) })
    }

    pub(super) fn sizes(&self) -> Sizes {
        Sizes { coarse: self.coarse.as_ref().map(Level::size), fine: self.fine.size() }
    }

    /// The levels, the first one first.
    pub(super) fn levels(&self) -> impl Iterator<Item = &Level> {
        self.coarse.iter().chain([&self.fine])
    }

    pub(super) fn into_memory(self) -> Growing {
        Growing { coarse: self.coarse.map(Level::into_memory), fine: self.fine.into_memory() }
    }

    /// Adds a cell; says whether it was certainly new.
    pub(super) fn insert(&mut self, cell: i64) -> bool {
        if let Some(coarse) = &mut self.coarse {
            coarse.insert(cell);
        }
        self.fine.insert(cell)
    }

    /// Adds cells. A few at a time: memory works on all of their lines at once.
    pub(super) fn insert_batch(&mut self, cells: &[i64]) {
        for cells in cells.chunks(AT_ONCE) {
            let asked = cells.iter().flat_map(|cell| self.levels().map(move |level| (level, cell)));
            asked.for_each(|(level, &cell)| level.ask_for_cell(cell));
            cells.iter().for_each(|&cell| _ = self.insert(cell));
        }
    }

    #[inline(never)]
    pub(super) fn any_in(&self, cells: Span) -> bool {
        self.any_in_asked(cells, false)
    }

    pub(super) fn any_in_batch(&self, cells: &[Span], answers: &mut [bool]) {
        let first = self.coarse.as_ref().unwrap_or(&self.fine);
        for (cells, answers) in cells.chunks(AT_ONCE).zip(answers.chunks_mut(AT_ONCE)) {
            let mut asked = [false; AT_ONCE];
            asked.iter_mut().zip(cells).for_each(|(asked, &cells)| *asked = first.ask_for(cells));
            for ((answer, &cells), asked) in answers.iter_mut().zip(cells).zip(asked) {
                *answer = self.any_in_asked(cells, asked);
            }
        }
    }

    /// `asked` says that memory has been asked for the lines of the first level.
    #[inline]
    fn any_in_asked(&self, cells: Span, asked: bool) -> bool {
        let Some(coarse) = &self.coarse else { return self.fine.any_in(cells, asked) };
        let Span { mut first, last } = cells;
        // Cell by cell of the first level: mostly one or two.
        loop {
            let end = last.min(first | !(-1 << coarse.size().shift));
            let part = Span { first, last: end };
            if coarse.any_in(part, asked) && self.fine.any_in(part, false) {
                return true;
            }
            if end == last {
                return false;
            }
            first = end + 1;
        }
    }

    /// Refuses a filter whose bits lie elsewhere.
    pub(super) fn check_alike(&self, other: &Growing) -> Result<()> {
        let (ours, theirs) = (self.sizes(), other.sizes());
        let levels = |sizes: Sizes| if sizes.coarse.is_some() { 2 } else { 1 };
        same("the number of levels", levels(ours), levels(theirs))?;
        let pairs = [(Some(ours.fine), Some(theirs.fine)), (ours.coarse, theirs.coarse)];
        for (ours, theirs) in pairs.into_iter().filter_map(|(ours, theirs)| ours.zip(theirs)) {
            same("the number of bits (m)", ours.bits(), theirs.bits())?;
            same("the number of probes (k)", ours.probes, theirs.probes)?;
        }
        Ok(())
    }

    /// Takes in the cells of a filter that is alike.
    pub(super) fn merge(&mut self, other: &Growing) {
        self.fine.merge(&other.fine);
        if let (Some(ours), Some(theirs)) = (&mut self.coarse, &other.coarse) {
            ours.merge(theirs);
        }
    }

    /// About how many different cells it holds. Infinite when every bit is set.
    pub(super) fn estimated_len(&self) -> f64 {
        let size = self.fine.size();
        (-(size.bits() as f64) / f64::from(size.probes) * (-self.fine.fill()).ln_1p()).max(0.0)
    }

    /// How far the estimate may lie from n, as a standard deviation. Cells that are neighbours share their lines, so
    /// that it is lines, not bits, that scatter at worst.
    pub(super) fn deviation(&self, n: u64) -> f64 {
        let size = self.fine.size();
        let load = f64::from(size.probes) * n as f64 / size.bits() as f64;
        BLOCK as f64 * (size.lines as f64 * (load.exp_m1() - load)).sqrt() / f64::from(size.probes)
    }

    /// The rate of false positives that the bits give a question for `cells` cells.
    pub(super) fn rate_now(&self, cells: u64) -> f64 {
        rate(self.fine.size(), self.fine.fill(), cells)
    }
}
