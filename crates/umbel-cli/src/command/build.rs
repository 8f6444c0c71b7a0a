//! `umbel build`: from keys to a filter.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde_json::{Value, json};
use umbel::format::Kind;
use umbel::{Groups, Metadata};
use umbel_io::build::Like;
use umbel_io::plan::DEFAULT_RATE;
use umbel_io::{Build, Driver, Filters, Look, Shape, Tally};
use umbel_job::job::How;

use crate::engine::Engine;
use crate::input::{self, Grouping, Input};
use crate::jobs::Jobs;
use crate::output::Output;
use crate::planning::{Hashing, Planning};
use crate::progress::Progress;
use crate::table::percent;
use crate::{json, notice, opened, output, overlap, remembered, spark};

const EXAMPLES: &str = "\
Examples:
  umbel build ids.txt -o ids.umbel               n is counted, the rate is 1 %
  zcat log.gz | umbel build --key 3 -d ' ' -o seen.umbel    the third column
  umbel build r.tsv --key tconst --by averageRating --round -o r.umbel
  umbel build tue.txt --like mon.umbel -o tue.umbel         can be merged";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Files with keys, also compressed; - or none is stdin
    files: Vec<PathBuf>,

    /// The file to write, replaced only by a whole one
    #[arg(short = 'o', long, value_name = "FILE")]
    output: PathBuf,

    /// Print what was done as JSON
    #[arg(long)]
    #[arg(hide_short_help = true)]
    json: bool,

    /// A text pair to keep in the file; may be repeated
    #[arg(long, value_name = "K=V")]
    #[arg(hide_short_help = true)]
    meta: Vec<String>,

    /// Memory for hashes while n is being counted; beyond it a temporary file is used
    #[arg(long, value_name = "SIZE", default_value = "2G", value_parser = input::bytes)]
    #[arg(hide_short_help = true)]
    memory: u64,

    #[command(flatten)]
    planning: Planning,

    #[command(flatten)]
    hashing: Hashing,

    /// Take all parameters from this filter, for a merge
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
    #[arg(hide_short_help = true)]
    key_type: KeyTypeName,

    #[command(flatten)]
    input: Input,

    #[command(flatten)]
    grouping: Grouping,

    #[command(flatten)]
    engine: Engine,

    /// On hadoop and spark: how mappers send their bits [default: the shorter of coded gaps and bits]
    #[arg(long, value_enum, value_name = "WAY", help_heading = "Engine")]
    #[arg(hide_short_help = true)]
    how: Option<Way>,
}

/// How mappers send their bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Way {
    // The bits of each key, by their places; or a partial filter for each group.
    Indexes,
    Filters,
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
        if let Some(code) = spark::hand_over(&self.engine)? {
            return Ok(code);
        }
        let files = input::or_stdin(&self.files);
        input::check_stdin(files.iter().chain(&self.like))?;
        overlap::check(&self.output, &files)?;
        if self.json {
            overlap::check_alone("-o", Some(&self.output), "what --json prints")?;
        }
        self.grouping.check()?;
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
        let started = Instant::now();
        let (filters, tally, jobs) = match self.engine.runs_jobs()? {
            true => self.as_jobs(&build, driver.shape)?,
            false => self.here(&build, &driver)?,
        };
        self.report(&filters, &tally);
        if let (Some(path), Filters::Groups(groups)) = (&self.like, &filters) {
            warn_of_new(path, build.like.as_ref(), groups);
        }
        let number = match &filters {
            Filters::One(_) => 1,
            Filters::Groups(groups) => groups.len(),
        };
        self.write(filters, &tally.look, &mut out)?;
        out.commit()?;
        if self.json {
            print_json(number, &tally, started.elapsed(), jobs)?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn here(&self, build: &Build, driver: &Driver) -> Result<(Filters, Tally, Value)> {
        if self.how.is_some() {
            bail!("--how goes with --on hadoop and --on spark");
        }
        let _progress = Progress::watch(&driver.meter);
        let (filters, tally) = if self.grouping.by.is_some() {
            let (groups, tally) = build.groups(driver)?;
            (Filters::Groups(groups), tally)
        } else {
            let (filter, tally) = build.bloom(driver)?;
            (Filters::One(filter), tally)
        };
        Ok((filters, tally, Value::Null))
    }

    fn as_jobs(&self, build: &Build, shape: Shape) -> Result<(Filters, Tally, Value)> {
        let how = match self.how {
            None => How::Shortest,
            Some(Way::Indexes) => How::Indexes,
            Some(Way::Filters) => How::Filters,
        };
        let mut jobs = Jobs::new("build", &self.engine, &self.files, shape, self.input.strict)?;
        let (filters, tally) = jobs.build(build, how)?;
        Ok((filters, tally, jobs.json()))
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
            notice::no_keys();
        }
        match filters {
            Filters::One(filter) => {
                self.planning.too_full(filter).into_iter().for_each(notice::warn);
            }
            Filters::Groups(groups) => {
                let too_full = |(name, filter)| Some((name, self.planning.too_full(filter)?));
                notice::warn_groups(groups.iter().filter_map(too_full));
            }
        }
    }
}

/// Says which groups the filters to be like have not: those do not know the rate that was asked for.
fn warn_of_new(path: &Path, like: Option<&Like>, groups: &Groups) {
    let Some(Like::Groups(like)) = like else { return };
    let new: Vec<&str> = groups.names().filter(|name| !like.contains_key(*name)).collect();
    if !new.is_empty() {
        notice::warn(format!(
            "not in {}, and sized for the usual rate of {}: {}",
            path.display(),
            percent(DEFAULT_RATE),
            notice::names(new.into_iter())
        ));
    }
}

/// Rows, filters and time, and the jobs where there were some.
fn print_json(filters: usize, tally: &Tally, time: Duration, jobs: Value) -> Result<()> {
    let mut report = json!({
        "rows": tally.rows,
        "malformed": tally.malformed,
        "filters": filters,
        "seconds": time.as_secs_f64(),
    });
    if !jobs.is_null() {
        report["jobs"] = jobs;
    }
    output::print(json::text(&report)?)
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
