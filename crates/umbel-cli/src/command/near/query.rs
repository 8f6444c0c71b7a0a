//! `umbel near query`: which numbers have a stored one near them?

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use serde_json::json;
use umbel::near::Near;
use umbel_io::screen::{Summary, Wanted};
use umbel_io::{Driver, Shape, Tally, near};

use crate::input::{self, Grouping, Input};
use crate::output::Output;
use crate::progress::Progress;
use crate::table::grouped;
use crate::{json, notice, opened, output, overlap};

const EXAMPLES: &str = "\
Examples:
  umbel near query v.umbel questions.txt               may have one near
  umbel near query v.umbel questions.txt -v            certainly have none
  umbel near query v.umbel log.csv --key price -c      only how many
  umbel near query v.umbel questions.txt --within 2    a smaller distance
  umbel near query v.umbel questions.txt --nearest     which, and how far
Exit code: 0 = a line was selected, 1 = none, 2 = an error.";

/// Print the lines whose number may have a stored one near it; what is left out certainly has none
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// What umbel near build wrote
    stored: PathBuf,

    /// Files with numbers, also compressed; - or none is stdin
    files: Vec<PathBuf>,

    /// Ask for this distance, at most the one it was built for
    #[arg(long, value_name = "DISTANCE", allow_negative_numbers = true)]
    within: Option<f64>,

    /// Select the lines whose number certainly has none near it instead
    #[arg(short = 'v', long, conflicts_with = "report")]
    invert: bool,

    /// Print only the number of selected lines
    #[arg(short = 'c', long)]
    count: bool,

    /// Print the numbers that have one near them, the nearest stored one and its distance (exact lists know it)
    #[arg(long, conflicts_with_all = ["invert", "count", "report"])]
    nearest: bool,

    /// Print counts and times instead of lines
    #[arg(long, conflicts_with = "count")]
    report: bool,

    /// With --report: as JSON
    #[arg(long, requires = "report", conflicts_with = "count")]
    #[arg(hide_short_help = true)]
    json: bool,

    #[command(flatten)]
    input: Input,
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        let started = Instant::now();
        let files = input::or_stdin(&self.files);
        input::check_stdin(files.iter().chain([&self.stored]))?;
        if !self.count && !self.report {
            overlap::check(&PathBuf::from("-"), files.iter().chain([&self.stored]))?;
        }
        self.input.check_delimiter(self.input.key.is_some())?;
        let stored = self.open()?;
        let grid = stored.params().grid();
        let alpha = self.within.unwrap_or(grid.alpha());
        grid.cells(0, alpha)?; // refuses other distances before anything is read
        let shape = self.input.shape(&Grouping::default(), false);
        let driver = self.input.driver(&self.files, Shape { numbers: Some(grid), ..shape });
        if self.nearest {
            let (found, tally) = print_nearest(&driver, &stored, alpha)?;
            notice::malformed(&tally);
            return Ok(ExitCode::from(u8::from(found == 0)));
        }
        let loading = started.elapsed();
        let summary = self.query(&driver, &stored, alpha)?;
        notice::malformed(&summary.tally);
        let selected = if self.invert { summary.rejected() } else { summary.admitted };
        if self.count {
            output::print(format!("{selected}\n"))?;
        } else if self.report {
            output::print(self.report(&stored, alpha, &summary, loading)?)?;
        }
        Ok(ExitCode::from(u8::from(selected == 0)))
    }

    fn open(&self) -> Result<Near> {
        let stored = opened::numbers(&self.stored, &self.files, self.input.threads())?;
        if self.nearest {
            stored.nearest(0).map_err(|error| {
                anyhow!("{}: {error}; umbel near build --exact makes one", self.stored.display())
            })?;
        }
        Ok(stored)
    }

    fn query(&self, driver: &Driver, stored: &Near, alpha: f64) -> Result<Summary> {
        let prints = !self.count && !self.report;
        let mut out = prints.then(Output::stdout);
        let wanted = Wanted { admitted: prints && !self.invert, rejected: prints && self.invert };
        let watch = if prints { Progress::beside_lines } else { Progress::watch };
        let (progress, live) = (watch(&driver.meter), driver.is_live());
        let summary = near::query(driver, stored, alpha, wanted, |lines| {
            let lines = if self.invert { &lines.rejected } else { &lines.admitted };
            out.as_mut().map_or(Ok(()), |out| out.deliver(lines, live))
        })?;
        drop(progress);
        out.map_or(Ok(()), Output::commit)?;
        Ok(summary)
    }

    /// How they are kept, how many, what was asked and how it was answered, and the time of loading and asking.
    fn report(
        &self,
        stored: &Near,
        alpha: f64,
        summary: &Summary,
        loading: Duration,
    ) -> Result<String> {
        if self.json {
            let report = json!({
                "structure": stored.structure().name(),
                "inserted": stored.inserted(),
                "within": alpha,
                "asked": summary.tally.rows,
                "malformed": summary.tally.malformed,
                "near": summary.admitted,
                "far": summary.rejected(),
                "loading_seconds": loading.as_secs_f64(),
                "asking_seconds": summary.time.as_secs_f64(),
            });
            return json::text(&report);
        }
        let lines = [
            ("kept in", stored.structure().to_string()),
            ("numbers stored", grouped(stored.inserted())),
            ("asked", grouped(summary.tally.rows)),
            ("malformed", grouped(summary.tally.malformed)),
            ("one within", alpha.to_string()),
            ("  may have", grouped(summary.admitted)),
            ("  have not", grouped(summary.rejected())),
            ("loading", format!("{:.3} s", loading.as_secs_f64())),
            ("asking", format!("{:.3} s", summary.time.as_secs_f64())),
        ];
        Ok(lines.map(|(name, value)| format!("{name:<16} {value}\n")).concat())
    }
}

/// Prints each number that has one near it, the nearest stored one, and the distance.
fn print_nearest(driver: &Driver, stored: &Near, alpha: f64) -> Result<(u64, Tally)> {
    let mut out = Output::stdout();
    let live = driver.is_live();
    let progress = Progress::beside_lines(&driver.meter);
    let found = near::nearest(driver, stored, alpha, |lines| out.deliver(lines, live))?;
    drop(progress);
    out.commit()?;
    Ok(found)
}
