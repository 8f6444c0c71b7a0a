//! `umbel build`: from keys to a filter.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use umbel::Metadata;
use umbel::format::Kind;
use umbel_io::build::Like;
use umbel_io::{Build, Filters, Look, Tally};

use crate::input::{self, Grouping, Input};
use crate::output::Output;
use crate::planning::{Hashing, Planning};
use crate::progress::Progress;
use crate::{notice, opened, overlap, remembered};

const EXAMPLES: &str = "\
Examples:
  umbel build ids.txt -o ids.umbel                          n is counted, the rate is 1 %
  zcat log.gz | umbel build -o seen.umbel --key 3 -d ' '    the third column, from a pipe
  umbel build ratings.tsv --key tconst --by averageRating --round -p 0.01 -o ratings.umbel
  umbel build tuesday.txt --like monday.umbel -o tuesday.umbel    can be merged with monday's";

/// Build a filter, or one for each group, from the keys of files or stdin
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Files with keys, also compressed; - or none is stdin
    files: Vec<PathBuf>,

    /// The file to write; one that stands there is replaced when the new one is whole
    #[arg(short = 'o', long, value_name = "FILE")]
    output: PathBuf,

    /// A text pair to keep in the file; may be repeated
    #[arg(long, value_name = "K=V")]
    meta: Vec<String>,

    /// Memory for hashes while n is being counted; beyond it a temporary file is used
    #[arg(long, value_name = "SIZE", default_value = "2G", value_parser = input::bytes)]
    memory: u64,

    #[command(flatten)]
    planning: Planning,

    #[command(flatten)]
    hashing: Hashing,

    /// Take all parameters from this filter, so that the two can be merged
    #[arg(long, value_name = "FILE", conflicts_with_all = ["n", "p", "k", "m", "layout", "hash", "seeds", "seed", "key_type"])]
    #[arg(help_heading = "Filter")]
    like: Option<PathBuf>,

    /// What the keys are: int takes decimal text as 64-bit numbers
    #[arg(
        long = "type",
        value_enum,
        default_value_t,
        hide_default_value = true,
        help_heading = "Input"
    )]
    key_type: KeyTypeName,

    #[command(flatten)]
    input: Input,

    #[command(flatten)]
    grouping: Grouping,
}

/// What keys are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum KeyTypeName {
    #[default]
    Bytes,
    Int,
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        let files = input::or_stdin(&self.files);
        input::check_stdin(files.iter().chain(&self.like))?;
        overlap::check(&self.output, &files)?;
        self.input.check_delimiter(self.input.key.is_some() || self.grouping.by.is_some())?;
        let like = self.like.as_deref().map(read_like).transpose()?;
        let integers = match &like {
            Some((_, integers)) => *integers,
            None => self.key_type == KeyTypeName::Int,
        };
        let build = Build {
            plan: self.planning.plan(&self.hashing, integers)?,
            like: like.map(|(like, _)| like),
            memory: usize::try_from(self.memory).unwrap_or(usize::MAX),
        };
        // What cannot be done is said before the work, not behind it.
        if build.like.is_none() {
            build.plan.params(build.plan.n.unwrap_or(1))?;
            self.planning.warn_unused();
        }
        self.remember(&mut Metadata::default(), &Look::default())?;
        let mut out = Output::create(&self.output)?;
        let driver = self.input.driver(&self.files, self.input.shape(&self.grouping, integers));
        let progress = Progress::watch(&driver.meter);
        let (filters, tally) = if self.grouping.by.is_some() {
            let (groups, tally) = build.groups(&driver)?;
            (Filters::Groups(groups), tally)
        } else {
            let (filter, tally) = build.bloom(&driver)?;
            (Filters::One(filter), tally)
        };
        drop(progress);
        self.report(&filters, &tally);
        self.write(filters, &tally.look, &mut out)?;
        out.commit()?;
        Ok(ExitCode::SUCCESS)
    }

    fn remember(&self, metadata: &mut Metadata, look: &Look) -> Result<()> {
        remembered::write(metadata, &self.input, &self.grouping, look, &self.meta)
    }

    fn write(&self, filters: Filters, look: &Look, out: &mut Output) -> Result<()> {
        match filters {
            Filters::One(mut filter) => {
                self.remember(filter.metadata_mut(), look)?;
                filter.write_to(out)?;
            }
            Filters::Groups(mut groups) => {
                self.remember(groups.metadata_mut(), look)?;
                groups.write_to(out)?;
            }
        }
        Ok(())
    }

    fn report(&self, filters: &Filters, tally: &Tally) {
        notice::malformed(tally);
        if tally.rows == 0 {
            notice::warn("there are no keys in the input; the filter is empty");
        }
        match filters {
            Filters::One(filter) => filter.overfull().into_iter().for_each(notice::warn),
            Filters::Groups(groups) => {
                for (name, warning) in
                    groups.iter().filter_map(|(name, f)| Some((name, f.overfull()?)))
                {
                    notice::warn(format!("group {name}: {warning}"));
                }
            }
        }
    }
}

/// The parameters of the filters in a file, and whether their keys are integers.
fn read_like(path: &Path) -> Result<(Like, bool)> {
    let file = opened::file(path)?;
    let (like, key_type) = match file.kind() {
        Kind::Bloom => {
            let params = file.into_bloom()?.params().clone();
            let key_type = params.key_type();
            (Like::Bloom(Box::new(params)), Some(key_type))
        }
        Kind::Groups => {
            let groups = file.into_groups()?;
            let params = groups.iter().map(|(name, filter)| (name.into(), filter.params().clone()));
            (Like::Groups(params.collect()), groups.key_type())
        }
        other => bail!("{}: it holds {other}, not a filter", path.display()),
    };
    Ok((like, key_type == Some(umbel::KeyType::U64)))
}
