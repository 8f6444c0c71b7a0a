//! Commands on Spark. Spark's driver is a Python program, so the command runs inside of one: the package's `umbel.spark.job`, which
//! brings this same code and the carrier of its jobs. A command that was started elsewhere starts it, and is done.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::OnceLock;

use anyhow::{Context, Result};
use umbel_job::Carrier;

use crate::engine::{Engine, On};

/// What is wished of Spark.
#[derive(Debug, Clone, Default)]
pub struct Wishes {
    /// What the application is called where such are listed.
    pub name: String,
    /// The cluster.
    pub master: Option<String>,
    /// The number of tasks.
    pub partitions: Option<u32>,
}

/// Makes a carrier.
pub type Maker = dyn Fn(Wishes) -> umbel_job::Result<Box<dyn Carrier>> + Send + Sync;

/// Who carries jobs on Spark, where the program can.
static MAKER: OnceLock<Box<Maker>> = OnceLock::new();
/// The Python that this program is part of, where it is: the program's own path would not tell, as environments are links to others' Python.
static PYTHON: OnceLock<OsString> = OnceLock::new();
/// The arguments of this run.
static ARGUMENTS: OnceLock<Vec<OsString>> = OnceLock::new();

/// From now on this carries jobs on Spark.
pub(crate) fn carry_by(maker: Box<Maker>) {
    let _ = MAKER.set(maker);
}

/// Whoever runs the command is this Python.
pub fn run_by(python: OsString) {
    let _ = PYTHON.set(python);
}

/// Keeps the arguments, for another program to run the same command.
pub(crate) fn keep_arguments(arguments: &[OsString]) {
    let _ = ARGUMENTS.set(arguments.to_vec());
}

/// The carrier.
pub fn carrier(engine: &Engine, name: String) -> Result<Box<dyn Carrier>> {
    let maker = MAKER.get().context("jobs on Spark are run by the Python package")?;
    let Engine { master, partitions, .. } = engine.clone();
    Ok(maker(Wishes { name, master, partitions })?)
}

/// Has the command run where there is a Spark, unless it runs there already; its exit code, if it has been.
pub fn hand_over(engine: &Engine) -> Result<Option<ExitCode>> {
    engine.runs_jobs()?;
    if engine.on != On::Spark || MAKER.get().is_some() {
        return Ok(None);
    }
    let python = python();
    let arguments = ARGUMENTS.get().map(Vec::as_slice).unwrap_or_default();
    let mut command = Command::new(&python);
    command.args(["-c", START]).args(arguments.iter().skip(1));
    let missing = || {
        format!(
            "{}: --on spark needs a Python with the packages umbel and pyspark: set PYSPARK_PYTHON to one",
            Path::new(&python).display()
        )
    };
    run(command).with_context(missing).map(Some)
}

/// What Python is told. Without the package there is one line that says so.
const START: &str = "\
import sys
try:
    from umbel.spark.job import main
except ImportError as error:
    print(f'umbel: --on spark needs the Python packages umbel and pyspark ({error}): install them for {sys.executable}, or set '
          'PYSPARK_PYTHON to a Python that has them', file=sys.stderr)
    sys.exit(2)
sys.exit(main(sys.argv[1:]))
";

/// The Python of Spark's drivers; the one that this program is part of; or the usual one.
fn python() -> OsString {
    let named = ["PYSPARK_DRIVER_PYTHON", "PYSPARK_PYTHON"].into_iter().find_map(std::env::var_os);
    named.or_else(|| PYTHON.get().cloned()).unwrap_or_else(|| "python3".into())
}

/// Becomes the other program, so that signals reach it.
#[cfg(unix)]
fn run(mut command: Command) -> std::io::Result<ExitCode> {
    Err(std::os::unix::process::CommandExt::exec(&mut command))
}

/// Waits for the other program.
#[cfg(not(unix))]
fn run(mut command: Command) -> std::io::Result<ExitCode> {
    let code = command.status()?.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(2)))
}
