//! `umbel merge`: filters built apart become one.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use umbel::Error;
use umbel_io::Filters;

use crate::notice;
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  umbel build tuesday.txt --like monday.umbel -o tuesday.umbel
  umbel merge monday.umbel tuesday.umbel -o both.umbel";

/// Merge filters that have the same parameters: the result holds the keys of all
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The filters
    #[arg(required = true)]
    filters: Vec<PathBuf>,

    /// The file to write
    #[arg(short = 'o', long, value_name = "FILE")]
    output: PathBuf,
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let mut paths = self.filters.iter();
        let Some(first) = paths.next() else { bail!("give at least one filter") };
        let mut merged = Filters::open(first, threads)?;
        for path in paths {
            let other = Filters::open(path, threads)?;
            merge(&mut merged, &other)
                .map_err(|error| explain(error, first, path))
                .with_context(|| format!("{} and {}", first.display(), path.display()))?;
        }
        let mut out = Output::create(&self.output)?;
        match &merged {
            Filters::One(filter) => {
                filter.overfull().into_iter().for_each(notice::warn);
                filter.write_to(&mut out)?;
            }
            Filters::Groups(groups) => {
                for (name, filter) in groups.iter() {
                    filter
                        .overfull()
                        .into_iter()
                        .for_each(|w| notice::warn(format!("group {name}: {w}")));
                }
                groups.write_to(&mut out)?;
            }
        }
        out.commit()?;
        Ok(ExitCode::SUCCESS)
    }
}

fn merge(merged: &mut Filters, other: &Filters) -> Result<()> {
    match (merged, other) {
        (Filters::One(ours), Filters::One(theirs)) => drop(ours.merge(theirs)?),
        (Filters::Groups(ours), Filters::Groups(theirs)) => drop(ours.merge(theirs)?),
        _ => bail!("one holds a single filter, the other filters by group"),
    }
    Ok(())
}

/// Says how to build filters that can be merged.
fn explain(error: anyhow::Error, first: &Path, path: &Path) -> anyhow::Error {
    match error.downcast_ref::<Error>() {
        Some(Error::Unlike { field, ours, theirs }) => anyhow::anyhow!(
            "cannot merge: {field} differs, {ours} and {theirs}; build the second with the parameters of the first: \
             umbel build --like {} -o {} …",
            first.display(),
            path.display()
        ),
        _ => error,
    }
}
