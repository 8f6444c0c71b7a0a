//! `umbel screen --which`: the groups that may hold each key.

use anyhow::Result;
use umbel_io::which::which;
use umbel_io::{Driver, Filters, Tally};

use crate::output::Output;
use crate::progress::Progress;

/// Prints each key that a group admits, with the groups; returns how many.
pub fn run(filters: &Filters, driver: &Driver) -> Result<(u64, Tally)> {
    let Filters::Groups(groups) = filters else { anyhow::bail!("--which needs filters by group") };
    let mut out = Output::stdout();
    let live = driver.is_live();
    let progress = Progress::beside_lines(&driver.meter);
    let found = which(driver, groups, |lines| out.deliver(lines, live))?;
    drop(progress);
    out.commit()?;
    Ok(found)
}
