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
mod keep;

use std::collections::BTreeMap;

use umbel::distinct::Distinct;
use umbel::{Bloom, Params};

pub use self::groups::insert_groups;
pub use self::insert::insert_all;
use self::insert::insert_kept;
pub use self::keep::{Hashes, census_keeping};
use crate::gather::{Gather, Gathered, note};
use crate::plan::Plan;
use crate::shelf::Store;
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
    let (parts, tally) = gather(driver, None, 0)?;
    let mut census = Census::default();
    for (gathered, names) in parts {
        census.add(driver.shape.by.is_some(), &gathered.counts, names);
    }
    Ok((census, tally))
}

impl Census {
    /// Adds what a thread has counted.
    fn add(&mut self, grouped: bool, counts: &[Distinct], names: Vec<String>) {
        if !grouped {
            return counts.iter().for_each(|count| self.all.merge(count));
        }
        for (count, name) in counts.iter().zip(names) {
            self.groups.entry(name).or_default().merge(count);
        }
    }
}

/// What each thread has gathered, with the names of its groups.
type Parts<'s> = Vec<(Gathered<'s>, Vec<String>)>;

fn gather<'s>(driver: &Driver, store: Option<&'s Store>, seed: u64) -> Result<(Parts<'s>, Tally)> {
    let Outcome { partials, tally } = driver.run_noting(
        note,
        || Gather::new(store, seed),
        |gather, batch, hashes| gather.take(batch, hashes),
        |()| Ok(()),
    )?;
    let finish = |(gather, names): (Gather<'s>, _)| Ok((gather.finish()?, names));
    Ok((partials.into_iter().map(finish).collect::<Result<_>>()?, tally))
}

impl Build {
    /// The parameters of the one filter, as far as they do not depend on the keys.
    pub fn known(&self) -> Result<Option<Params>> {
        match &self.like {
            Some(Like::Bloom(params)) => Ok(Some((**params).clone())),
            Some(Like::Groups(_)) => {
                Err(Error::Other("--like names filters by group: give --by".into()))
            }
            None => Ok(self.plan.n.map(|n| self.plan.params(n)).transpose()?),
        }
    }

    /// Builds one filter.
    pub fn bloom(&self, driver: &Driver) -> Result<(Bloom, Tally)> {
        match self.known()? {
            Some(params) => insert_all(driver, params),
            None if self.plan.hashes_once() => self.gather_bloom(driver),
            None => {
                check_twice(driver, "count them", "give -n, or name a file")?;
                let (census, counted) = census(driver)?;
                let (filter, inserted) = insert_all(driver, self.plan.params(census.all.n())?)?;
                check_same(&counted, &inserted)?;
                Ok((filter, inserted))
            }
        }
    }

    fn gather_bloom(&self, driver: &Driver) -> Result<(Bloom, Tally)> {
        let store = Store::new(self.memory);
        let (parts, tally) = gather(driver, Some(&store), self.plan.seed)?;
        let mut distinct = Distinct::default();
        let counts = parts.iter().flat_map(|(gathered, _)| &gathered.counts);
        counts.for_each(|count| distinct.merge(count));
        let kept: Vec<_> = parts.into_iter().filter_map(|(gathered, _)| gathered.hashes).collect();
        let params = self.plan.params(distinct.n())?;
        Ok((insert_kept(params, &kept, driver.threads)?, tally))
    }
}

/// Strategies that hash a key once a probe need the keys again when the size is known.
fn check_twice(driver: &Driver, first: &str, instead: &str) -> Result<()> {
    match driver.sources.iter().find(|source| !source.is_seekable()) {
        None => Ok(()),
        Some(source) => {
            let what = if source.is_stdin() { "stdin" } else { "a pipe" };
            Err(Error::Other(format!(
                "{}: this hash needs the keys twice, first to {first}, and {what} can be read only once: {instead}",
                source.name()
            )))
        }
    }
}

/// What was counted must be what was inserted: otherwise the filter has not the size, or not the keys, that were asked for.
fn check_same(counted: &Tally, inserted: &Tally) -> Result<()> {
    match counted.rows == inserted.rows {
        true => Ok(()),
        false => Err(Error::Other(format!(
            "the input has changed while it was read: {} rows with a key the first time, {} the second; run it again when nobody writes to it",
            counted.rows, inserted.rows
        ))),
    }
}
