//! `umbel screen`: which lines may be in the set?

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde_json::{Value, json};
use umbel::Bloom;
use umbel_io::exact::ExactSet;
use umbel_io::screen::{Summary, Wanted, screen};
use umbel_io::{Column, Filters, Look, Shape, Tally};
use umbel_job::job::Keep;

use crate::engine::Engine;
use crate::input::{self, Grouping, Input};
use crate::jobs::Jobs;
use crate::output::Output;
use crate::progress::Progress;
use crate::table::grouped;
use crate::{json, notice, opened, output, overlap, remembered, spark};

const EXAMPLES: &str = "\
Examples:
  umbel screen ids.umbel log.gz                     lines that may be in the set
  umbel screen ids.umbel log.csv --key user -v      lines whose user is not
  umbel screen ids.umbel flow.txt --exact ids.txt   checked by the true set
  umbel screen ids.umbel flow.txt --report          counts and times, no lines
  umbel screen ratings.umbel keys.txt --which       the groups that may hold it
Exit code: 0 = a line was selected, 1 = none, 2 = an error.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The filter; - is stdin
    filter: PathBuf,

    /// Files to screen, also compressed; - or none is stdin
    files: Vec<PathBuf>,

    /// Select the lines that are certainly not in the set instead
    #[arg(short = 'v', long, conflicts_with_all = ["report", "admitted", "rejected"])]
    invert: bool,

    /// Print only the number of selected lines
    #[arg(short = 'c', long)]
    count: bool,

    /// Print counts and times instead of lines
    #[arg(long, conflicts_with = "count")]
    report: bool,

    /// With --report, or -o: the report as JSON
    #[arg(long, conflicts_with_all = ["which", "count"])]
    #[arg(hide_short_help = true)]
    json: bool,

    /// Check what is admitted against the true set in this file: no false positive is selected
    #[arg(long, value_name = "FILE")]
    exact: Option<PathBuf>,

    /// The key's column in the file of --exact, where --header holds too [default: the whole line]
    #[arg(long, value_name = "COL", requires = "exact")]
    #[arg(hide_short_help = true)]
    exact_key: Option<Column>,

    /// Memory for the true set; beyond it a temporary file is used
    #[arg(long, value_name = "SIZE", default_value = "2G", value_parser = input::bytes)]
    #[arg(requires = "exact")]
    #[arg(hide_short_help = true)]
    memory: u64,

    /// Write the admitted lines to this file, not to stdout
    #[arg(long, value_name = "FILE")]
    admitted: Option<PathBuf>,

    /// Write the rejected lines to this file; the admitted ones go to stdout as always
    #[arg(long, value_name = "FILE")]
    rejected: Option<PathBuf>,

    /// Ask one group only
    #[arg(long, value_name = "NAME", conflicts_with = "which")]
    group: Option<String>,

    /// Print each key with the groups that may hold it
    #[arg(long, conflicts_with_all = ["invert", "count", "report", "admitted", "rejected", "exact"])]
    which: bool,

    #[command(flatten)]
    input: Input,

    #[command(flatten)]
    engine: Engine,

    /// On hadoop and spark: a new folder for the selected lines, in the order of the input; on HDFS, or where all nodes of spark see it
    #[arg(short = 'o', long, value_name = "FOLDER", help_heading = "Engine")]
    #[arg(hide_short_help = true)]
    output: Option<PathBuf>,
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        if let Some(code) = spark::hand_over(&self.engine)? {
            return Ok(code);
        }
        let started = Instant::now();
        let flow = input::or_stdin(&self.files);
        input::check_stdin(flow.iter().chain(&self.exact).chain([&self.filter]))?;
        self.check_engine()?;
        self.check_outputs(&flow)?;
        self.input.check_delimiter(self.input.key.is_some() || self.exact_key.is_some())?;
        let filters = self.open()?;
        let shape = self.input.shape(&Grouping::default(), filters.holds_integers());
        let exact = self.exact.as_ref().map(|path| self.read_exact(path, &shape)).transpose()?;
        let (exact, exact_look) = exact.unzip();
        let loading = started.elapsed();
        if self.which {
            let driver = self.input.driver(&self.files, shape);
            let (admitted, tally) = super::which::run(&filters, &driver)?;
            self.remark(&filters, &tally, admitted, None);
            return Ok(ExitCode::from(u8::from(admitted == 0)));
        }
        let (summary, jobs) = match self.engine.runs_jobs()? {
            true => self.as_jobs(shape)?,
            false => (self.screen(&filters, exact.as_ref(), shape)?, Value::Null),
        };
        self.remark(&filters, &summary.tally, summary.admitted, exact_look);
        let selected = if self.invert { summary.rejected() } else { summary.admitted };
        if self.count {
            output::print(format!("{selected}\n"))?;
        } else if self.report || self.json {
            output::print(self.report(&filters, &summary, loading, jobs)?)?;
        }
        if let (Some(folder), false) = (&self.output, self.count || self.report) {
            let (selected, all) = (grouped(selected), grouped(summary.tally.rows));
            notice::say(format!("{selected} of {all} lines are in {}", folder.display()));
        }
        Ok(ExitCode::from(u8::from(selected == 0)))
    }

    /// Says what the reader of the result should know: rows that were not used, and keys that may have been meant to be columns.
    fn remark(&self, filters: &Filters, tally: &Tally, admitted: u64, exact: Option<Look>) {
        notice::malformed(tally);
        let column = remembered::key(filters.metadata());
        match column.filter(|_| self.input.key.is_none()) {
            Some(column) if tally.look.several => notice::warn(format!(
                "the filter was built with --key {column}, and these lines have columns, but the key was the whole line: give --key"
            )),
            None if tally.look.several && self.input.key.is_none() && admitted == 0 => {
                notice::warn(
                    "no line may be in the set, and these lines have columns, but the key was the whole line: if it is one of them, give --key",
                );
            }
            _ => {}
        }
        let asks_columns = column.is_some() || self.input.key.is_some();
        let is_table = exact.is_some_and(|look| look.several) && self.exact_key.is_none();
        if asks_columns && is_table && admitted == 0 {
            notice::warn(
                "no key is in the file of --exact, whose lines have columns, but were taken for the keys: give --exact-key",
            );
        }
    }

    fn as_jobs(&self, shape: Shape) -> Result<(Summary, Value)> {
        let keep = if self.invert { Keep::Rejected } else { Keep::Admitted };
        let keep = self.output.as_deref().map(|folder| (keep, folder));
        let mut jobs = Jobs::new("screen", &self.engine, &self.files, shape, self.input.strict)?;
        let summary = jobs.screen(&self.filter, self.group.as_deref(), keep)?;
        Ok((summary, jobs.json()))
    }

    /// Refuses what the engine cannot do.
    fn check_engine(&self) -> Result<()> {
        let here_only = [
            ("--exact", self.exact.is_some()),
            ("--which", self.which),
            ("--admitted", self.admitted.is_some()),
            ("--rejected", self.rejected.is_some()),
        ];
        match (self.engine.runs_jobs()?, here_only.into_iter().find(|(_, given)| *given)) {
            (false, _) if self.output.is_some() => bail!(
                "-o goes with --on hadoop and --on spark: here lines go to stdout, or to the files of --admitted and --rejected"
            ),
            _ if self.json && !self.report && self.output.is_none() => {
                bail!("--json goes with --report, or with -o FOLDER on hadoop and spark")
            }
            (true, Some((option, _))) => {
                bail!("{option} is done here, not on {}", self.engine.name())
            }
            (true, None) if !self.report && !self.count && self.output.is_none() => {
                bail!("on {}, give --report, -c, or -o FOLDER for the lines", self.engine.name())
            }
            _ => Ok(()),
        }
    }

    /// Whether lines go to stdout because nothing else is said: neither of them nor of stdout.
    fn prints(&self) -> bool {
        let is_taken = self.rejected.as_deref().is_some_and(output::is_stdout);
        let is_said = self.admitted.is_some() || self.output.is_some();
        !(self.count || self.report || is_said || is_taken)
    }

    /// Refuses outputs that are inputs too, or each other.
    fn check_outputs(&self, flow: &[PathBuf]) -> Result<()> {
        let stdout = self.prints().then(|| PathBuf::from("-"));
        for output in [&self.admitted, &self.rejected, &stdout].into_iter().flatten() {
            overlap::check(output, flow.iter().chain(&self.exact).chain([&self.filter]))?;
        }
        if self.count || self.report {
            let printed = if self.count { "what -c prints" } else { "what --report prints" };
            overlap::check_alone("--admitted", self.admitted.as_ref(), printed)?;
            overlap::check_alone("--rejected", self.rejected.as_ref(), printed)?;
        }
        if let (Some(admitted), Some(rejected)) = (&self.admitted, &self.rejected) {
            overlap::check_outputs(admitted, rejected)?;
        }
        let is_stdout = |path: &Option<PathBuf>| path.as_deref().is_some_and(output::is_stdout);
        if self.prints() || is_stdout(&self.admitted) {
            overlap::check_alone("--rejected", self.rejected.as_ref(), "the admitted lines")?;
        }
        if is_stdout(&self.rejected) {
            overlap::check_alone("--admitted", self.admitted.as_ref(), "the rejected lines")?;
        }
        Ok(())
    }

    fn open(&self) -> Result<Filters> {
        let filters = opened::filters(&self.filter, &self.files, self.input.threads())?;
        let (path, which) = (self.filter.display(), self.which);
        Ok(match (filters, &self.group) {
            (Filters::One(_), Some(_)) => {
                bail!("{path}: it holds one filter, no groups: leave out --group")
            }
            (Filters::One(_), None) if which => {
                bail!("{path}: it holds one filter, no groups: leave out --which")
            }
            (Filters::Groups(groups), Some(name)) => {
                let mut filter = groups.get(name).cloned().map_err(|error| {
                    anyhow::anyhow!("{path}: {error}; {}", notice::it_has(groups.names()))
                })?;
                *filter.metadata_mut() = groups.metadata().clone();
                Filters::One(filter)
            }
            (filters, _) => filters,
        })
    }

    fn read_exact(&self, path: &PathBuf, shape: &Shape) -> Result<(ExactSet, Look)> {
        // The set's own file is a list of keys, or has a key column of its own, whatever the shape of the flow.
        let shape = Shape {
            key: self.exact_key.clone(),
            delimiter: shape.delimiter,
            header: shape.header && self.exact_key.is_some(),
            integers: shape.integers,
            ..Shape::default()
        };
        let driver = self.input.driver(std::slice::from_ref(path), shape);
        let progress = Progress::watch(&driver.meter);
        let memory = usize::try_from(self.memory).unwrap_or(usize::MAX);
        let (exact, tally) = ExactSet::read(&driver, memory)?;
        drop(progress);
        notice::malformed(&tally);
        Ok((exact, tally.look))
    }

    fn screen(&self, filters: &Filters, exact: Option<&ExactSet>, shape: Shape) -> Result<Summary> {
        let create = |path: &Option<PathBuf>| path.as_deref().map(Output::create).transpose();
        let (mut admitted, mut rejected) = (create(&self.admitted)?, create(&self.rejected)?);
        if self.prints() {
            let lines = if self.invert { &mut rejected } else { &mut admitted };
            *lines = Some(Output::stdout());
        }
        let printed = [&admitted, &rejected].into_iter().flatten().any(Output::is_stdout);
        let beside = admitted.is_some() && rejected.is_some();
        let wanted = Wanted { admitted: admitted.is_some(), rejected: rejected.is_some() };
        let driver = self.input.driver(&self.files, shape);
        let watch = if printed { Progress::beside_lines } else { Progress::watch };
        let progress = watch(&driver.meter);
        let live = driver.is_live();
        let summary = screen(&driver, filters, exact, wanted, |lines| {
            for (out, lines) in [(&mut admitted, &lines.admitted), (&mut rejected, &lines.rejected)]
            {
                Output::deliver_beside(out, beside, lines, live)?;
            }
            Ok(())
        })?;
        drop(progress);
        for out in [admitted, rejected].into_iter().flatten() {
            out.commit()?;
        }
        Ok(summary)
    }

    /// Hash functions, the size of the set, what was analysed, admitted and rejected, and the time of loading and analysis.
    fn report(
        &self,
        filters: &Filters,
        summary: &Summary,
        loading: Duration,
        jobs: Value,
    ) -> Result<String> {
        let ones: Vec<&Bloom> = match filters {
            Filters::One(filter) => vec![filter],
            Filters::Groups(groups) => groups.iter().map(|(_, filter)| filter).collect(),
        };
        let keys: u64 = ones.iter().filter_map(|filter| filter.inserted()).sum();
        let most = ones.iter().map(|filter| filter.sizing().probes()).max().unwrap_or(0);
        let hash = ones.first().map_or("", |filter| filter.params().strategy().name());
        if self.json {
            let mut report = json!({
                "hash": hash,
                "hash_functions": most,
                "set_size": keys,
                "analysed": summary.tally.rows,
                "malformed": summary.tally.malformed,
                "admitted": summary.admitted,
                "rejected": summary.rejected(),
                "loading_seconds": loading.as_secs_f64(),
                "analysis_seconds": summary.time.as_secs_f64(),
            });
            if !jobs.is_null() {
                report["jobs"] = jobs;
            }
            return json::text(&report);
        }
        let lines = [
            ("hash functions", format!("{most} ({hash})")),
            ("keys in the set", grouped(keys)),
            ("analysed", grouped(summary.tally.rows)),
            ("malformed", grouped(summary.tally.malformed)),
            ("admitted", grouped(summary.admitted)),
            ("rejected", grouped(summary.rejected())),
            ("loading", format!("{:.3} s", loading.as_secs_f64())),
            ("analysis", format!("{:.3} s", summary.time.as_secs_f64())),
        ];
        Ok(lines.map(|(name, value)| format!("{name:<16} {value}\n")).concat())
    }
}
