//! `umbel merge`: what was built apart becomes one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use umbel::counts::CountGroups;
use umbel::format::{File, Kind};
use umbel::near::Near;
use umbel::similar::Similar;
use umbel::{Bloom, Counts, Error, Metadata};
use umbel_io::Filters;

use crate::output::Output;
use crate::{input, notice, opened};

const EXAMPLES: &str = "\
Examples:
  umbel build tuesday.txt --like monday.umbel -o tuesday.umbel
  umbel merge monday.umbel tuesday.umbel -o both.umbel
  umbel merge jan.umbel feb.umbel mar.umbel -o quarter.umbel     counts add up";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The files; - is stdin
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// The file to write
    #[arg(short = 'o', long, value_name = "FILE")]
    output: PathBuf,
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        input::check_stdin(&self.files)?;
        let mut paths = self.files.iter();
        let Some(first) = paths.next() else { bail!("give at least one file") };
        let mut merged = Content::open(first)?;
        let mut pairs = vec![(first, merged.metadata().clone())];
        for path in paths {
            let other = Content::open(path)?;
            pairs.push((path, other.metadata().clone()));
            merged
                .merge(&other)
                .map_err(|error| explain(error, &merged, first, path))
                .with_context(|| format!("{} and {}", first.display(), path.display()))?;
        }
        lost(&pairs, merged.metadata()).into_iter().for_each(notice::warn);
        let mut out = Output::create(&self.output)?;
        merged.write_to(&mut out)?;
        out.commit()?;
        Ok(ExitCode::SUCCESS)
    }
}

/// What to say of the pairs on which the files do not agree, so that the merged one has them not.
fn lost(pairs: &[(&PathBuf, Metadata)], merged: &Metadata) -> Vec<String> {
    let keys: BTreeSet<&str> =
        pairs.iter().flat_map(|(_, pairs)| pairs.iter().map(|(key, _)| key)).collect();
    let value = |(path, pairs): &(&PathBuf, Metadata), key: &str| match pairs.get(key) {
        Some(value) => format!("{value:?} in {}", path.display()),
        None => format!("nothing in {}", path.display()),
    };
    let say = |key: &str| {
        let other = pairs.iter().find(|(_, other)| other.get(key) != pairs[0].1.get(key))?;
        let (ours, theirs) = (value(&pairs[0], key), value(other, key));
        Some(format!("{key} is {ours}, {theirs}: the merged file does not have it"))
    };
    keys.into_iter().filter(|key| merged.get(key).is_none()).filter_map(say).collect()
}

/// What is merged.
enum Content {
    Filters(Filters),
    Counts(Counts),
    CountGroups(CountGroups),
    Near(Box<Near>),
    Similar(Box<Similar>),
}

impl Content {
    fn open(path: &Path) -> Result<Content> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let file = opened::file(path)?;
        if let Kind::Bloom | Kind::Groups = file.kind() {
            return Ok(Content::Filters(Filters::read(file, threads)?));
        }
        file.verify()?;
        Ok(match file.kind() {
            Kind::CountGroups => Content::CountGroups(file.into_count_groups()?),
            Kind::Near => Content::Near(Box::new(near(file)?)),
            Kind::Similar => Content::Similar(Box::new(file.into_similar()?)),
            _ => Content::Counts(file.into_counts()?),
        })
    }

    fn metadata(&self) -> &Metadata {
        match self {
            Content::Filters(filters) => filters.metadata(),
            Content::Counts(counts) => counts.metadata(),
            Content::CountGroups(groups) => groups.metadata(),
            Content::Near(near) => near.metadata(),
            Content::Similar(filter) => filter.metadata(),
        }
    }

    fn merge(&mut self, other: &Content) -> Result<()> {
        match (self, other) {
            (Content::Filters(ours), Content::Filters(theirs)) => merge(ours, theirs),
            (Content::Counts(ours), Content::Counts(theirs)) => Ok(ours.merge(theirs)?),
            (Content::CountGroups(ours), Content::CountGroups(theirs)) => Ok(ours.merge(theirs)?),
            (Content::Near(ours), Content::Near(theirs)) => {
                ours.merge(theirs).map(|_| ()).map_err(Into::into)
            }
            (Content::Similar(ours), Content::Similar(theirs)) => {
                ours.merge(theirs).map(|_| ()).map_err(Into::into)
            }
            (ours, theirs) => bail!("one holds {}, the other {}", ours.name(), theirs.name()),
        }
    }

    fn write_to(&self, out: &mut Output) -> Result<()> {
        match self {
            Content::Filters(Filters::One(filter)) => {
                filter.overfull().into_iter().for_each(notice::warn);
                filter.write_to(out)?;
            }
            Content::Filters(Filters::Groups(groups)) => {
                let overfull = |(name, filter): (_, &Bloom)| Some((name, filter.overfull()?));
                notice::warn_groups(groups.iter().filter_map(overfull));
                groups.write_to(out)?;
            }
            Content::Counts(counts) => counts.write_to(out)?,
            Content::CountGroups(groups) => groups.write_to(out)?,
            Content::Near(near) => {
                near.overfull().into_iter().for_each(notice::warn);
                near.write_to(out)?;
            }
            Content::Similar(filter) => {
                filter.overfull().into_iter().for_each(notice::warn);
                filter.write_to(out)?;
            }
        }
        Ok(())
    }

    /// What messages call it.
    fn name(&self) -> &'static str {
        match self {
            Content::Filters(_) => "filters",
            Content::Counts(_) => "counts",
            Content::CountGroups(_) => "counts by group",
            Content::Near(_) => "numbers",
            Content::Similar(_) => "similar items",
        }
    }

    /// The command that builds such a thing.
    fn builder(&self) -> &'static str {
        match self {
            Content::Filters(_) => "umbel build",
            Content::Counts(_) | Content::CountGroups(_) => "umbel count build",
            Content::Near(_) => "umbel near build",
            Content::Similar(_) => "umbel similar build",
        }
    }
}

/// Numbers whose bits have been verified.
fn near(file: File) -> Result<Near> {
    let near = file.into_near()?;
    near.verify()?;
    Ok(near)
}

fn merge(merged: &mut Filters, other: &Filters) -> Result<()> {
    match (merged, other) {
        (Filters::One(ours), Filters::One(theirs)) => drop(ours.merge(theirs)?),
        (Filters::Groups(ours), Filters::Groups(theirs)) => drop(ours.merge(theirs)?),
        _ => bail!("one holds a single filter, the other filters by group"),
    }
    Ok(())
}

/// Says how to build what can be merged.
fn explain(error: anyhow::Error, merged: &Content, first: &Path, path: &Path) -> anyhow::Error {
    let cause = error.downcast_ref().or_else(|| match error.downcast_ref() {
        Some(umbel_io::Error::Umbel(cause)) => Some(cause),
        _ => None,
    });
    let (group, cause) = match cause {
        Some(Error::Group { group, source }) => (format!("group {group}: "), Some(&**source)),
        cause => (String::new(), cause),
    };
    match cause {
        Some(Error::Unlike { field, ours, theirs }) => anyhow::anyhow!(
            "{group}cannot merge: {field} differs, {ours} and {theirs}; build the second with the parameters of the first: \
             {} --like {} -o {} …",
            merged.builder(),
            first.display(),
            path.display()
        ),
        _ => error,
    }
}
