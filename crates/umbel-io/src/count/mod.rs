//! Counting the keys of an input, and asking what keys came to.

mod fold;
mod query;

pub use query::query;
use umbel::{CountMin, CountMinParams, Keys};

use crate::{Batch, Driver, Result, Tally};

/// A sketch of its own for each thread as long as all together take no more bytes than this; beyond, one is filled in turn.
const APART: u64 = 1 << 30;

/// Counts the keys of the input.
pub fn count(driver: &Driver, params: CountMinParams) -> Result<(CountMin, Tally)> {
    // Counters are narrow at first, but may all become as wide as the largest.
    if (params.counters() * 8).saturating_mul(driver.threads as u64) <= APART {
        return fold::apart(driver, || Ok(CountMin::new(params)?), add, merge);
    }
    let mut sketch = CountMin::new(params)?;
    let tally = fold::in_order(driver, params.seed(), |rows| {
        add_keys(&mut sketch, Keys::Hashes(&rows.hashes), &rows.weights)
    })?;
    Ok((sketch, tally))
}

fn add(sketch: &mut CountMin, batch: &Batch) -> Result<()> {
    batch.for_each_chunk(|first, keys| {
        let weights = batch.weights().get(first..first + keys.len()).unwrap_or_default();
        add_keys(sketch, Keys::Bytes(keys), weights)
    })
}

/// Adds keys with their weights; without weights, each is 1.
fn add_keys(sketch: &mut CountMin, keys: Keys<'_>, weights: &[u64]) -> Result<()> {
    match weights {
        [] => sketch.add_batch(keys)?,
        weights => sketch.add_weighted(keys, weights)?,
    }
    Ok(())
}

fn merge(ours: &mut CountMin, theirs: &CountMin) -> Result<()> {
    Ok(ours.merge(theirs)?)
}
