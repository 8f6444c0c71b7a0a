//! Screening a flow: which rows may be members?

use std::time::{Duration, Instant};

use crate::batch::CHUNK;
use crate::exact::ExactSet;
use crate::filters::Filters;
use crate::{Batch, Driver, Result, Tally};

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
    deliver: impl FnMut(Screened) -> Result<()> + Send,
) -> Result<Summary> {
    let started = Instant::now();
    let outcome = driver.run(
        || 0u64,
        |admitted, batch| {
            let mut screened = Screened::default();
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
        deliver,
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
