//! Commands as jobs on an engine.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use serde_json::{Value, json};
use umbel::Counts;
use umbel_hadoop::cluster::STRETCH;
use umbel_hadoop::{Cluster, running};
use umbel_io::audit::Audited;
use umbel_io::build::Census;
use umbel_io::screen::Summary;
use umbel_io::{Build, Filters, Shape, Tally};
use umbel_job::job::{How, Keep};
use umbel_job::jobs::{Event, Job, Report};
use umbel_job::plan::Cut;
use umbel_job::{Carrier, Location};

use crate::engine::{Engine, On};
use crate::table::{grouped, size};
use crate::{interrupt, notice, spark};

/// On Spark, stretches of a text of middle size, and the least bytes of one: several for each core, so that none waits long for another.
const SPARK_PARTS: u64 = 32;
const SPARK_LEAST: u64 = 4 << 20;

/// Clears the line of a terminal.
const CLEAR: &str = "\r\x1b[K";

/// A command that runs jobs.
pub struct Jobs<'a> {
    jobs: umbel_job::Jobs<'a>,
    engine: Engine,
}

impl Jobs<'_> {
    /// Jobs over these files.
    pub fn new(
        command: &str,
        engine: &Engine,
        files: &[PathBuf],
        shape: Shape,
        strict: bool,
    ) -> Result<Self> {
        let inputs: Vec<Location> =
            files.iter().map(|file| located(engine, file)).collect::<Result<_>>()?;
        let Some(first) = inputs.first() else {
            bail!("--on {} reads files: name them", engine.name());
        };
        let name = format!("umbel {command} {}", first.file_name());
        let (carrier, cut) = match engine.on {
            On::Spark => (spark::carrier(engine, name.clone())?, stretches(engine.partitions)),
            _ => on_hadoop(engine, first)?,
        };
        let job = Job { name, inputs, members: Vec::new(), shape, strict, cut, watch: &watch };
        Ok(Jobs { jobs: umbel_job::Jobs::new(carrier, job), engine: engine.clone() })
    }

    /// Rows and distinct keys.
    pub fn census(&mut self) -> Result<(Census, Tally)> {
        done(self.jobs.census())
    }

    /// Filters, sized as they would be here.
    pub fn build(&mut self, build: &Build, how: How) -> Result<(Filters, Tally)> {
        done(self.jobs.build(build, how))
    }

    /// Counts like `empty`, by group or under the empty name.
    pub fn count(&mut self, empty: &Counts) -> Result<(BTreeMap<String, Counts>, Tally)> {
        done(self.jobs.count(empty))
    }

    /// Rows admitted by the filters of a file; lines are kept in a new folder, where one is named.
    pub fn screen(
        &mut self,
        filter: &Path,
        group: Option<&str>,
        keep: Option<(Keep, &Path)>,
    ) -> Result<Summary> {
        let folder = |(keep, folder)| anyhow::Ok((keep, output_folder(&self.engine, folder)?));
        let folder = keep.map(folder).transpose()?;
        done(self.jobs.screen(filter, group, folder.as_ref().map(|(keep, folder)| (*keep, folder))))
    }

    /// Exact counts of the filters of a file, which are so many; `members` has the keys of a single one.
    pub fn audit(
        &mut self,
        filter: &Path,
        filters: usize,
        members: Option<&Path>,
    ) -> Result<Audited> {
        let members = members.map(|file| located(&self.engine, file)).transpose()?;
        done(self.jobs.audit(filter, filters, members))
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
        self.jobs.reports().iter().map(object).collect()
    }
}

/// A message begins on a line of its own. That a job was interrupted has been said.
fn done<T>(done: umbel_job::Result<T>) -> Result<T> {
    if done.is_err() {
        clear_line();
        if let Some((signal, left)) = running::interrupted() {
            left.into_iter().for_each(notice::say);
            interrupt::end(signal);
        }
    }
    Ok(done?)
}

/// Hadoop as a carrier, and how it is to share out texts.
fn on_hadoop(engine: &Engine, first: &Location) -> Result<(Box<dyn Carrier>, Cut)> {
    let Location::Hdfs(first) = first else { bail!("{first}: not on HDFS") };
    let Engine { lines_per_split, reducers, .. } = *engine;
    let cluster = Cluster::find(first, lines_per_split, reducers)?;
    interrupt::instead(|signal| {
        if running::interrupt(signal) {
            clear_line();
            notice::say("the job is being ended");
        } else {
            interrupt::end(signal);
        }
    });
    let cut = if lines_per_split.is_some() { Cut::Elsewhere } else { Cut::Bytes(STRETCH) };
    Ok((Box::new(cluster), cut))
}

/// How Spark is to share out texts: into so many stretches, or as a core may read them.
fn stretches(partitions: Option<u32>) -> Cut {
    match partitions {
        Some(parts) => Cut::Parts { parts: parts.into(), least: 1, most: u64::MAX },
        None => Cut::Parts { parts: SPARK_PARTS, least: SPARK_LEAST, most: STRETCH },
    }
}

/// A folder that the engine is to write.
fn output_folder(engine: &Engine, folder: &Path) -> Result<Location> {
    match (engine.on, Location::parse(folder)) {
        (On::Hadoop, Location::Local(_) | Location::Elsewhere(_)) => bail!(
            "{}: --on hadoop writes lines to HDFS (hdfs://…): name a folder there",
            folder.display()
        ),
        _ => located(engine, folder),
    }
}

/// A file that the engine is to read.
fn located(engine: &Engine, file: &Path) -> Result<Location> {
    match (engine.on, Location::parse(file)) {
        (On::Hadoop, location @ Location::Hdfs(_)) => Ok(location),
        (On::Hadoop, _) => bail!(
            "{}: --on hadoop reads files on HDFS (hdfs://…): put it there first",
            file.display()
        ),
        _ if file.as_os_str() == "-" => bail!("--on {} reads files, not stdin", engine.name()),
        // Executors work in folders of their own.
        (_, Location::Local(path)) => Ok(Location::Local(std::path::absolute(path)?)),
        (_, location) => Ok(location),
    }
}

/// Says which job runs, on a terminal how far it has come, and what it came to.
fn watch(event: Event) {
    match event {
        Event::Started(id) => notice::say(format!("{id} is running")),
        Event::Progress(text) if std::io::stderr().is_terminal() => {
            notice::raw(&format!("{CLEAR}{text}"));
        }
        Event::Progress(_) => {}
        Event::Ended(what, rows, report) => {
            clear_line();
            let (seconds, maps) = (report.time.as_secs_f64(), report.maps);
            let mappers = if maps == 1 { "mapper" } else { "mappers" };
            notice::say(format!(
                "{}: {what}, {} rows, {maps} {mappers}, {} between mappers and reducers, {seconds:.1} s",
                report.id,
                grouped(rows),
                size(report.map_output_bytes),
            ));
        }
    }
}

fn clear_line() {
    if std::io::stderr().is_terminal() {
        notice::raw(CLEAR);
    }
}
