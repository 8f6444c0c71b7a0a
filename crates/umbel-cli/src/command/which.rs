//! `umbel screen --which`: the groups that may hold each key.

use std::process::ExitCode;

use anyhow::Result;
use umbel_io::which::which;
use umbel_io::{Driver, Filters};

use crate::notice;
use crate::output::Output;
use crate::progress::Progress;

/// Prints each key that a group admits, with the groups.
pub fn run(filters: &Filters, driver: &Driver) -> Result<ExitCode> {
    let Filters::Groups(groups) = filters else { anyhow::bail!("--which needs filters by group") };
    let mut out = Output::stdout();
    let live = driver.is_live();
    let progress = Progress::beside_lines(&driver.meter);
    let (admitted, tally) = which(driver, groups, |lines| out.deliver(lines, live))?;
    drop(progress);
    out.commit()?;
    notice::malformed(&tally);
    Ok(ExitCode::from(u8::from(admitted == 0)))
}
