//! `umbel count build`: from keys to a sketch of their counts.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::{Value, json};
use umbel::counts::{CountGroups, Sketch};
use umbel::{Counts, KeyType, Metadata};
use umbel_io::{Column, Driver, Look, Shape, Tally, count};

use super::sketching::Sketching;
use crate::command::build::KeyTypeName;
use crate::engine::Engine;
use crate::input::{Grouping, Input};
use crate::jobs::Jobs;
use crate::output::Output;
use crate::progress::Progress;
use crate::{json, notice, output, overlap, remembered, spark};

const EXAMPLES: &str = "\
Examples:
  umbel count build access.log --key 1 -d ' ' --eps 0.0001 -o hits.umbel
  umbel count build sales.csv --key product --weight euros -o sales.umbel
  umbel count build flows.csv --key port --integers 0..65535 -o ports.umbel
  umbel count build tue.log --like mon.umbel -o tue.umbel     can be merged";

/// Count the keys of files or stdin into a sketch: estimates that are never too low
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Files with keys, also compressed; - or none is stdin
    files: Vec<PathBuf>,

    /// The file to write, replaced only by a whole one
    #[arg(short = 'o', long, value_name = "FILE")]
    output: PathBuf,

    /// A text pair to keep in the file; may be repeated
    #[arg(long, value_name = "K=V")]
    #[arg(hide_short_help = true)]
    meta: Vec<String>,

    /// Print what was counted as JSON
    #[arg(long)]
    #[arg(hide_short_help = true)]
    json: bool,

    #[command(flatten)]
    sketching: Sketching,

    /// The column of the weight, a whole number [default: 1]
    #[arg(long, value_name = "COL", help_heading = "Input")]
    weight: Option<Column>,

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
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        if let Some(code) = spark::hand_over(&self.engine)? {
            return Ok(code);
        }
        let has_columns = self.weight.is_some() || self.grouping.by.is_some();
        self.grouping.check()?;
        self.input.check_delimiter(self.input.key.is_some() || has_columns)?;
        let empty = self.sketching.empty(self.key_type == KeyTypeName::Int)?;
        self.remember(&mut Metadata::default(), &Look::default())?;
        overlap::check(&self.output, &self.files)?;
        if self.json {
            overlap::check_alone("-o", Some(&self.output), "what --json prints")?;
        }
        let mut out = Output::create(&self.output)?;
        let driver = self.driver(&empty);
        let started = Instant::now();
        let (counted, tally, jobs) = match self.engine.runs_jobs()? {
            true => self.as_jobs(&driver, &empty)?,
            false => self.here(&driver, &empty)?,
        };
        let groups = counted.groups();
        self.write(counted, &tally.look, &mut out)?;
        report(&tally);
        out.commit()?;
        if self.json {
            print_json(groups, &tally, started.elapsed(), jobs)?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn here(&self, driver: &Driver, empty: &Counts) -> Result<(Counted, Tally, Value)> {
        let _progress = Progress::watch(&driver.meter);
        let (counted, tally) = if self.grouping.by.is_some() {
            let (groups, tally) = count::count_groups(driver, empty)?;
            (Counted::Groups(groups), tally)
        } else {
            let (counts, tally) = count::count(driver, empty)?;
            (Counted::One(Box::new(counts)), tally)
        };
        Ok((counted, tally, Value::Null))
    }

    fn as_jobs(&self, driver: &Driver, empty: &Counts) -> Result<(Counted, Tally, Value)> {
        let shape = driver.shape.clone();
        let mut jobs = Jobs::new("count build", &self.engine, &self.files, shape, driver.strict)?;
        let (mut all, tally) = jobs.count(empty)?;
        let counted = if self.grouping.by.is_some() {
            let mut groups = CountGroups::default();
            for (name, counts) in all {
                groups.set(name, counts)?;
            }
            Counted::Groups(groups)
        } else {
            let counts = all.pop_first().map_or_else(|| empty.clone(), |(_, counts)| counts);
            Counted::One(Box::new(counts))
        };
        Ok((counted, tally, jobs.json()))
    }

    fn write(&self, counted: Counted, look: &Look, out: &mut Output) -> Result<()> {
        match counted {
            Counted::One(mut counts) => {
                self.remember(counts.metadata_mut(), look)?;
                counts.write_to(out)?;
            }
            Counted::Groups(mut groups) => {
                self.remember(groups.metadata_mut(), look)?;
                groups.write_to(out)?;
            }
        }
        Ok(())
    }

    fn driver(&self, empty: &Counts) -> Driver {
        let shape = self.input.shape(&self.grouping, empty.key_type() == KeyType::U64);
        let interval = match empty.sketch() {
            Some(Sketch::Ranges(ranges)) => Some((ranges.params().lo(), ranges.params().hi())),
            _ => None,
        };
        self.input.driver(&self.files, Shape { weight: self.weight.clone(), interval, ..shape })
    }

    fn remember(&self, metadata: &mut Metadata, look: &Look) -> Result<()> {
        remembered::write(metadata, &self.input, &self.grouping, look, &self.meta)
    }
}

/// What the keys were counted into.
enum Counted {
    One(Box<Counts>),
    Groups(CountGroups),
}

impl Counted {
    /// The number of groups, where there are some.
    fn groups(&self) -> Option<usize> {
        match self {
            Counted::One(_) => None,
            Counted::Groups(groups) => Some(groups.iter().count()),
        }
    }
}

/// Rows, groups and time, and the jobs where there were some.
fn print_json(groups: Option<usize>, tally: &Tally, time: Duration, jobs: Value) -> Result<()> {
    let mut report = json!({
        "rows": tally.rows,
        "malformed": tally.malformed,
        "groups": groups,
        "seconds": time.as_secs_f64(),
    });
    if !jobs.is_null() {
        report["jobs"] = jobs;
    }
    output::print(json::text(&report)?)
}

/// Says what was not counted.
fn report(tally: &Tally) {
    notice::malformed(tally);
    if tally.rows == 0 {
        notice::warn("there are no keys in the input; the sketch is empty");
    }
}
