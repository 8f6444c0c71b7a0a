//! Building filters from an input: one, or one for each group.
//!
//! Three ways, by what is known before the first key:
//!
//! - n is known and the filter is blocked: threads insert into shards of the one filter;
//! - n is known otherwise: each thread fills a filter of its own, and they are merged;
//! - n is not known: the hashes are kept, counted, and inserted when the size is known. Strategies that need the keys
//!   themselves read the input twice.

mod groups;
mod insert;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use umbel::distinct::Distinct;
use umbel::{Bloom, Params};

use self::insert::{insert_all, insert_hashes};
use crate::gather::{Gather, Part, Spill};
use crate::plan::Plan;
use crate::{Driver, Error, Outcome, Result, Tally};

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
