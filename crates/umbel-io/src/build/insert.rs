//! Inserting into a filter whose size is known.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use umbel::hash::{Strategy, xxh3};
use umbel::{Bloom, Keys, Layout, Params};

use crate::shelf::Kept;
use crate::threads::in_threads;
use crate::{Driver, Error, Result, Tally, lock};

/// A filter of its own for each thread is the fastest way as long as all together take no more bytes than this; beyond, threads share one
/// filter in shards. `make bench` compares the two ("sharing").
const PARTIALS: u64 = 1 << 30;
/// Shards a thread: enough that two threads seldom want the same.
const SHARDS: usize = 8;
/// Hashes gathered for a shard before it is locked.
const BUCKET: usize = 4096;

/// Inserts every key of the input into a filter whose parameters are known.
pub fn insert_all(driver: &Driver, params: Params) -> Result<(Bloom, Tally)> {
    match (params.sizing().layout(), params.strategy()) {
        (Layout::Blocked, &Strategy::Xxh3 { seed }) if !partials_fit(&params, driver.threads) => {
            insert_sharded(driver, params, seed)
        }
        _ => insert_partials(driver, params),
    }
}

fn partials_fit(params: &Params, threads: usize) -> bool {
    params.sizing().bytes().saturating_mul(threads as u64) <= PARTIALS
}

fn insert_sharded(driver: &Driver, params: Params, seed: u64) -> Result<(Bloom, Tally)> {
    let mut filter = Bloom::with(params)?;
    let (router, shards) = filter.shards(SHARDS * driver.threads)?;
    let shards: Vec<_> = shards.into_iter().map(Mutex::new).collect();
    let flush = |shard: usize, bucket: &mut Vec<u64>| {
        lock(&shards[shard]).insert_hashes(bucket);
        bucket.clear();
    };
    let outcome = driver.run(
        || vec![Vec::with_capacity(BUCKET); shards.len()],
        |buckets, batch| {
            for row in batch.rows() {
                let hash = xxh3(batch.key(&row), seed);
                let shard = router.home(hash);
                let bucket = &mut buckets[shard];
                bucket.push(hash);
                if bucket.len() == BUCKET {
                    flush(shard, bucket);
                }
            }
            Ok(())
        },
        |()| Ok(()),
    )?;
    for (mut buckets, _) in outcome.partials {
        buckets.iter_mut().enumerate().for_each(|(shard, bucket)| flush(shard, bucket));
    }
    drop(shards);
    filter.add_inserted(outcome.tally.rows);
    Ok((filter, outcome.tally))
}

fn insert_partials(driver: &Driver, params: Params) -> Result<(Bloom, Tally)> {
    let outcome = driver.run(
        || Bloom::with(params.clone()),
        |filter, batch| {
            let filter = filter.as_mut().map_err(|error| Error::Other(error.to_string()))?;
            Ok(filter.insert_batch(batch.keys())?)
        },
        |()| Ok(()),
    )?;
    let filters = outcome.partials.into_iter().map(|(filter, _)| Ok(filter?));
    Ok((merged(params, filters)?, outcome.tally))
}

/// Hashes that a thread takes at once.
const PIECE: usize = 1 << 16;

/// Builds a filter from the hashes that were kept, in several threads where it is worth it.
pub(super) fn insert_kept(params: Params, kept: &[Kept<u64>], threads: usize) -> Result<Bloom> {
    let in_memory: Vec<&[u64]> = kept.iter().flat_map(|kept| kept.in_memory(0)).collect();
    let pieces: Vec<&[u64]> = in_memory.iter().flat_map(|hashes| hashes.chunks(PIECE)).collect();
    let next = AtomicUsize::new(0);
    let piece = || pieces.get(next.fetch_add(1, Ordering::Relaxed)).copied();
    let fit = partials_fit(&params, threads);
    let mut filter = if pieces.len() < 2 * threads || fit {
        // So few hashes need no other threads.
        let threads = if pieces.len() < 2 * threads { 1 } else { threads };
        let partials = in_threads(threads, || {
            let mut partial = Bloom::with(params.clone())?;
            while let Some(hashes) = piece() {
                partial.insert_batch(Keys::Hashes(hashes))?;
            }
            Ok(partial)
        })?;
        merged(params, partials.into_iter().map(Ok))?
    } else {
        let mut filter = Bloom::with(params)?;
        match filter.sizing().layout() {
            Layout::Blocked => share_hashes(&mut filter, piece, threads)?,
            Layout::Classic => {
                while let Some(hashes) = piece() {
                    filter.insert_batch(Keys::Hashes(hashes))?;
                }
            }
        }
        filter
    };
    for kept in kept {
        kept.in_file(0, |hashes| Ok(filter.insert_batch(Keys::Hashes(hashes))?))?;
    }
    Ok(filter)
}

/// One filter of several that are alike.
fn merged(params: Params, mut filters: impl Iterator<Item = Result<Bloom>>) -> Result<Bloom> {
    let mut merged = filters.next().unwrap_or_else(|| Ok(Bloom::with(params)?))?;
    for filter in filters {
        merged.merge(&filter?)?;
    }
    Ok(merged)
}

/// Inserts pieces of hashes into one blocked filter from several threads.
fn share_hashes<'h>(
    filter: &mut Bloom,
    piece: impl Fn() -> Option<&'h [u64]> + Sync,
    threads: usize,
) -> Result<()> {
    let (router, shards) = filter.shards(SHARDS * threads)?;
    let shards: Vec<_> = shards.into_iter().map(Mutex::new).collect();
    let counts = in_threads(threads, || {
        let mut count = 0;
        let mut buckets = vec![Vec::with_capacity(PIECE / SHARDS); shards.len()];
        while let Some(hashes) = piece() {
            count += hashes.len() as u64;
            hashes.iter().for_each(|&hash| buckets[router.home(hash)].push(hash));
            for (bucket, shard) in buckets.iter_mut().zip(&shards) {
                lock(shard).insert_hashes(bucket);
                bucket.clear();
            }
        }
        Ok(count)
    })?;
    drop(shards);
    filter.add_inserted(counts.iter().sum());
    Ok(())
}
