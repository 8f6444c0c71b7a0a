//! Screening a flow: which rows may be members?

use std::time::{Duration, Instant};

use crate::driver::Emit;
use crate::exact::ExactSet;
use crate::filters::Filters;
use crate::pieces::Pieces;
use crate::split::bits;
use crate::{Batch, Driver, Result, Tally};

/// What is wanted of a screening.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The lines that may be members.
    pub admitted: bool,
    /// The lines that are certainly none.
    pub rejected: bool,
}

/// What came of one block, or a piece of it.
#[derive(Debug, Default)]
pub struct Screened {
    /// The lines admitted, if wanted. The last one may go on in the next piece.
    pub admitted: Vec<u8>,
    /// The lines rejected, if wanted; the same.
    pub rejected: Vec<u8>,
}

impl Screened {
    fn admitted(admitted: Vec<u8>) -> Screened {
        Screened { admitted, rejected: Vec::new() }
    }

    fn rejected(rejected: Vec<u8>) -> Screened {
        Screened { admitted: Vec::new(), rejected }
    }
}

/// What came of a whole flow.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// Rows analysed, and those that could not be.
    pub tally: Tally,
    /// Rows admitted.
    pub admitted: u64,
    /// How long it took, without the loading of the filter.
    pub time: Duration,
}

impl Summary {
    /// Rows rejected.
    pub fn rejected(&self) -> u64 {
        self.tally.rows - self.admitted
    }
}

/// Screens the driver's input and hands out the wanted lines in its order. What the filter admits is checked against the exact
/// set, where there is one.
pub fn screen(
    driver: &Driver,
    filters: &Filters,
    exact: Option<&ExactSet>,
    wanted: Wanted,
    deliver: impl FnMut(&Screened) -> Result<()> + Send,
) -> Result<Summary> {
    let contains = |batch: &Batch, found: &mut [u64]| {
        filters.contains(batch, found)?;
        exact.map_or(Ok(()), |exact| exact.refine(batch, found))
    };
    select(driver, contains, wanted, deliver)
}

/// Hands out lines by what `contains` says of their keys: one bit each, a word for each 64 keys.
pub(crate) fn select(
    driver: &Driver,
    contains: impl Fn(&Batch, &mut [u64]) -> Result<()> + Sync,
    wanted: Wanted,
    mut deliver: impl FnMut(&Screened) -> Result<()> + Send,
) -> Result<Summary> {
    let started = Instant::now();
    let outcome = driver.run_in_pieces(
        || (0u64, Vec::new()),
        |(admitted, found), batch, emit| {
            found.resize(batch.len().div_ceil(64), 0);
            contains(batch, found)?;
            *admitted += found.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
            let mut screened = Screened::default();
            if wanted.admitted {
                let mut emit = |lines| emit(Screened::admitted(lines));
                screened.admitted = collect(batch, found, |word| word, &mut emit)?;
            }
            if wanted.rejected {
                let mut emit = |lines| emit(Screened::rejected(lines));
                screened.rejected = collect(batch, found, |word| !word, &mut emit)?;
            }
            Ok(screened)
        },
        |screened| deliver(&screened),
    )?;
    let admitted = outcome.partials.iter().map(|((admitted, _), _)| admitted).sum();
    Ok(Summary { tally: outcome.tally, admitted, time: started.elapsed() })
}

/// Copies the lines whose bit, as `pick` has it, is set. Lines that stand together are copied together. Returns what was not emitted.
fn collect(
    batch: &Batch,
    found: &[u64],
    pick: impl Fn(u64) -> u64,
    emit: Emit<Vec<u8>>,
) -> Result<Vec<u8>> {
    let (mut run, mut lines) = (0..0, Pieces::new(emit));
    for (&word, first) in found.iter().zip((0..batch.len()).step_by(64)) {
        let mut left = pick(word) & bits(batch.len() - first);
        while left != 0 {
            let line = batch.row(first + left.trailing_zeros() as usize).line;
            left &= left - 1;
            if line.start as usize != run.end {
                lines.push(&batch.bytes[run.clone()])?;
                run.start = line.start as usize;
            }
            run.end = line.end as usize;
        }
    }
    lines.push(&batch.bytes[run])?;
    Ok(lines.into_last())
}
