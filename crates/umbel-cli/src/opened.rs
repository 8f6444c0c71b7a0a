//! The files that are not read for keys: what to open, and what to say where they are something else.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use umbel::format::{File, Kind};
use umbel::near::Near;
use umbel::similar::Similar;
use umbel_io::{Filters, near, similar};
use umbel_job::HdfsPath;

/// A file of ours, also on HDFS; `-` is stdin.
pub fn file(path: &Path) -> umbel::Result<File> {
    match HdfsPath::parse(path) {
        Some(path) => on_hdfs(&path),
        None if path == Path::new("-") => File::read("stdin", std::io::stdin().lock()),
        None => File::open(path),
    }
}

fn on_hdfs(path: &HdfsPath) -> umbel::Result<File> {
    let opened = path.open().map_err(|error| match error {
        umbel_job::Error::Io { name, source } => umbel::Error::Io { path: name.into(), source },
        other => {
            umbel::Error::Io { path: path.to_string().into(), source: std::io::Error::other(other) }
        }
    })?;
    File::read(path.to_string(), opened.from(0))
}

/// The filters in a file, for a command that reads keys from `inputs`.
pub fn filters(path: &Path, inputs: &[PathBuf], threads: usize) -> Result<Filters> {
    let file = before(path, inputs, "the filter")?;
    let command = match file.kind() {
        Kind::CountGroups => "umbel count",
        Kind::Near => "umbel near query",
        Kind::Similar => "umbel similar query",
        kind if kind.is_counts() => "umbel count",
        _ => return Ok(Filters::read(file, threads)?),
    };
    bail!("{}: it holds {}, not a filter: ask it with {command}", path.display(), file.kind())
}

/// The numbers in a file, for a command that reads others from `inputs`.
pub fn numbers(path: &Path, inputs: &[PathBuf], threads: usize) -> Result<Near> {
    let file = before(path, inputs, "what umbel near build wrote")?;
    match file.kind() {
        Kind::Near => Ok(near::read(file, threads)?),
        other => bail!(
            "{}: it holds {other}, no numbers: make them with umbel near build",
            path.display()
        ),
    }
}

/// The items in a file, for a command that reads others from `inputs`.
pub fn items(path: &Path, inputs: &[PathBuf], threads: usize) -> Result<Similar> {
    let file = before(path, inputs, "what umbel similar build wrote")?;
    match file.kind() {
        Kind::Similar => Ok(similar::read(file, threads)?),
        other => bail!(
            "{}: it holds {other}, no items to compare: make them with umbel similar build",
            path.display()
        ),
    }
}

/// A file of ours that comes before the inputs.
fn before(path: &Path, inputs: &[PathBuf], what: &str) -> Result<File> {
    match (file(path), inputs.iter().find(|input| is_ours(input))) {
        (Err(umbel::Error::File { .. }), Some(input)) => bail!(
            "{} is not an umbel file, but {} is one: {what} comes first, then what is read",
            path.display(),
            input.display()
        ),
        (found, _) => Ok(found?),
    }
}

/// Whether a plain file is one of ours.
fn is_ours(path: &Path) -> bool {
    path.is_file() && File::open(path).is_ok()
}
