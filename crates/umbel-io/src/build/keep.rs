//! A count that keeps the hashes of keys too, while they are few: who has them needs no second look at the keys.

use std::collections::BTreeMap;

use super::Census;
use crate::gather::{Gather, note, seeded};
use crate::{Batch, Driver, Outcome, Result, Tally};

/// Hashes of keys by group; all under the empty name where there are no groups.
pub type Hashes = BTreeMap<String, Vec<u64>>;

/// Counts the rows and distinct keys of an input. The hashes of the keys under this seed come too, unless a thread has met more than `most`.
pub fn census_keeping(
    driver: &Driver,
    seed: u64,
    most: usize,
) -> Result<(Census, Option<Hashes>, Tally)> {
    let Outcome { partials, tally } = driver.run_noting(
        note,
        || (Gather::new(None, 0), Few { seed, left: most, bins: Some(Vec::new()) }),
        |(gather, few), batch, noted| {
            few.take(batch, noted);
            gather.take(batch, noted)
        },
        |()| Ok(()),
    )?;
    let (mut census, mut hashes) = (Census::default(), Some(Hashes::new()));
    for ((gather, few), mut names) in partials {
        if driver.shape.by.is_none() {
            names = vec![String::new()];
        }
        match (&mut hashes, few.bins) {
            (Some(hashes), Some(bins)) => {
                for (name, bin) in names.iter().zip(bins) {
                    hashes.entry(name.clone()).or_default().extend(bin);
                }
            }
            _ => hashes = None,
        }
        census.add(driver.shape.by.is_some(), &gather.finish()?.counts, names);
    }
    Ok((census, hashes, tally))
}

/// Hashes by the number that a thread gives a group; none once there have been too many.
struct Few {
    seed: u64,
    left: usize,
    bins: Option<Vec<Vec<u64>>>,
}

impl Few {
    fn take(&mut self, batch: &Batch, noted: &[u64]) {
        let (Some(bins), Some(left)) = (&mut self.bins, self.left.checked_sub(noted.len())) else {
            self.bins = None;
            return;
        };
        self.left = left;
        bins.resize_with(batch.group_names().len().max(1), Vec::new);
        let hashes = seeded(batch, noted, self.seed);
        if batch.groups().is_empty() {
            return bins[0].extend_from_slice(&hashes);
        }
        for (&group, &hash) in batch.groups().iter().zip(hashes.iter()) {
            bins[group as usize].push(hash);
        }
    }
}
