//! What did each key come to?

use crate::batch::{CHUNK, Row};
use crate::{Batch, Driver, Result, Tally};

/// Asks for the estimate of every key (`estimate` fills one for each of a chunk), and hands out the lines that `write` makes of
/// them, in the order of the input. Returns the number of lines too.
pub fn query(
    driver: &Driver,
    estimate: impl Fn(&[&[u8]], &mut [u64]) -> Result<()> + Sync,
    write: impl Fn(&Batch, &Row, u64, &mut Vec<u8>) -> bool + Sync,
    deliver: impl FnMut(Vec<u8>) -> Result<()> + Send,
) -> Result<(u64, Tally)> {
    let outcome = driver.run(
        || 0u64,
        |written, batch| {
            let mut lines = Vec::new();
            batch.for_each_chunk(|first, keys| {
                let mut estimates = [0; CHUNK];
                let estimates = &mut estimates[..keys.len()];
                estimate(keys, estimates)?;
                for (at, &found) in (first..).zip(&*estimates) {
                    *written += u64::from(write(batch, &batch.row(at), found, &mut lines));
                }
                Ok(())
            })?;
            Ok(lines)
        },
        deliver,
    )?;
    let written = outcome.partials.iter().map(|(written, _)| written).sum();
    Ok((written, outcome.tally))
}
