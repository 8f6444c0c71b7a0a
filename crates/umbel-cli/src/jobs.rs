//! Commands as jobs on an engine.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use serde_json::{Value, json};
use umbel::Counts;
use umbel_hadoop::cluster::STRETCH;
use umbel_hadoop::{Cluster, submit};
use umbel_io::audit::Audited;
use umbel_io::build::Census;
use umbel_io::screen::Summary;
use umbel_io::{Build, Filters, Shape, Tally};
use umbel_job::job::{How, Keep};
use umbel_job::jobs::{Event, Job, Report};
use umbel_job::plan::Cut;
use umbel_job::{HdfsPath, Location};

use crate::engine::Engine;
use crate::interrupt;
use crate::table::{grouped, size};

/// A command that runs jobs.
pub struct Jobs<'a>(umbel_job::Jobs<'a>);

impl Jobs<'_> {
    /// Jobs over these files.
    pub fn new(
        command: &str,
        engine: &Engine,
        files: &[PathBuf],
        shape: Shape,
        strict: bool,
    ) -> Result<Self> {
        let inputs: Vec<HdfsPath> =
            files.iter().map(|file| on_hdfs(file)).collect::<Result<_>>()?;
        let Some(first) = inputs.first() else {
            bail!("--on hadoop reads files on HDFS: name them (hdfs://…)");
        };
        let name = format!("umbel {command} {}", first.file_name());
        let Engine { lines_per_split, reducers, .. } = *engine;
        let cluster = Cluster::find(first, lines_per_split, reducers)?;
        interrupt::instead(|| {
            eprintln!("umbel: the job is being ended");
            submit::end_job();
        });
        let job = Job {
            name,
            inputs: inputs.into_iter().map(Location::Hdfs).collect(),
            members: Vec::new(),
            shape,
            strict,
            cut: if lines_per_split.is_some() { Cut::Elsewhere } else { Cut::Bytes(STRETCH) },
            watch: &watch,
        };
        Ok(Jobs(umbel_job::Jobs::new(Box::new(cluster), job)))
    }

    /// Rows and distinct keys.
    pub fn census(&mut self) -> Result<(Census, Tally)> {
        done(self.0.census())
    }

    /// Filters, sized as they would be here.
    pub fn build(&mut self, build: &Build, how: How) -> Result<(Filters, Tally)> {
        done(self.0.build(build, how))
    }

    /// Counts like `empty`, by group or under the empty name.
    pub fn count(&mut self, empty: &Counts) -> Result<(BTreeMap<String, Counts>, Tally)> {
        done(self.0.count(empty))
    }

    /// Rows admitted by the filters of a file; lines are kept in a new folder, where one is named.
    pub fn screen(
        &mut self,
        filter: &Path,
        group: Option<&str>,
        keep: Option<(Keep, &Path)>,
    ) -> Result<Summary> {
        let folder = |(keep, folder)| anyhow::Ok((keep, Location::Hdfs(on_hdfs(folder)?)));
        let folder = keep.map(folder).transpose()?;
        done(self.0.screen(filter, group, folder.as_ref().map(|(keep, folder)| (*keep, folder))))
    }

    /// Exact counts of the filters of a file, which are so many; `members` has the keys of a single one.
    pub fn audit(
        &mut self,
        filter: &Path,
        filters: usize,
        members: Option<&Path>,
    ) -> Result<Audited> {
        let members = members.map(on_hdfs).transpose()?.map(Location::Hdfs);
        done(self.0.audit(filter, filters, members))
    }

    /// What the jobs have told, for programs.
    pub fn json(&self) -> Value {
        let object = |(what, report): &(&str, Report)| {
            json!({
                "job": report.id,
                "does": what,
                "seconds": report.time.as_secs_f64(),
                "mappers": report.maps,
                "map_output_bytes": report.map_output_bytes,
                "counters": report.counters,
            })
        };
        self.0.reports().iter().map(object).collect()
    }
}

/// A message begins on a line of its own.
fn done<T>(done: umbel_job::Result<T>) -> Result<T> {
    if done.is_err() {
        clear_line();
    }
    Ok(done?)
}

fn on_hdfs(file: &Path) -> Result<HdfsPath> {
    HdfsPath::parse(file).ok_or_else(|| {
        anyhow!(
            "{}: --on hadoop reads files on HDFS (hdfs://…): put it there first",
            file.display()
        )
    })
}

/// Says which job runs, on a terminal how far it has come, and what it came to.
fn watch(event: Event) {
    match event {
        Event::Started(id) => eprintln!("umbel: {id} is running"),
        Event::Progress(text) if std::io::stderr().is_terminal() => {
            eprint!("\r\x1b[K{text}");
            let _ = std::io::stderr().flush();
        }
        Event::Progress(_) => {}
        Event::Ended(what, rows, report) => {
            clear_line();
            let (seconds, maps) = (report.time.as_secs_f64(), report.maps);
            let mappers = if maps == 1 { "mapper" } else { "mappers" };
            eprintln!(
                "umbel: {}: {what}, {} rows, {maps} {mappers}, {} between mappers and reducers, {seconds:.1} s",
                report.id,
                grouped(rows),
                size(report.map_output_bytes),
            );
        }
    }
}

fn clear_line() {
    if std::io::stderr().is_terminal() {
        eprint!("\r\x1b[K");
    }
}
