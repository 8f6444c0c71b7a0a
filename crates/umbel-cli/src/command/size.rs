//! `umbel size`: what a filter would cost.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use serde_json::{Value, json};
use umbel::Sizing;
use umbel_io::{Plan, build};

use crate::engine::Engine;
use crate::input::{self, Grouping, Input};
use crate::jobs::Jobs;
use crate::planning::{Hashing, Planning, of_a_good_hash};
use crate::progress::Progress;
use crate::table::{Table, grouped, percent, size};
use crate::{json, notice, output, spark};

const EXAMPLES: &str = "\
Examples:
  umbel size -n 1000000 -p 0.001                  both layouts, to choose from
  umbel size -n 355416 -p 0.01 -k 7               with k given
  umbel size ids.txt                              n is counted first
  umbel size ratings.tsv --key tconst --by averageRating --round   each group";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Files whose keys are counted; - or none is stdin, unless -n is given
    files: Vec<PathBuf>,

    /// Print JSON: one object for each line of the table
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    planning: Planning,

    #[command(flatten)]
    hashing: Hashing,

    #[command(flatten)]
    input: Input,

    #[command(flatten)]
    grouping: Grouping,

    #[command(flatten)]
    engine: Engine,
}

/// A line of the result.
struct Line {
    group: Option<String>,
    rows: Option<u64>,
    sizing: Sizing,
}

impl Args {
    pub fn run(mut self) -> Result<ExitCode> {
        if let Some(code) = spark::hand_over(&self.engine)? {
            return Ok(code);
        }
        let plan = self.planning.plan(&self.hashing, false)?;
        let reads_stdin = self.planning.n.is_none() && !std::io::stdin().is_terminal();
        if self.files.is_empty() && reads_stdin && !self.engine.runs_jobs()? {
            self.files = vec!["-".into()];
        }
        self.check()?;
        self.planning.warn_unused();
        let mut jobs = Value::Null;
        let lines = match (self.planning.n, self.files.is_empty()) {
            (Some(_), true) if self.engine.runs_jobs()? => {
                bail!(
                    "--on {} counts the keys of files: with -n there is nothing to count",
                    self.engine.name()
                )
            }
            (Some(n), true) => plan.sizings(n)?.into_iter().map(Line::bare).collect(),
            (Some(_), false) => {
                bail!("give either -n or files whose keys are to be counted, not both")
            }
            (None, true) => {
                bail!("give the number of keys with -n, or files whose keys are to be counted")
            }
            (None, false) => self.count(&plan, &mut jobs)?,
        };
        let word = of_a_good_hash(plan.params(1)?.strategy());
        let word = word.map_or(String::new(), |word| format!("The rates are those {word}.\n"));
        let text = if self.json { json_text(&lines, jobs)? } else { table(&lines) + &word };
        output::print(text)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Refuses what would be ignored.
    fn check(&self) -> Result<()> {
        let by = self.grouping.by.as_ref().map(|_| "--by");
        if let (true, Some(option)) = (self.files.is_empty(), self.input.given().or(by)) {
            bail!("{option} says how files are read, and none is given");
        }
        self.grouping.check()?;
        input::check_stdin(&self.files)?;
        self.input.check_delimiter(self.input.key.is_some() || by.is_some())
    }

    /// Counts the keys; leaves what jobs have told, where there were some.
    fn count(&self, plan: &Plan, told: &mut Value) -> Result<Vec<Line>> {
        let driver = self.input.driver(&self.files, self.input.shape(&self.grouping, false));
        let (census, tally) = match self.engine.runs_jobs()? {
            true => {
                let mut jobs =
                    Jobs::new("size", &self.engine, &self.files, driver.shape, driver.strict)?;
                let counted = jobs.census()?;
                *told = jobs.json();
                counted
            }
            false => {
                let _progress = Progress::watch(&driver.meter);
                build::census(&driver)?
            }
        };
        notice::malformed(&tally);
        if tally.rows == 0 {
            notice::no_keys();
        }
        if self.grouping.by.is_none() {
            let rows = Some(census.all.rows());
            let sizings = plan.sizings(census.all.n())?;
            return Ok(sizings
                .into_iter()
                .map(|sizing| Line { group: None, rows, sizing })
                .collect());
        }
        let mut groups: Vec<_> = census.groups.into_iter().collect();
        groups.sort_by(|(a, _), (b, _)| umbel::groups::compare_names(a, b));
        let mut lines = Vec::new();
        for (name, distinct) in groups {
            let rows = Some(distinct.rows());
            let line = |sizing| Line { group: Some(name.clone()), rows, sizing };
            lines.extend(plan.sizings(distinct.n())?.into_iter().map(line));
        }
        Ok(lines)
    }
}

impl Line {
    fn bare(sizing: Sizing) -> Line {
        Line { group: None, rows: None, sizing }
    }
}

fn table(lines: &[Line]) -> String {
    let mut table = Table::new([
        "group",
        "layout",
        "n",
        "m (bits)",
        "k",
        "memory",
        "bits a key",
        "expected rate",
    ]);
    for Line { group, sizing, .. } in lines {
        table.row([
            group.clone().unwrap_or_else(|| "all".into()),
            sizing.layout().to_string(),
            grouped(sizing.capacity()),
            grouped(sizing.bits()),
            sizing.probes().to_string(),
            size(sizing.bytes()),
            format!("{:.2}", sizing.bits_per_key()),
            percent(sizing.expected_rate()),
        ]);
    }
    table.render()
}

/// The lines; with what jobs have told, an object that has both.
fn json_text(lines: &[Line], jobs: Value) -> Result<String> {
    let object = |line: &Line| -> Value {
        let sizing = &line.sizing;
        json!({
            "group": line.group,
            "rows": line.rows,
            "layout": sizing.layout().name(),
            "n": sizing.capacity(),
            "m": sizing.bits(),
            "k": sizing.probes(),
            "bytes": sizing.bytes(),
            "bits_per_key": sizing.bits_per_key(),
            "expected_rate": sizing.expected_rate(),
        })
    };
    let objects: Value = lines.iter().map(object).collect();
    let report = if jobs.is_null() { objects } else { json!({ "sizes": objects, "jobs": jobs }) };
    json::text(&report)
}
