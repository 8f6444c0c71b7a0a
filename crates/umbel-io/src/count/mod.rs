//! Counting the keys of an input, and asking what keys came to.
//!
//! Counts that merge to the same bytes in any order are filled by each thread apart. Those that depend on the order of their keys
//! (conservative sketches, heavy hitters) are filled in the order of the input, whatever the number of threads: they
//! read and split, and the keys are added in turn.

mod fold;
mod query;
mod rows;

pub use query::query;
use umbel::Counts;
use umbel::counts::{CountGroups, Sketch};

use self::fold::{apart, in_turn};
use crate::{Driver, Result, Tally};

/// Counts of its own for each thread as long as all together take no more bytes than this; beyond, they are filled in turn.
const APART: u64 = 1 << 30;

/// Counts the keys of the input into counts like `empty`.
pub fn count(driver: &Driver, empty: &Counts) -> Result<(Counts, Tally)> {
    let (mut groups, tally) = fold(driver, empty)?;
    Ok((groups.pop_first().map_or_else(|| empty.clone(), |(_, counts)| counts), tally))
}

/// Counts the keys of the input by group.
pub fn count_groups(driver: &Driver, empty: &Counts) -> Result<(CountGroups, Tally)> {
    let (groups, tally) = fold(driver, empty)?;
    let mut all = CountGroups::default();
    for (name, counts) in groups {
        all.set(name, counts)?;
    }
    Ok((all, tally))
}

fn fold(driver: &Driver, empty: &Counts) -> Result<(fold::ByGroup, Tally)> {
    let fits = largest(empty).saturating_mul(driver.threads as u64) <= APART;
    if depends_on_order(empty) || !fits { in_turn(driver, empty) } else { apart(driver, empty) }
}

/// Whether what comes of keys depends on their order: such counts cannot be filled in parts.
pub fn depends_on_order(counts: &Counts) -> bool {
    counts.heavy().is_some() || matches!(counts.sketch(), Some(Sketch::Conservative(_)))
}

/// The bytes that counts may come to: all counters as wide as they can be.
fn largest(counts: &Counts) -> u64 {
    match counts.sketch() {
        Some(Sketch::Plain(sketch)) => sketch.params().counters() * 8,
        Some(Sketch::Conservative(sketch)) => sketch.params().counters() * 8,
        Some(Sketch::Ranges(ranges)) => {
            let params = ranges.params();
            let sketched = params.width() * u64::from(params.depth());
            sketched.saturating_mul(u64::from(params.levels())).saturating_mul(8)
        }
        None => 0,
    }
}
