//! Screening a flow: which rows may be members?

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::batch::CHUNK;
use crate::exact::ExactSet;
use crate::filters::Filters;
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
    mut deliver: impl FnMut(&Screened) -> Result<()> + Send,
) -> Result<Summary> {
    let (started, spare) = (Instant::now(), Spare::default());
    let outcome = driver.run(
        || 0u64,
        |admitted, batch| {
            let mut screened = spare.screened(batch);
            batch.for_each_chunk(|first, keys| {
                let mut words = [0; CHUNK / 64];
                let found = &mut words[..keys.len().div_ceil(64)];
                filters.contains(keys, found)?;
                if let Some(exact) = exact {
                    exact.refine(keys, found)?;
                }
                *admitted += found.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
                collect(batch, first, keys.len(), found, wanted, &mut screened);
                Ok(())
            })?;
            Ok(screened)
        },
        |screened| {
            deliver(&screened)?;
            spare.keep(screened);
            Ok(())
        },
    )?;
    let admitted = outcome.partials.iter().map(|(admitted, _)| admitted).sum();
    Ok(Summary { tally: outcome.tally, admitted, time: started.elapsed() })
}

/// Copies the wanted lines of a chunk of rows.
fn collect(
    batch: &Batch,
    first: usize,
    len: usize,
    found: &[u64],
    wanted: Wanted,
    into: &mut Screened,
) {
    if !wanted.admitted && !wanted.rejected {
        return;
    }
    for (i, row) in batch.rows()[first..first + len].iter().enumerate() {
        let admitted = found[i / 64] >> (i % 64) & 1 == 1;
        if admitted && wanted.admitted {
            into.admitted.extend_from_slice(batch.line(row));
        } else if !admitted && wanted.rejected {
            into.rejected.extend_from_slice(batch.line(row));
        }
    }
}
