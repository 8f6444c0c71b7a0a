//! Hadoop's own command, followed line by line: it submits the job, and tells how far it has come and what it has counted.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use umbel_job::jobs::{Event, Report};

use crate::{Error, Result};

/// The Hadoop of this machine.
#[derive(Debug, Clone)]
pub struct Hadoop {
    command: PathBuf,
    streaming: PathBuf,
    /// The files of its configuration that a task needs to find HDFS.
    conf: Vec<PathBuf>,
}

impl Hadoop {
    /// The `hadoop` of the PATH or of HADOOP_HOME.
    pub fn find() -> Result<Hadoop> {
        let home = std::env::var_os("HADOOP_HOME").map(PathBuf::from);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let places = std::env::split_paths(&path).chain(home.iter().map(|home| home.join("bin")));
        let command = places.map(|place| place.join("hadoop")).find(|command| command.is_file());
        let command = command.ok_or_else(|| {
            Error::other("there is no hadoop command: put it on the PATH, or set HADOOP_HOME")
        })?;
        let streaming = streaming(&command, home.as_deref())?;
        let conf = std::env::var_os("HADOOP_CONF_DIR").map(PathBuf::from);
        let conf = conf.or_else(|| home.map(|home| home.join("etc/hadoop")));
        let conf = conf.ok_or_else(|| Error::other("HADOOP_CONF_DIR is not set"))?;
        let files = ["core-site.xml", "hdfs-site.xml"].map(|name| conf.join(name));
        let conf = files.into_iter().filter(|file| file.is_file()).collect();
        Ok(Hadoop { command, streaming, conf })
    }

    /// The files that a task needs to find HDFS.
    pub fn conf(&self) -> &[PathBuf] {
        &self.conf
    }

    /// Runs a Streaming job with these arguments. The error of a job that fails has what Hadoop says of it.
    pub fn run(&self, arguments: &[OsString], mut watch: impl FnMut(Event)) -> Result<Report> {
        let started = Instant::now();
        let mut command = Command::new(&self.command);
        command.arg("jar").arg(&self.streaming).args(arguments);
        command.env("HADOOP_ROOT_LOGGER", "INFO,console");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        // A key that interrupts us is not for Hadoop's command: it is needed to the end.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(Error::io(self.command.display()))?;
        let stderr = child.stderr.take();
        *current() = Some(Current { command: self.command.clone(), child, id: None });
        let mut log = Log::default();
        for line in stderr.into_iter().flat_map(|stderr| BufReader::new(stderr).split(b'\n')) {
            let line = line.map_err(Error::io(self.command.display()))?;
            log.take(&String::from_utf8_lossy(&line), &mut |event| {
                if let (Event::Started(id), Some(current)) = (&event, &mut *current()) {
                    current.id = Some(id.clone());
                }
                watch(event);
            });
        }
        let ended = current().take().map(|mut current| current.child.wait());
        match ended.transpose().map_err(Error::io(self.command.display()))? {
            Some(ended) if ended.success() => {
                Ok(Report { time: started.elapsed(), ..log.report() })
            }
            _ => Err(Error::Other(log.failure())),
        }
    }
}

/// The job that runs, for whoever has to end it.
struct Current {
    command: PathBuf,
    child: Child,
    id: Option<String>,
}

static CURRENT: Mutex<Option<Current>> = Mutex::new(None);

fn current() -> MutexGuard<'static, Option<Current>> {
    CURRENT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the job that runs, if one does: the call that runs it returns with an error then.
pub fn end_job() {
    match &mut *current() {
        Some(Current { command, id: Some(id), .. }) => {
            let mut kill = Command::new(command);
            kill.args(["job", "-kill", id]).stdin(Stdio::null());
            _ = kill.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        }
        // Nothing is on the cluster yet.
        Some(Current { child, id: None, .. }) => _ = child.kill(),
        None => {}
    }
}

/// Where the jar of Streaming is: in the distribution's place, or anywhere on Hadoop's class path.
fn streaming(command: &Path, home: Option<&Path>) -> Result<PathBuf> {
    const TOOLS: &str = "share/hadoop/tools/lib";
    let own = command.canonicalize().ok();
    let own = own.iter().filter_map(|command| command.parent()?.parent());
    let mut folders: Vec<PathBuf> =
        home.into_iter().chain(own).map(|home| home.join(TOOLS)).collect();
    if let Some(found) = folders.iter().find_map(|folder| streaming_in(folder)) {
        return Ok(found);
    }
    let said = Command::new(command).arg("classpath").output();
    let said = said.map_err(Error::io(command.display()))?.stdout;
    let said = String::from_utf8_lossy(&said);
    folders.clear();
    folders.extend(said.trim().split(':').map(|place| PathBuf::from(place.trim_end_matches('*'))));
    folders.iter().find_map(|folder| streaming_in(folder)).ok_or_else(|| {
        Error::other(format!("{}: it has no hadoop-streaming jar", command.display()))
    })
}

fn streaming_in(folder: &Path) -> Option<PathBuf> {
    let is_it = |name: &str| {
        name.starts_with("hadoop-streaming-") && name.ends_with(".jar") && !name.contains("sources")
    };
    let files = std::fs::read_dir(folder).ok()?.flatten();
    let mut found: Vec<_> = files
        .map(|file| file.path())
        .filter(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(is_it))
        .collect();
    found.sort();
    found.pop()
}

/// What Hadoop says while a job runs.
#[derive(Debug, Default)]
struct Log {
    report: Report,
    /// Lines that tell of failures.
    failures: Vec<String>,
    last: String,
}

impl Log {
    fn take(&mut self, line: &str, watch: &mut impl FnMut(Event)) {
        if let Some((_, id)) = line.split_once("Running job: ") {
            self.report.id = id.trim().into();
            watch(Event::Started(self.report.id.clone()));
        } else if let Some(percent) = progress(line) {
            watch(percent);
        } else if let Some((name, count)) = counter(line) {
            self.report.counters.insert(name.into(), count);
        } else if line.contains("Exception")
            || line.contains(" ERROR ")
            || line.starts_with("Error: ")
        {
            self.failures.push(line.trim().into());
        }
        if !line.trim().is_empty() {
            self.last = line.trim().into();
        }
    }

    /// What is known of the job.
    fn report(self) -> Report {
        let counter = |name: &str| self.report.counters.get(name).copied().unwrap_or(0);
        let (maps, bytes) = (counter("Launched map tasks"), counter("Map output bytes"));
        Report { maps, map_output_bytes: bytes, ..self.report }
    }

    /// One line that says why.
    fn failure(self) -> String {
        // The cause stands behind the last colon but one in a row of Java's exceptions: the first of them tells most.
        let why = self.failures.first().unwrap_or(&self.last);
        match self.report.id.as_str() {
            "" => format!("Hadoop has not taken the job: {why}"),
            id => format!("{id} has failed: {why}"),
        }
    }
}

/// ` map 50% reduce 0%`
fn progress(line: &str) -> Option<Event> {
    let (_, map) = line.split_once(" map ")?;
    let (map, reduce) = map.split_once("% reduce ")?;
    let reduce = reduce.trim().strip_suffix('%')?;
    Some(Event::Progress(format!("map {map} %, reduce {reduce} %")))
}

/// A counter: tabs, its name, an equals sign and a number.
fn counter(line: &str) -> Option<(&str, u64)> {
    let (name, count) = line.strip_prefix("\t\t")?.rsplit_once('=')?;
    Some((name.trim(), count.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hadoop_says_is_understood() {
        let said = "03:05:20 INFO Job: Running job: job_1_0001\n03:05:25 INFO Job:  map 0% reduce 0%\n\
                    03:05:29 INFO Job:  map 50% reduce 7%\n\tMap-Reduce Framework\n\t\tMap output bytes=688895\n\
                    \t\tFILE: Number of bytes read=12\nError: java.lang.RuntimeException: code 2\n";
        let (mut log, mut events) = (Log::default(), Vec::new());
        said.lines().for_each(|line| log.take(line, &mut |event| events.push(event)));
        let started = Event::Started("job_1_0001".into());
        let progress = |text: &str| Event::Progress(text.into());
        let (none, half) = (progress("map 0 %, reduce 0 %"), progress("map 50 %, reduce 7 %"));
        assert_eq!(events, [started, none, half]);
        assert_eq!(log.report.counters["Map output bytes"], 688_895);
        assert_eq!(
            log.failure(),
            "job_1_0001 has failed: Error: java.lang.RuntimeException: code 2"
        );
    }
}
