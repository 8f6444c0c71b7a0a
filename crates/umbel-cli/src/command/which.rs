//! `umbel screen --which`: the groups that may hold each key.

use std::process::ExitCode;

use anyhow::Result;
use umbel_io::{Driver, Filters};

use crate::notice;
use crate::output::Output;
use crate::progress::Progress;

/// Prints each key that a group admits, a tab, and the groups, in order, with commas between.
pub fn run(filters: &Filters, driver: &Driver) -> Result<ExitCode> {
    let Filters::Groups(groups) = filters else { anyhow::bail!("--which needs filters by group") };
    let integers = filters.holds_integers();
    let mut out = Output::stdout();
    let live = driver.is_live();
    let progress = Progress::beside_lines(&driver.meter);
    let outcome = driver.run(
        || 0u64,
        |admitted, batch| {
            let mut lines = Vec::new();
            for row in batch.rows() {
                let key = batch.key(row);
                let names: Vec<&str> = groups.which(key).collect();
                if !names.is_empty() {
                    *admitted += 1;
                    if integers {
                        lines.extend_from_slice(integer(key).as_bytes());
                    } else {
                        lines.extend_from_slice(key);
                    }
                    lines.push(b'\t');
                    lines.extend_from_slice(names.join(",").as_bytes());
                    lines.push(b'\n');
                }
            }
            Ok(lines)
        },
        |lines| out.deliver(&lines, live),
    )?;
    drop(progress);
    out.commit()?;
    notice::malformed(&outcome.tally);
    let admitted: u64 = outcome.partials.iter().map(|(admitted, _)| admitted).sum();
    Ok(ExitCode::from(u8::from(admitted == 0)))
}

/// The decimal text of a key that is a number. Its sign is not kept, and negative ids are likelier than those from 2^63 on.
fn integer(key: &[u8]) -> String {
    let bytes = key.try_into().unwrap_or_default();
    i64::from_le_bytes(bytes).to_string()
}
