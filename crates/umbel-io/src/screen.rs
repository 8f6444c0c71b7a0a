//! Screening a flow: which rows may be members?

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::exact::ExactSet;
use crate::filters::Filters;
use crate::split::bits;
use crate::{Batch, Driver, Result, Tally, lock};

/// What is wanted of a screening.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The lines that may be members.
    pub admitted: bool,
    /// The lines that are certainly none.
    pub rejected: bool,
}

/// What came of one block.
#[derive(Debug, Default)]
pub struct Screened {
    /// The lines admitted, if wanted.
    pub admitted: Vec<u8>,
    /// The lines rejected, if wanted.
    pub rejected: Vec<u8>,
    long: bool,
}

/// What came of the last long block, emptied: such blocks come one at a time, and take the same memory.
#[derive(Default)]
pub(crate) struct Spare(Mutex<Screened>);

impl Spare {
    /// A place for what comes of a batch.
    pub(crate) fn screened(&self, batch: &Batch) -> Screened {
        match batch.is_long() {
            true => Screened { long: true, ..std::mem::take(&mut *lock(&self.0)) },
            false => Screened::default(),
        }
    }

    /// Takes back what has been delivered.
    pub(crate) fn keep(&self, mut screened: Screened) {
        if screened.long {
            screened.admitted.clear();
            screened.rejected.clear();
            *lock(&self.0) = screened;
        }
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
    let (started, spare) = (Instant::now(), Spare::default());
    let outcome = driver.run(
        || (0u64, Vec::new()),
        |(admitted, found), batch| {
            let mut screened = spare.screened(batch);
            found.resize(batch.len().div_ceil(64), 0);
            contains(batch, found)?;
            *admitted += found.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
            if wanted.admitted {
                collect(batch, found, |word| word, &mut screened.admitted);
            }
            if wanted.rejected {
                collect(batch, found, |word| !word, &mut screened.rejected);
            }
            Ok(screened)
        },
        |screened| {
            deliver(&screened)?;
            spare.keep(screened);
            Ok(())
        },
    )?;
    let admitted = outcome.partials.iter().map(|((admitted, _), _)| admitted).sum();
    Ok(Summary { tally: outcome.tally, admitted, time: started.elapsed() })
}

/// Copies the lines whose bit, as `pick` has it, is set. Lines that stand together are copied together.
fn collect(batch: &Batch, found: &[u64], pick: impl Fn(u64) -> u64, into: &mut Vec<u8>) {
    let mut run = 0..0;
    for (&word, first) in found.iter().zip((0..batch.len()).step_by(64)) {
        let mut left = pick(word) & bits(batch.len() - first);
        while left != 0 {
            let line = batch.row(first + left.trailing_zeros() as usize).line;
            left &= left - 1;
            if line.start as usize != run.end {
                into.extend_from_slice(&batch.bytes[run.clone()]);
                run.start = line.start as usize;
            }
            run.end = line.end as usize;
        }
    }
    into.extend_from_slice(&batch.bytes[run]);
}
