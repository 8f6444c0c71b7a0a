//! One filter for each group.

use std::collections::BTreeMap;
use std::sync::Mutex;

use umbel::distinct::Distinct;
use umbel::hash::Strategy;
use umbel::{Bloom, Groups, Keys, Params};

use super::{Build, Like, census, check_same, check_twice, gather};
use crate::gather::Gathered;
use crate::shelf::Store;
use crate::threads::in_threads;
use crate::{Driver, Error, Plan, Result, Tally, lock};

/// Hashes inserted at once, where there are as many.
const SOME: usize = 4096;

impl Build {
    /// Builds one filter for each group.
    pub fn groups(&self, driver: &Driver) -> Result<(Groups, Tally)> {
        self.for_groups()?.build_groups(driver)
    }

    /// The parameters of the filters of these groups.
    pub fn params_of(
        &self,
        groups: &BTreeMap<String, Distinct>,
    ) -> Result<BTreeMap<String, Params>> {
        let build = self.for_groups()?;
        let params = |(name, distinct): (&String, &Distinct)| {
            Ok((name.clone(), build.group_params(name, distinct.n())?))
        };
        groups.iter().map(params).collect()
    }

    fn for_groups(&self) -> Result<Build> {
        if let Some(Like::Bloom(_)) = self.like {
            return Err(Error::Other("--like names a single filter: leave out --by".into()));
        }
        Ok(Build { plan: self.plan_of_groups(), ..self.clone() })
    }

    fn build_groups(&self, driver: &Driver) -> Result<(Groups, Tally)> {
        if self.plan.hashes_once() {
            return self.gather_groups(driver);
        }
        check_twice(driver, "learn the groups", "name a file")?;
        let (census, counted) = census(driver)?;
        let (groups, inserted) = insert_groups(driver, &self.params_of(&census.groups)?)?;
        check_same(&counted, &inserted)?;
        Ok((groups, inserted))
    }

    fn gather_groups(&self, driver: &Driver) -> Result<(Groups, Tally)> {
        let store = Store::new(self.memory);
        let (parts, tally) = gather(driver, Some(&store), self.plan.seed)?;
        // Each group with the threads that have met it, and the number each has given it.
        let mut by_name: BTreeMap<&str, Vec<(&Gathered, usize)>> = BTreeMap::new();
        for (gathered, names) in &parts {
            for (number, name) in names.iter().enumerate() {
                by_name.entry(name).or_default().push((gathered, number));
            }
        }
        let mut work: Vec<_> = by_name.into_iter().collect();
        // The largest first, so that no thread is left alone with it at the end.
        work.sort_by_key(|(_, parts)| {
            parts.iter().map(|&(part, at)| part.counts[at].rows()).sum::<u64>()
        });
        let (work, filters) = (Mutex::new(work), Mutex::new(Groups::default()));
        in_threads(driver.threads, || {
            while let Some((name, parts)) = { lock(&work).pop() } {
                let filter = self.filter_of(name, &parts)?;
                lock(&filters).set(name, filter)?;
            }
            Ok(())
        })?;
        Ok((filters.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner), tally))
    }

    fn filter_of(&self, name: &str, parts: &[(&Gathered, usize)]) -> Result<Bloom> {
        let mut distinct = Distinct::default();
        parts.iter().for_each(|&(gathered, number)| distinct.merge(&gathered.counts[number]));
        let mut filter = Bloom::with(self.group_params(name, distinct.n())?)?;
        // Hashes come in short runs, and are faster inserted many at once.
        let mut some: Vec<u64> = Vec::with_capacity(SOME);
        for &(gathered, number) in parts {
            let Some(hashes) = &gathered.hashes else { continue };
            for run in hashes.in_memory(number) {
                if some.len() + run.len() > SOME {
                    filter.insert_batch(Keys::Hashes(&some))?;
                    some.clear();
                }
                some.extend_from_slice(run);
            }
            hashes.in_file(number, |hashes| Ok(filter.insert_batch(Keys::Hashes(hashes))?))?;
        }
        filter.insert_batch(Keys::Hashes(&some))?;
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
pub fn insert_groups(
    driver: &Driver,
    params: &BTreeMap<String, Params>,
) -> Result<(Groups, Tally)> {
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
            for (row, &group) in batch.rows().zip(batch.groups()) {
                let filter = filters[group as usize].as_mut();
                filter.ok_or(Error::NewGroup)?.insert(batch.key(&row));
            }
            Ok(())
        },
        |()| Ok(()),
    )?;
    let mut groups = empty()?;
    for (filters, names) in outcome.partials {
        for (filter, name) in filters.into_iter().zip(names) {
            groups.merge_into(&name, &filter.ok_or(Error::NewGroup)?)?;
        }
    }
    Ok((groups, outcome.tally))
}
