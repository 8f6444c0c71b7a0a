//! Two ways to fold an input into a sketch.
//!
//! A sketch that merges to the same bytes in any order is filled by each thread apart. One whose table depends on the order
//! of its keys is filled in the order of the input, whatever the number of threads: they read, split and hash, and the
//! results are added in turn.

use umbel::hash::xxh3;

use crate::{Batch, Driver, Result, Tally};

/// Fills a sketch a thread and merges them.
pub(super) fn apart<S: Send>(
    driver: &Driver,
    empty: impl Fn() -> Result<S> + Sync,
    add: impl Fn(&mut S, &Batch) -> Result<()> + Sync,
    merge: impl Fn(&mut S, &S) -> Result<()>,
) -> Result<(S, Tally)> {
    let outcome = driver.run(
        || None,
        |sketch, batch| {
            let sketch = match sketch {
                Some(sketch) => sketch,
                none => none.insert(empty()?),
            };
            add(sketch, batch)
        },
        |()| Ok(()),
    )?;
    let mut sketches = outcome.partials.into_iter().filter_map(|(sketch, _)| sketch);
    let mut merged = sketches.next().map_or_else(&empty, Ok)?;
    sketches.try_for_each(|sketch| merge(&mut merged, &sketch))?;
    Ok((merged, outcome.tally))
}

/// The rows of a batch without their text.
pub(super) struct Hashed {
    pub(super) hashes: Vec<u64>,
    /// One a hash, or none at all where each is 1.
    pub(super) weights: Vec<u64>,
}

impl Hashed {
    fn new(batch: &Batch, seed: u64) -> Hashed {
        let hash = |row| xxh3(batch.key(row), seed);
        Hashed { hashes: batch.rows().iter().map(hash).collect(), weights: batch.weights().into() }
    }
}

/// Adds the keys' hashes in the order of the input.
pub(super) fn in_order(
    driver: &Driver,
    seed: u64,
    add: impl FnMut(Hashed) -> Result<()> + Send,
) -> Result<Tally> {
    Ok(driver.run(|| (), |(), batch| Ok(Hashed::new(batch, seed)), add)?.tally)
}

/// Keys of a batch that outlive it, one behind the other.
struct Owned {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    weights: Vec<u64>,
}

impl Owned {
    fn new(batch: &Batch) -> Owned {
        let mut owned = Owned {
            bytes: Vec::with_capacity(batch.len() * 16),
            ends: Vec::with_capacity(batch.len()),
            weights: batch.weights().into(),
        };
        for row in batch.rows() {
            owned.bytes.extend_from_slice(batch.key(row));
            owned.ends.push(owned.bytes.len());
        }
        owned
    }

    fn for_each(&self, mut take: impl FnMut(&[u8], u64)) {
        let mut start = 0;
        for (i, &end) in self.ends.iter().enumerate() {
            take(&self.bytes[start..end], self.weights.get(i).copied().unwrap_or(1));
            start = end;
        }
    }
}

/// Hands out the keys with their weights in the order of the input.
pub(super) fn keys_in_order(
    driver: &Driver,
    mut take: impl FnMut(&[u8], u64) + Send,
) -> Result<Tally> {
    let outcome = driver.run(
        || (),
        |(), batch| Ok(Owned::new(batch)),
        |keys| {
            keys.for_each(&mut take);
            Ok(())
        },
    )?;
    Ok(outcome.tally)
}
