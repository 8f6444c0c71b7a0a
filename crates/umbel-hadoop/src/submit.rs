//! Hadoop's own command, followed line by line: it submits the job, and tells how far it has come and what it has counted.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use umbel_job::HdfsPath;
use umbel_job::installed::{self, Environment};
use umbel_job::jobs::{Event, Report};

use crate::log::Log;
use crate::running::{self, Running};
use crate::{Error, Result};

/// How long it may take to end a job: Hadoop gives its tasks ten seconds.
const ENDING: Duration = Duration::from_secs(40);

/// The Hadoop of this machine.
#[derive(Debug, Clone)]
pub struct Hadoop {
    command: PathBuf,
    streaming: PathBuf,
    conf: PathBuf,
}

/// Where a job that is being submitted leaves files.
pub struct Places<'a> {
    /// A folder of this machine.
    pub local: &'a Path,
    /// Anything on the job's HDFS.
    pub hdfs: &'a HdfsPath,
}

impl Hadoop {
    /// The `hadoop` of HADOOP_HOME or of the PATH.
    pub fn find() -> Result<Hadoop> {
        let environment = Environment::own();
        let command = environment.command()?;
        let streaming = streaming(&command, environment.home().as_deref())?;
        let conf = environment.conf().ok_or_else(|| {
            Error::other("Hadoop's configuration is not found: set HADOOP_CONF_DIR to its folder")
        })?;
        Ok(Hadoop { command, streaming, conf })
    }

    /// The files that a task needs to find HDFS.
    pub fn conf(&self) -> Vec<PathBuf> {
        let files = ["core-site.xml", "hdfs-site.xml"].map(|name| self.conf.join(name));
        files.into_iter().filter(|file| file.is_file()).collect()
    }

    /// Runs a Streaming job with these arguments. The error of a job that fails has what Hadoop says of it.
    pub fn run(
        &self,
        arguments: &[OsString],
        places: &Places,
        mut watch: impl FnMut(Event),
    ) -> Result<Report> {
        let started = Instant::now();
        let mut command = self.command(["jar".as_ref(), self.streaming.as_os_str()]);
        command.args(arguments).env("HADOOP_CLIENT_OPTS", client_options(places.local));
        command.env("HADOOP_ROOT_LOGGER", "INFO,console").stderr(Stdio::piped());
        let (running, stderr) =
            Running::start(command).map_err(Error::io(self.command.display()))?;
        let mut log = Log::default();
        for line in stderr.into_iter().flat_map(|stderr| BufReader::new(stderr).split(b'\n')) {
            let line = line.map_err(Error::io(self.command.display()))?;
            log.take(&String::from_utf8_lossy(&line), &mut watch);
            if log.is_in_vain() {
                running::terminate();
            }
        }
        let ended = running.wait().map_err(Error::io(self.command.display()))?;
        if running::is_interrupted() {
            return Err(self.end(&log, places.hdfs));
        }
        match ended.success() {
            true => Ok(Report { time: started.elapsed(), ..log.report() }),
            false => Err(Error::Other(log.failure())),
        }
    }

    /// Hadoop's command, of which nobody hears anything.
    fn command<'a>(&self, arguments: impl IntoIterator<Item = &'a std::ffi::OsStr>) -> Command {
        let mut command = Command::new(&self.command);
        command.args(arguments).env("HADOOP_CONF_DIR", &self.conf);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // A key that interrupts us is not for Hadoop's command: it is needed to the end.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command
    }

    /// Takes a job from the cluster whose submission was interrupted; whatever it has left of its files. The error tells how that went.
    fn end(&self, log: &Log, near: &HdfsPath) -> Error {
        let Some(job) = log.job() else { return Error::other("the job was not begun") };
        let is_ended = self.kill(job);
        // A job that ends before it has run has nobody who removes its files.
        if let Some(path) = log.staging() {
            let staging =
                HdfsPath::parse(path.as_ref()).unwrap_or_else(|| near.with_path(path.into()));
            let _ = staging.remove();
        }
        match is_ended {
            true => Error::other(format!("{job} was ended")),
            false => {
                let words = format!("{job} could not be ended: `hadoop job -kill {job}` does it");
                running::left(words.clone());
                Error::Other(words)
            }
        }
    }

    /// Whether a job runs no more. One that the cluster does not know was never submitted.
    fn kill(&self, job: &str) -> bool {
        let mut command = self.command(["job", "-kill", job].map(AsRef::as_ref));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let Ok(mut child) = command.spawn() else { return false };
        match wait(&mut child, ENDING) {
            true => {
                let told = child.wait_with_output();
                told.is_ok_and(|told| {
                    let text = [told.stdout, told.stderr].concat();
                    let text = String::from_utf8_lossy(&text);
                    told.status.success() || text.contains("Could not ")
                })
            }
            false => {
                let _ = child.kill().and_then(|()| child.wait());
                false
            }
        }
    }
}

/// Whether a program ends in time. What it says is little, and fits into the pipe.
fn wait(child: &mut Child, patience: Duration) -> bool {
    let deadline = Instant::now() + patience;
    while Instant::now() < deadline {
        if !matches!(child.try_wait(), Ok(None)) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    false
}

/// What Java is told: temporary files go to a folder that is removed, whatever becomes of Java. The options are split at spaces.
fn client_options(folder: &Path) -> OsString {
    let mut options = std::env::var_os("HADOOP_CLIENT_OPTS").unwrap_or_default();
    if !folder.to_string_lossy().contains(char::is_whitespace) {
        options.push(" -Djava.io.tmpdir=");
        options.push(folder);
    }
    options
}

/// Where the jar of Streaming is: in the installation's place, or anywhere on Hadoop's class path.
fn streaming(command: &Path, home: Option<&Path>) -> Result<PathBuf> {
    let usual = home.map(|home| home.join("share/hadoop/tools/lib"));
    let usual = usual.and_then(|folder| streaming_in(&folder));
    let anywhere = || installed::class_path(command).iter().find_map(|folder| streaming_in(folder));
    usual.or_else(anywhere).ok_or_else(|| {
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
