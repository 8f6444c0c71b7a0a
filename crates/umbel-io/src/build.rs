//! Building filters from an input: one, or one for each group.
//!
//! Three ways, by what is known before the first key:
//!
//! - n is known and the filter is blocked: threads insert into shards of the one filter;
//! - n is known otherwise: each thread fills a filter of its own, and they are merged;
//! - n is not known: the hashes are kept, counted, and inserted when the size is known. Strategies that need the keys
//!   themselves read the input twice.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use umbel::distinct::Distinct;
use umbel::hash::{Strategy, xxh3};
use umbel::{Bloom, Groups, Keys, Layout, Params};

use crate::gather::{Gather, Part, Spill};
use crate::plan::Plan;
use crate::threads::in_threads;
use crate::{Batch, Driver, Error, Outcome, Result, Tally, lock};

/// Shards a thread: enough that two threads seldom want the same.
const SHARDS: usize = 8;
/// Hashes gathered for a shard before it is locked.
const BUCKET: usize = 4096;

/// How to build.
#[derive(Debug, Clone, Default)]
pub struct Build {
    /// The wishes.
    pub plan: Plan,
    /// Filters whose parameters are to be taken, so that the result can be merged with them.
    pub like: Option<Like>,
    /// Bytes of hashes to keep in memory while n is not known.
    pub memory: usize,
}

/// Filters to be like.
#[derive(Debug, Clone)]
pub enum Like {
    /// One filter.
    Bloom(Box<Params>),
    /// Filters by group; groups that are not among them are sized as usual.
    Groups(BTreeMap<String, Params>),
}

/// Rows and distinct keys of an input, by group where it has groups.
#[derive(Debug, Default)]
pub struct Census {
    /// Without groups.
    pub all: Distinct,
    /// By group.
    pub groups: BTreeMap<String, Distinct>,
}

/// Counts the rows and distinct keys of an input.
pub fn census(driver: &Driver) -> Result<(Census, Tally)> {
    let start = |_| Gather::new(0, None, 0);
    let Outcome { partials, tally } = gather(driver, start)?;
    let mut census = Census::default();
    for (gather, names) in partials {
        if driver.shape.by.is_none() {
            gather.parts.iter().for_each(|part| census.all.merge(&part.distinct));
            continue;
        }
        for (part, name) in gather.parts.iter().zip(names) {
            census.groups.entry(name).or_default().merge(&part.distinct);
        }
    }
    Ok((census, tally))
}

fn gather<'s>(
    driver: &Driver,
    start: impl Fn(usize) -> Gather<'s> + Sync,
) -> Result<Outcome<Gather<'s>>> {
    let threads = AtomicUsize::new(0);
    driver.run(
        || start(threads.fetch_add(1, Ordering::Relaxed)),
        |gather, batch| gather.take(batch),
        |()| Ok(()),
    )
}

impl Build {
    /// Builds one filter.
    pub fn bloom(&self, driver: &Driver) -> Result<(Bloom, Tally)> {
        let like = match &self.like {
            Some(Like::Bloom(params)) => Some((**params).clone()),
            Some(Like::Groups(_)) => {
                return Err(Error::Other("--like names filters by group: give --by".into()));
            }
            None => None,
        };
        let known = like.map_or_else(
            || self.plan.n.map(|n| self.plan.params(n)).transpose(),
            |like| Ok(Some(like)),
        )?;
        match known {
            Some(params) => insert_all(driver, params),
            None if self.plan.hashes_once() => self.gather_bloom(driver),
            None => {
                check_twice(driver)?;
                let (census, _) = census(driver)?;
                insert_all(driver, self.plan.params(census.all.n())?)
            }
        }
    }

    fn gather_bloom(&self, driver: &Driver) -> Result<(Bloom, Tally)> {
        let spill = Spill::new(self.memory);
        let Outcome { partials, tally } =
            gather(driver, |thread| Gather::new(thread, Some(&spill), self.plan.seed))?;
        let parts: Vec<Part> = partials.into_iter().flat_map(|(gather, _)| gather.parts).collect();
        let mut distinct = Distinct::default();
        parts.iter().for_each(|part| distinct.merge(&part.distinct));
        let mut filter = Bloom::with(self.plan.params(distinct.n())?)?;
        let kept: Vec<&[u64]> = parts.iter().map(|part| &part.hashes[..]).collect();
        insert_hashes(&mut filter, &kept, driver.threads)?;
        drop(parts);
        spill.read(|_, _, hashes| insert_hashes(&mut filter, &[hashes], driver.threads))?;
        Ok((filter, tally))
    }

    /// Builds one filter for each group.
    pub fn groups(&self, driver: &Driver) -> Result<(Groups, Tally)> {
        if let Some(Like::Bloom(_)) = self.like {
            return Err(Error::Other("--like names a single filter: leave out --by".into()));
        }
        if self.plan.hashes_once() {
            return self.gather_groups(driver);
        }
        check_twice(driver)?;
        let (census, _) = census(driver)?;
        let params = census
            .groups
            .iter()
            .map(|(name, distinct)| Ok((name.clone(), self.group_params(name, distinct.n())?)));
        insert_groups(driver, &params.collect::<Result<_>>()?)
    }

    fn gather_groups(&self, driver: &Driver) -> Result<(Groups, Tally)> {
        let seed = self.seed_of_groups();
        let spill = Spill::new(self.memory);
        let Outcome { partials, tally } =
            gather(driver, |thread| Gather::new(thread, Some(&spill), seed))?;
        let mut by_name: BTreeMap<String, Vec<Part>> = BTreeMap::new();
        let mut names_of = Vec::new();
        for (gather, names) in partials {
            for (part, name) in gather.parts.into_iter().zip(&names) {
                by_name.entry(name.clone()).or_default().push(part);
            }
            names_of.push((gather.thread, names));
        }
        let work: Mutex<Vec<(String, Vec<Part>)>> = Mutex::new(by_name.into_iter().collect());
        let filters = Mutex::new(Groups::default());
        in_threads(driver.threads, || {
            while let Some((name, parts)) = { lock(&work).pop() } {
                let filter = self.filter_of(&name, &parts)?;
                lock(&filters).set(name, filter)?;
            }
            Ok(())
        })?;
        let mut groups = filters.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        spill.read(|thread, group, hashes| {
            let names = names_of.iter().find(|(found, _)| *found == thread).map(|(_, names)| names);
            let name = names.and_then(|names| names.get(group)).map_or("", String::as_str);
            Ok(groups.get_mut(name)?.insert_batch(Keys::Hashes(hashes))?)
        })?;
        Ok((groups, tally))
    }

    fn filter_of(&self, name: &str, parts: &[Part]) -> Result<Bloom> {
        let mut distinct = Distinct::default();
        parts.iter().for_each(|part| distinct.merge(&part.distinct));
        let mut filter = Bloom::with(self.group_params(name, distinct.n())?)?;
        for part in parts {
            filter.insert_batch(Keys::Hashes(&part.hashes))?;
        }
        Ok(filter)
    }

    /// The parameters of a group that has `n` distinct keys.
    pub fn group_params(&self, name: &str, n: u64) -> Result<Params> {
        match &self.like {
            Some(Like::Groups(like)) if like.contains_key(name) => Ok(like[name].clone()),
            _ => Ok(self.plan.params(self.plan.n.unwrap_or(n))?),
        }
    }

    fn seed_of_groups(&self) -> u64 {
        let like = match &self.like {
            Some(Like::Groups(like)) => like.values().next(),
            _ => None,
        };
        match like.map(Params::strategy) {
            Some(&Strategy::Xxh3 { seed }) => seed,
            _ => self.plan.seed,
        }
    }
}

/// Strategies that hash a key once a probe need the keys again when the size is known.
fn check_twice(driver: &Driver) -> Result<()> {
    match driver.sources.iter().find(|source| !source.is_seekable()) {
        None => Ok(()),
        Some(source) => Err(Error::Other(format!(
            "{}: this hash needs the keys twice, first to count them, and a pipe can be read only once: give -n, or a file",
            source.name()
        ))),
    }
}

/// Inserts every key of the input into a filter whose parameters are known.
fn insert_all(driver: &Driver, params: Params) -> Result<(Bloom, Tally)> {
    match (params.sizing().layout(), params.strategy()) {
        (Layout::Blocked, &Strategy::Xxh3 { seed }) => insert_sharded(driver, params, seed),
        _ => insert_partials(driver, params),
    }
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
                let hash = xxh3(batch.key(row), seed);
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
            insert_batch(filter.as_mut().map_err(|error| Error::Other(error.to_string()))?, batch)
        },
        |()| Ok(()),
    )?;
    let mut filters = outcome.partials.into_iter().map(|(filter, _)| filter);
    let mut merged = filters.next().unwrap_or_else(|| Bloom::with(params))?;
    for filter in filters {
        merged.merge(&filter?)?;
    }
    Ok((merged, outcome.tally))
}

fn insert_batch(filter: &mut Bloom, batch: &Batch) -> Result<()> {
    batch.for_each_chunk(|_, keys| Ok(filter.insert_batch(Keys::Bytes(keys))?))
}

/// Inserts every key into the filter of its group, whose parameters are known.
fn insert_groups(driver: &Driver, params: &BTreeMap<String, Params>) -> Result<(Groups, Tally)> {
    let empty = || -> Result<Groups> {
        let mut groups = Groups::default();
        for (name, params) in params {
            groups.set(name, Bloom::with(params.clone())?)?;
        }
        Ok(groups)
    };
    // Filters by the number a thread gives its groups, so that a row needs no look-up by name.
    let outcome = driver.run(
        Vec::<Option<Bloom>>::new,
        |filters, batch| {
            let names = batch.group_names();
            while filters.len() < names.len() {
                let name = &names[filters.len()];
                filters
                    .push(params.get(name).map(|params| Bloom::with(params.clone())).transpose()?);
            }
            for (row, &group) in batch.rows().iter().zip(batch.groups()) {
                let filter = filters[group as usize].as_mut();
                filter.ok_or_else(changed)?.insert(batch.key(row));
            }
            Ok(())
        },
        |()| Ok(()),
    )?;
    let mut groups = empty()?;
    for (filters, names) in outcome.partials {
        for (filter, name) in filters.into_iter().zip(names) {
            groups.get_mut(&name)?.merge(&filter.ok_or_else(changed)?)?;
        }
    }
    Ok((groups, outcome.tally))
}

fn changed() -> Error {
    Error::Other("the input has changed while it was read: a group is new".into())
}

/// Inserts kept hashes, in several threads where the filter can be cut and is worth it.
fn insert_hashes(filter: &mut Bloom, kept: &[&[u64]], threads: usize) -> Result<()> {
    const WORTH: usize = 1 << 16;
    let count: usize = kept.iter().map(|hashes| hashes.len()).sum();
    if filter.sizing().layout() != Layout::Blocked || count < WORTH {
        for hashes in kept {
            filter.insert_batch(Keys::Hashes(hashes))?;
        }
        return Ok(());
    }
    let pieces: Vec<&[u64]> = kept.iter().flat_map(|hashes| hashes.chunks(WORTH)).collect();
    let (router, shards) = filter.shards(SHARDS * threads)?;
    let shards: Vec<_> = shards.into_iter().map(Mutex::new).collect();
    let next = AtomicUsize::new(0);
    in_threads(threads, || {
        let mut buckets = vec![Vec::with_capacity(WORTH / 8); shards.len()];
        while let Some(piece) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) {
            piece.iter().for_each(|&hash| buckets[router.home(hash)].push(hash));
            for (bucket, shard) in buckets.iter_mut().zip(&shards) {
                lock(shard).insert_hashes(bucket);
                bucket.clear();
            }
        }
        Ok(())
    })?;
    drop(shards);
    filter.add_inserted(count as u64);
    Ok(())
}
