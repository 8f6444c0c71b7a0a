//! Hadoop's own command, followed line by line: it submits the job, and tells how far it has come and what it has counted.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use umbel_job::jobs::{Event, Report};

use crate::log::Log;
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
