//! `umbel audit`: does the filter keep its promise?

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use serde_json::{Value, json};
use umbel::audit::{Counts, Verdict};
use umbel::{Bloom, Groups};
use umbel_io::audit::{Audited, Judged, audit_groups, audit_one, judge_all};
use umbel_io::{Filters, Shape};

use crate::engine::Engine;
use crate::input::{self, Grouping, Input};
use crate::jobs::Jobs;
use crate::progress::Progress;
use crate::table::{Table, grouped, percent};
use crate::{json, notice, opened, output, remembered, spark};

const EXAMPLES: &str = "\
Examples:
  umbel audit ratings.umbel ratings.tsv               each group, all keys
  umbel audit ids.umbel flow.txt --members ids.txt    one filter and a flow
Exit code: 0 = the promise holds, 1 = it does not, 2 = an error.";

/// Said where it could puzzle.
const WORD: &str = "\
An interval may lie above the promise and the verdict be \"holds\": which bits are set is chance too, and counted in.\n";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The filter, or filters by group; - is stdin
    filter: PathBuf,

    /// The table the groups were built from; or a flow of keys to ask; - or none is stdin
    files: Vec<PathBuf>,

    /// For one filter: the keys that were inserted
    #[arg(long, value_name = "FILE")]
    members: Option<PathBuf>,

    /// The confidence of interval and verdict: a correct filter fails once in 1/(1 - C) audits
    #[arg(long, value_name = "C", default_value_t = umbel::audit::CONFIDENCE)]
    #[arg(hide_short_help = true)]
    confidence: f64,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Memory for fingerprints; beyond it a temporary file is used
    #[arg(long, value_name = "SIZE", default_value = "2G", value_parser = input::bytes)]
    #[arg(hide_short_help = true)]
    memory: u64,

    #[command(flatten)]
    input: Input,

    #[command(flatten)]
    grouping: Grouping,

    #[command(flatten)]
    engine: Engine,
}

/// One filter's result.
struct Line {
    group: Option<String>,
    counts: Counts,
    verdict: Verdict,
    interval: (f64, f64),
}

/// What the audit found.
struct Report {
    lines: Vec<Line>,
    /// The groups of the table that have no filter, with their distinct keys: false negatives all of them.
    missing: Vec<(String, u64)>,
    /// The jobs that counted, where there were some.
    jobs: Value,
}

impl Report {
    /// Whether there was a key to ask for.
    fn asked(&self) -> bool {
        let members = |counts: &Counts| counts.true_positives + counts.false_negatives;
        let asked = |line: &Line| members(&line.counts) + line.counts.strangers() > 0;
        !self.missing.is_empty() || self.lines.iter().any(asked)
    }

    /// Whether a filter was asked for a key that is not its own: without one there is no rate.
    fn has_rate(&self) -> bool {
        self.lines.iter().any(|line| line.counts.rate().is_some())
    }

    /// Whether the hash promises a rate: without one only the members are judged.
    fn promises(&self) -> bool {
        self.lines.iter().any(|line| line.verdict.promised.is_some())
    }

    /// Whether a rate is held to be chance although its interval lies above the promise.
    fn needs_a_word(&self) -> bool {
        let above = |line: &Line| line.verdict.promised.is_some_and(|rate| line.interval.0 > rate);
        self.lines.iter().any(|line| line.verdict.holds && above(line))
    }

    fn holds(&self) -> bool {
        self.missing.is_empty() && self.lines.iter().all(|line| line.verdict.holds)
    }
}

impl Args {
    pub fn run(mut self) -> Result<ExitCode> {
        if let Some(code) = spark::hand_over(&self.engine)? {
            return Ok(code);
        }
        if !(self.confidence > 0.0 && self.confidence < 1.0) {
            bail!("--confidence lies between 0 and 1, for example 0.999; not {}", self.confidence);
        }
        let flow = input::or_stdin(&self.files);
        input::check_stdin(flow.iter().chain(&self.members).chain([&self.filter]))?;
        let filters = opened::filters(&self.filter, &self.files, self.input.threads())?;
        let by = self.grouping.by.as_ref().map(|_| "--by");
        let given = by.or(self.grouping.round.then_some("--round"));
        if let (Filters::One(_), Some(option)) = (&filters, given) {
            bail!("{}: it holds one filter, no groups: leave out {option}", self.filter.display());
        }
        remembered::read(filters.metadata(), &mut self.input, &mut self.grouping);
        self.input.check_delimiter(self.input.key.is_some() || self.grouping.by.is_some())?;
        let report = match &filters {
            Filters::One(filter) => self.one(filter)?,
            Filters::Groups(groups) => self.groups(groups)?,
        };
        if !report.asked() {
            bail!(
                "nothing was asked: there are no keys in the input, so the promise is neither kept nor broken"
            );
        }
        let text = if self.json { self.json_text(&report)? } else { self.table(&report) };
        output::print(text)?;
        Ok(ExitCode::from(u8::from(!report.holds())))
    }

    fn memory(&self) -> usize {
        usize::try_from(self.memory).unwrap_or(usize::MAX)
    }

    fn one(&self, filter: &Bloom) -> Result<Report> {
        let Some(members) = &self.members else {
            bail!(
                "{}: to audit one filter, name the file with the keys that were inserted: --members FILE",
                self.filter.display()
            );
        };
        let integers = filter.params().key_type() == umbel::KeyType::U64;
        let shape = self.input.shape(&Grouping::default(), integers);
        if self.engine.runs_jobs()? {
            let (audited, jobs) = self.as_jobs(shape, 1, Some(members))?;
            notice::malformed(&audited.tally);
            let lines = self.lines(&[(None, filter)], audited.counts)?;
            return Ok(Report { lines, missing: Vec::new(), jobs });
        }
        let members = self.input.driver(std::slice::from_ref(members), shape.clone());
        let mut flow = self.input.driver(&self.files, shape);
        flow.meter = members.meter.clone();
        let progress = Progress::watch(&flow.meter);
        let (counts, of_members, of_flow) = audit_one(filter, &members, &flow, self.memory())?;
        drop(progress);
        notice::malformed(&of_members);
        notice::malformed(&of_flow);
        let lines = self.lines(&[(None, filter)], vec![counts])?;
        Ok(Report { lines, missing: Vec::new(), jobs: Value::Null })
    }

    fn groups(&self, groups: &Groups) -> Result<Report> {
        let path = self.filter.display();
        if self.members.is_some() {
            bail!(
                "{path}: it holds filters by group, whose members stand in the table: leave out --members"
            );
        }
        if self.grouping.by.is_none() {
            bail!("{path}: it does not remember the group's column: give --by");
        }
        let integers = groups.key_type() == Some(umbel::KeyType::U64);
        let driver = self.input.driver(&self.files, self.input.shape(&self.grouping, integers));
        let (audited, jobs) = match self.engine.runs_jobs()? {
            true => self.as_jobs(driver.shape, groups.len(), None)?,
            false => {
                let _progress = Progress::watch(&driver.meter);
                (audit_groups(groups, &driver, self.memory())?, Value::Null)
            }
        };
        let Audited { counts, missing, tally } = audited;
        notice::malformed(&tally);
        if !missing.is_empty()
            && counts.iter().all(|counts| counts.true_positives + counts.false_negatives == 0)
        {
            bail!("{path}: none of its groups is in the table: check --by and --round");
        }
        let filters: Vec<_> = groups.iter().map(|(name, filter)| (Some(name), filter)).collect();
        Ok(Report { lines: self.lines(&filters, counts)?, missing, jobs })
    }

    fn as_jobs(
        &self,
        shape: Shape,
        filters: usize,
        members: Option<&PathBuf>,
    ) -> Result<(Audited, Value)> {
        let mut jobs = Jobs::new("audit", &self.engine, &self.files, shape, self.input.strict)?;
        let audited = jobs.audit(&self.filter, filters, members.map(PathBuf::as_path))?;
        Ok((audited, jobs.json()))
    }

    /// The results of filters, by the names of their groups.
    fn lines(&self, filters: &[(Option<&str>, &Bloom)], counts: Vec<Counts>) -> Result<Vec<Line>> {
        let (names, filters): (Vec<_>, Vec<_>) = filters.iter().copied().unzip();
        let judged = judge_all(&filters, &counts, self.confidence, self.input.threads())?;
        let line = |((name, counts), judged): ((Option<&str>, Counts), Judged)| Line {
            group: name.map(String::from),
            counts,
            verdict: judged.verdict,
            interval: judged.interval,
        };
        Ok(names.into_iter().zip(counts).zip(judged).map(line).collect())
    }

    fn table(&self, report: &Report) -> String {
        let mut table = Table::new([
            "group",
            "members",
            "FN",
            "FP",
            "TN",
            "rate",
            "interval",
            "from bits",
            "promised",
            "verdict",
        ]);
        for Line { group, counts, verdict, interval: (low, high) } in &report.lines {
            table.row([
                group.clone().unwrap_or_else(|| "all".into()),
                grouped(counts.true_positives + counts.false_negatives),
                grouped(counts.false_negatives),
                grouped(counts.false_positives),
                grouped(counts.true_negatives),
                counts.rate().map_or("-".into(), percent),
                format!("{:.3}–{:.3} %", 100.0 * low, 100.0 * high),
                percent(verdict.from_bits),
                verdict.promised.map_or("nothing".into(), percent),
                if verdict.holds { "holds" } else { "BROKEN" }.into(),
            ]);
        }
        for (name, keys) in &report.missing {
            let keys = grouped(*keys);
            let known = [name, &keys, &keys, "-", "-", "-", "-", "-", "-", "MISSING"];
            table.row(known.map(String::from));
        }
        table.render() + &self.sum(report)
    }

    fn sum(&self, report: &Report) -> String {
        let confidence = self.confidence;
        let without = match report.missing.len() {
            0 => String::new(),
            1 => "1 group of the table has no filter: its keys are false negatives.\n".into(),
            many => {
                format!(
                    "{many} groups of the table have no filter: their keys are false negatives.\n"
                )
            }
        };
        let word = if report.needs_a_word() { WORD } else { "" };
        let sum = match (report.holds(), report.has_rate()) {
            (true, false) => {
                return "No false negative. No key was a stranger, so that there is no rate.\n"
                    .into();
            }
            (true, true) if !report.promises() => {
                return "No false negative. Only the members were judged: this hash promises no rate.\n"
                    .into();
            }
            (true, true) => "The promise holds: no false negative, no rate beyond chance",
            (false, _) => "The promise is BROKEN",
        };
        format!("{without}{word}{sum} (confidence {confidence}).\n")
    }

    fn json_text(&self, report: &Report) -> Result<String> {
        let object = |line: &Line| -> Value {
            let (low, high) = line.interval;
            json!({
                "group": line.group,
                "true_positives": line.counts.true_positives,
                "false_positives": line.counts.false_positives,
                "true_negatives": line.counts.true_negatives,
                "false_negatives": line.counts.false_negatives,
                "rate": line.counts.rate(),
                "interval": [low, high],
                "rate_from_bits": line.verdict.from_bits,
                "promised_rate": line.verdict.promised,
                "chance": line.verdict.chance,
                "holds": line.verdict.holds,
            })
        };
        let filters: Vec<Value> = report.lines.iter().map(object).collect();
        let missing =
            |(name, keys): &(String, u64)| json!({ "group": name, "false_negatives": keys });
        let missing: Vec<Value> = report.missing.iter().map(missing).collect();
        let mut all = json!({
            "holds": report.holds(),
            "confidence": self.confidence,
            "filters": filters,
            "missing": missing,
        });
        if !report.jobs.is_null() {
            all["jobs"] = report.jobs.clone();
        }
        json::text(&all)
    }
}
