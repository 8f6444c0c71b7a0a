//! The files that are not read for keys: what to open, and what to say where they are something else.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use umbel::format::File;
use umbel_hadoop::HdfsPath;
use umbel_io::Filters;

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
        umbel_hadoop::Error::Io { name, source } => umbel::Error::Io { path: name.into(), source },
        other => {
            umbel::Error::Io { path: path.to_string().into(), source: std::io::Error::other(other) }
        }
    })?;
    File::read(path.to_string(), opened.from(0))
}

/// The filters in a file, for a command that reads keys from `inputs`.
pub fn filters(path: &Path, inputs: &[PathBuf], threads: usize) -> Result<Filters> {
    let file = match file(path) {
        Err(error @ umbel::Error::File { .. }) => {
            match inputs.iter().find(|input| is_ours(input)) {
                None => return Err(error.into()),
                Some(input) => bail!(
                    "{} is not an umbel file, but {} is one: the filter comes first, then what is read",
                    path.display(),
                    input.display()
                ),
            }
        }
        found => found?,
    };
    let kind = file.kind();
    if kind.is_counts() || kind == umbel::format::Kind::CountGroups {
        bail!("{}: it holds {kind}, not a filter: ask it with umbel count", path.display());
    }
    Ok(Filters::read(file, threads)?)
}

/// Whether a plain file is one of ours.
fn is_ours(path: &Path) -> bool {
    path.is_file() && File::open(path).is_ok()
}
