//! `umbel count`: how often did a key come?

mod build;
mod dot;
mod heavy;
mod quantile;
mod query;
mod range;
mod sketching;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Subcommand;
use umbel::counts::{CountGroups, Sketch};
use umbel::format::{File, Kind};
use umbel::{CountMin, Counts, Error, Ranges};

use crate::notice;

const EXAMPLES: &str = "\
Examples:
  umbel count build access.log --key 1 -d ' ' -o hits.umbel
  umbel count query hits.umbel addresses.txt             what did each come to?
  umbel count heavy access.log --key 1 -d ' ' --top 20   the most frequent
  umbel merge mon.umbel tue.umbel -o week.umbel          counts add up";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Build(Box<build::Args>),
    Query(query::Args),
    Dot(dot::Args),
    Heavy(heavy::Args),
    Range(range::Args),
    Quantile(quantile::Args),
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        match self.command {
            Command::Build(args) => args.run(),
            Command::Query(args) => args.run(),
            Command::Dot(args) => args.run(),
            Command::Heavy(args) => args.run(),
            Command::Range(args) => args.run(),
            Command::Quantile(args) => args.run(),
        }
    }
}

/// The counts in a file, of this group where it has groups. When their sums have stopped, that is said.
fn open(path: &Path, group: Option<&str>) -> Result<Counts> {
    let counts = found(path, group)?;
    if counts.is_saturated() {
        notice::warn(format!(
            "{}: the total has reached 2^64 - 1: counts stand for \"this or more\"",
            path.display()
        ));
    }
    Ok(counts)
}

fn found(path: &Path, group: Option<&str>) -> Result<Counts> {
    let name = path.display();
    match (File::open(path)?.kind(), group) {
        (Kind::CountGroups, group) => {
            let groups = CountGroups::open(path)?;
            let it_has = || notice::it_has(groups.names());
            let Some(group) = group else {
                bail!("{name}: it holds counts by group: name one with --group; {}", it_has())
            };
            match groups.get(group) {
                Ok(counts) => Ok(counts.clone()),
                Err(error) => bail!("{name}: {error}; {}", it_has()),
            }
        }
        (Kind::Bloom | Kind::Groups, _) => {
            bail!("{name}: it holds a filter, not counts; make them with umbel count build")
        }
        (Kind::Near, _) => {
            bail!("{name}: it holds numbers, not counts; ask it with umbel near query")
        }
        (Kind::Similar, _) => {
            bail!("{name}: it holds items, not counts; ask it with umbel similar query")
        }
        (_, Some(_)) => bail!("{name}: it has no groups: leave out --group"),
        (_, None) => Ok(Counts::open(path)?),
    }
}

/// The counts over ranges among what a file holds.
fn ranges<'c>(counts: &'c Counts, path: &Path) -> Result<&'c Ranges> {
    match counts.sketch() {
        Some(Sketch::Ranges(ranges)) => Ok(ranges),
        _ => bail!(
            "{}: it holds {}, not counts over ranges: build it with --integers",
            path.display(),
            counts.kind()
        ),
    }
}

/// The plain sketch among what a file holds.
fn plain<'c>(counts: &'c Counts, path: &Path) -> Result<&'c CountMin> {
    match counts.sketch() {
        Some(Sketch::Plain(sketch)) => Ok(sketch),
        Some(Sketch::Conservative(_)) => bail!("{}: {}", path.display(), Error::OrderMatters),
        _ => bail!("{}: it holds {}, not a count-min sketch", path.display(), counts.kind()),
    }
}
