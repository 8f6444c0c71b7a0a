//! Two ways to fold an input into counts.

use std::collections::BTreeMap;

use umbel::Counts;

use super::rows::{Rows, add, by_group};
use crate::{Batch, Driver, Result, Tally};

/// Counts by the name of their group; a single one without a name where there are no groups.
pub(super) type ByGroup = BTreeMap<String, Counts>;

/// Fills counts a thread and merges them.
pub(super) fn apart(driver: &Driver, empty: &Counts) -> Result<(ByGroup, Tally)> {
    let outcome = driver.run(
        Vec::<Counts>::new,
        |groups, batch| {
            let known = if driver.shape.by.is_some() { batch.group_names().len() } else { 1 };
            groups.resize_with(known, || empty.clone());
            if driver.shape.by.is_none() {
                return add_batch(&mut groups[0], batch);
            }
            let rows = by_group(batch);
            groups.iter_mut().zip(&rows).try_for_each(|(counts, rows)| rows.add_to(counts))
        },
        |()| Ok(()),
    )?;
    let mut merged = ByGroup::new();
    for (groups, names) in outcome.partials {
        for (i, counts) in groups.into_iter().enumerate() {
            match merged.entry(names.get(i).cloned().unwrap_or_default()) {
                std::collections::btree_map::Entry::Vacant(entry) => _ = entry.insert(counts),
                std::collections::btree_map::Entry::Occupied(mut entry) => {
                    entry.get_mut().merge(&counts)?;
                }
            }
        }
    }
    Ok((merged, outcome.tally))
}

/// Adds a whole batch without copying its keys.
fn add_batch(counts: &mut Counts, batch: &Batch) -> Result<()> {
    batch.for_each_chunk(|first, keys| {
        let weights = batch.weights().get(first..first + keys.len()).unwrap_or_default();
        add(counts, keys, weights)
    })
}

/// Fills counts in the order of the input.
pub(super) fn in_turn(driver: &Driver, empty: &Counts) -> Result<(ByGroup, Tally)> {
    let mut groups = ByGroup::new();
    let outcome = driver.run(
        || (),
        |(), batch| {
            let rows = by_group(batch).into_iter().enumerate().filter(|(_, rows)| !rows.is_empty());
            Ok(rows.map(|(i, rows)| (name(batch, i), rows)).collect())
        },
        |rows: Vec<(String, Rows)>| {
            for (name, rows) in rows {
                rows.add_to(groups.entry(name).or_insert_with(|| empty.clone()))?;
            }
            Ok(())
        },
    )?;
    Ok((groups, outcome.tally))
}

fn name(batch: &Batch, group: usize) -> String {
    batch.group_names().get(group).cloned().unwrap_or_default()
}
