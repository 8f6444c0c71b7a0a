//! Commands as jobs on Hadoop.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use serde_json::{Value, json};
use umbel::{Counts, Groups, Params};
use umbel_hadoop::cluster::Done;
use umbel_hadoop::job::{How, Keep};
use umbel_hadoop::submit::{self, Event, Report};
use umbel_hadoop::{Cluster, HdfsPath, Job};
use umbel_io::audit::Audited;
use umbel_io::build::Census;
use umbel_io::screen::Summary;
use umbel_io::{Build, Filters, Shape, Tally};

use crate::engine::Engine;
use crate::interrupt;
use crate::table::{grouped, size};

/// A command that runs jobs.
pub struct Jobs<'a> {
    cluster: Cluster,
    job: Job<'a>,
    /// The jobs that have ended.
    reports: Vec<(&'static str, Report)>,
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
        let inputs: Vec<HdfsPath> =
            files.iter().map(|file| on_hdfs(file)).collect::<Result<_>>()?;
        let Some(first) = inputs.first() else {
            bail!("--on hadoop reads files on HDFS: name them (hdfs://…)");
        };
        let name = format!("umbel {command} {}", first.file_name());
        let cluster = Cluster::find(first)?;
        interrupt::instead(|| {
            eprintln!("umbel: the job is being ended");
            submit::end_job();
        });
        let Engine { lines_per_split, reducers, .. } = *engine;
        let members = Vec::new();
        let job =
            Job { name, inputs, members, shape, strict, lines_per_split, reducers, watch: &watch };
        Ok(Jobs { cluster, job, reports: Vec::new() })
    }

    /// Rows and distinct keys.
    pub fn census(&mut self) -> Result<(Census, Tally)> {
        let done = self.cluster.census(&self.job);
        self.ended("count", done)
    }

    /// Filters, sized as they would be here.
    pub fn build(&mut self, build: &Build, how: How) -> Result<(Filters, Tally)> {
        if self.job.shape.by.is_none() {
            let params = match build.known()? {
                Some(params) => params,
                None => build.plan.params(self.census()?.0.all.n())?,
            };
            let (filters, tally) = self.fill(how, &BTreeMap::from([(String::new(), params)]))?;
            let filter = filters.into_values().next();
            return Ok((
                Filters::One(filter.ok_or_else(|| anyhow!("the job has made no filter"))?),
                tally,
            ));
        }
        let (census, counted) = self.census()?;
        let params = build.params_of(&census.groups)?;
        if params.is_empty() {
            return Ok((Filters::Groups(Groups::default()), counted));
        }
        let (filters, tally) = self.fill(how, &params)?;
        let mut groups = Groups::default();
        for (name, filter) in filters {
            groups.set(&name, filter)?;
        }
        Ok((Filters::Groups(groups), tally))
    }

    /// Counts like `empty`, by group or under the empty name.
    pub fn count(&mut self, empty: &Counts) -> Result<(BTreeMap<String, Counts>, Tally)> {
        let done = self.cluster.count(&self.job, empty);
        self.ended("count", done)
    }

    /// Rows admitted by the filters of a file; lines are kept in a new folder, where one is named.
    pub fn screen(
        &mut self,
        filter: &Path,
        group: Option<&str>,
        keep: Option<(Keep, &Path)>,
    ) -> Result<Summary> {
        let folder = keep.map(|(keep, folder)| anyhow::Ok((keep, on_hdfs(folder)?))).transpose()?;
        let keep = folder.as_ref().map(|(keep, folder)| (*keep, folder));
        let done = self.cluster.screen(&self.job, filter, group, keep);
        let (admitted, tally) = self.ended("screen", done)?;
        let time = self.reports.last().map(|(_, report)| report.time).unwrap_or_default();
        Ok(Summary { tally, admitted, time })
    }

    /// Exact counts of the filters of a file, which are so many; `members` has the keys of a single one.
    pub fn audit(
        &mut self,
        filter: &Path,
        filters: usize,
        members: Option<&Path>,
    ) -> Result<Audited> {
        self.job.members = members.map(on_hdfs).transpose()?.into_iter().collect();
        let done = self.cluster.audit(&self.job, filter, filters);
        Ok(self.ended("audit", done)?.0)
    }

    fn fill(
        &mut self,
        how: How,
        params: &BTreeMap<String, Params>,
    ) -> Result<(BTreeMap<String, umbel::Bloom>, Tally)> {
        let done = self.cluster.build(&self.job, how, params);
        self.ended("build", done)
    }

    fn ended<T>(
        &mut self,
        what: &'static str,
        done: umbel_hadoop::Result<Done<T>>,
    ) -> Result<(T, Tally)> {
        clear_line();
        let Done { result, tally, report } = done?;
        let (seconds, maps) = (report.time.as_secs_f64(), report.maps());
        let mappers = if maps == 1 { "mapper" } else { "mappers" };
        eprintln!(
            "umbel: {}: {what}, {} rows, {maps} {mappers}, {} between mappers and reducers, {seconds:.1} s",
            report.id,
            grouped(tally.rows),
            size(report.map_output_bytes()),
        );
        self.reports.push((what, report));
        Ok((result, tally))
    }

    /// What the jobs have told, for programs.
    pub fn json(&self) -> Value {
        let object = |(what, report): &(&str, Report)| {
            json!({
                "job": report.id,
                "does": what,
                "seconds": report.time.as_secs_f64(),
                "mappers": report.maps(),
                "map_output_bytes": report.map_output_bytes(),
                "counters": report.counters,
            })
        };
        self.reports.iter().map(object).collect()
    }
}

/// Refuses an output that is an input too.
pub fn check_overlap(output: &Path, files: &[PathBuf]) -> Result<()> {
    match HdfsPath::parse(output).is_some() && files.iter().any(|file| file == output) {
        true => bail!(
            "{}: this file is an input too, and would be replaced: choose another",
            output.display()
        ),
        false => Ok(()),
    }
}

fn on_hdfs(file: &Path) -> Result<HdfsPath> {
    HdfsPath::parse(file).ok_or_else(|| {
        anyhow!(
            "{}: --on hadoop reads files on HDFS (hdfs://…): put it there first",
            file.display()
        )
    })
}

/// Says which job runs, and on a terminal how far it has come.
fn watch(event: Event) {
    match event {
        Event::Started(id) => eprintln!("umbel: {id} is running"),
        Event::Progress(map, reduce) if std::io::stderr().is_terminal() => {
            eprint!("\r\x1b[Kmap {map} %, reduce {reduce} %");
            let _ = std::io::stderr().flush();
        }
        Event::Progress(..) => {}
    }
}

fn clear_line() {
    if std::io::stderr().is_terminal() {
        eprint!("\r\x1b[K");
    }
}
