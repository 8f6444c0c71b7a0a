//! One filter for each group.

use std::collections::BTreeMap;
use std::sync::Mutex;

use umbel::distinct::Distinct;
use umbel::hash::Strategy;
use umbel::{Bloom, Groups, Keys, Params};

use super::{Build, Like, census, check_twice, gather};
use crate::gather::{Gather, Part, Spill};
use crate::threads::in_threads;
use crate::{Driver, Error, Outcome, Plan, Result, Tally, lock};

impl Build {
    /// Builds one filter for each group.
    pub fn groups(&self, driver: &Driver) -> Result<(Groups, Tally)> {
        if let Some(Like::Bloom(_)) = self.like {
            return Err(Error::Other("--like names a single filter: leave out --by".into()));
        }
        Build { plan: self.plan_of_groups(), ..self.clone() }.build_groups(driver)
    }

    fn build_groups(&self, driver: &Driver) -> Result<(Groups, Tally)> {
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
        let spill = Spill::new(self.memory);
        let Outcome { partials, tally } =
            gather(driver, |thread| Gather::new(thread, Some(&spill), self.plan.seed))?;
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
    fn group_params(&self, name: &str, n: u64) -> Result<Params> {
        match &self.like {
            Some(Like::Groups(like)) if like.contains_key(name) => Ok(like[name].clone()),
            _ => Ok(self.plan.params(self.plan.n.unwrap_or(n))?),
        }
    }

    /// The plan, with the hash and layout of the filters to be like: all groups of a file hash alike, new ones too.
    fn plan_of_groups(&self) -> Plan {
        let like = match &self.like {
            Some(Like::Groups(like)) => like.values().next(),
            _ => None,
        };
        let Some(like) = like else { return self.plan.clone() };
        let plan = Plan { layout: Some(like.sizing().layout()), ..self.plan.clone() };
        match like.strategy() {
            &Strategy::Xxh3 { seed } => Plan { seed, ..plan },
            Strategy::Seeded { family, seeds } => {
                let usual = Strategy::seeded(*family, seeds.len() as u32) == *like.strategy();
                let seeds = (!usual).then(|| seeds.clone());
                Plan { family: Some(*family), seeds, ..plan }
            }
        }
    }
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
