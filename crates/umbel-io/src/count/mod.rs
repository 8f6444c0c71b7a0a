//! Counting the keys of an input, and asking what keys came to.

mod fold;
mod query;
mod sketch;

pub use query::query;
pub use sketch::Sketch;
use umbel::{Conservative, CountMin, CountMinParams, Heavy, Keys, Ranges, RangesParams};

use self::sketch::integer;
use crate::{Batch, Driver, Error, Result, Tally};

/// A sketch of its own for each thread as long as all together take no more bytes than this; beyond, one is filled in turn.
const APART: u64 = 1 << 30;

/// Counts the keys of the input.
pub fn count(driver: &Driver, params: CountMinParams) -> Result<(CountMin, Tally)> {
    // Counters are narrow at first, but may all become as wide as the largest.
    if (params.counters() * 8).saturating_mul(driver.threads as u64) <= APART {
        return fold::apart(
            driver,
            || Ok(CountMin::new(params)?),
            add,
            |ours, theirs| Ok(ours.merge(theirs)?),
        );
    }
    let mut sketch = CountMin::new(params)?;
    let tally = fold::in_order(driver, params.seed(), |rows| {
        add_keys(&mut sketch, Keys::Hashes(&rows.hashes), &rows.weights)
    })?;
    Ok((sketch, tally))
}

/// Counts the keys of the input with conservative update: in their order, whatever the number of threads.
pub fn count_conservative(
    driver: &Driver,
    params: CountMinParams,
) -> Result<(Conservative, Tally)> {
    let mut sketch = Conservative::new(params)?;
    let tally = fold::in_order(driver, params.seed(), |rows| {
        let keys = Keys::Hashes(&rows.hashes);
        match &rows.weights[..] {
            [] => sketch.add_batch(keys)?,
            weights => sketch.add_weighted(keys, weights)?,
        }
        Ok(())
    })?;
    Ok((sketch, tally))
}

/// Counts the integers of the input over ranges. Those outside the interval are not counted; their number comes back too.
pub fn count_ranges(driver: &Driver, params: RangesParams) -> Result<(Ranges, u64, Tally)> {
    let empty = || Ok((Ranges::new(params)?, 0));
    let merge = |ours: &mut (Ranges, u64), theirs: &(Ranges, u64)| {
        ours.1 += theirs.1;
        Ok(ours.0.merge(&theirs.0)?)
    };
    let add =
        |sketch: &mut (Ranges, u64), batch: &Batch| add_integers(sketch, batch, driver.strict);
    let ((ranges, outside), tally) = fold::apart(driver, empty, add, merge)?;
    Ok((ranges, outside, tally))
}

/// Finds the heavy hitters of the input, in its order, whatever the number of threads.
pub fn count_heavy(driver: &Driver, mut heavy: Heavy) -> Result<(Heavy, Tally)> {
    let tally = fold::keys_in_order(driver, |key, weight| heavy.add(key, weight))?;
    Ok((heavy, tally))
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

/// Adds the integers that lie in the interval, and counts the others.
fn add_integers((ranges, outside): &mut (Ranges, u64), batch: &Batch, strict: bool) -> Result<()> {
    let interval = ranges.params().lo()..=ranges.params().hi();
    let (mut keys, mut weights) = (Vec::with_capacity(batch.len()), Vec::new());
    for (i, row) in batch.rows().iter().enumerate() {
        let key = integer(batch.key(row));
        if interval.contains(&key) {
            keys.push(key);
            weights.extend(batch.weights().get(i));
        } else if strict {
            return Err(Error::Other(format!(
                "the key {key} lies outside {}..{} (--strict makes this an error)",
                interval.start(),
                interval.end()
            )));
        } else {
            *outside += 1;
        }
    }
    match &weights[..] {
        [] => ranges.add_batch(&keys)?,
        weights => ranges.add_weighted(&keys, weights)?,
    }
    Ok(())
}
