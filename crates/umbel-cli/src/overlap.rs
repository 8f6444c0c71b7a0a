//! An output that is an input too, or another output: refused before anything is read.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use umbel_job::HdfsPath;

use crate::output::is_stdout;

/// Refuses an output that is one of the inputs; `-` is stdout or stdin.
pub fn check<'p>(output: &Path, inputs: impl IntoIterator<Item = &'p PathBuf>) -> Result<()> {
    let written = identity(is_stdout(output), output, stream::stdout);
    let same = |input: &&PathBuf| {
        is_same_on_hdfs(output, input)
            || is_file_of(output, input)
            || written.is_some() && identity(is_stdin(input), input, stream::stdin) == written
    };
    match (inputs.into_iter().find(same), is_stdout(output)) {
        (None, _) => Ok(()),
        (Some(input), true) => {
            bail!(
                "{}: stdout goes to this file, which is an input too: choose another",
                name(input)
            )
        }
        (Some(_), false) => {
            bail!(
                "{}: this file is an input too, and would be replaced: choose another",
                output.display()
            )
        }
    }
}

/// Refuses two outputs that are the same.
pub fn check_outputs(a: &Path, b: &Path) -> Result<()> {
    if is_stdout(a) && is_stdout(b)
        || is_same_on_hdfs(a, b)
        || place(a).is_some_and(|place_of_a| place(b) == Some(place_of_a))
    {
        bail!("{}: the admitted and the rejected lines cannot go to the same file", b.display());
    }
    Ok(())
}

/// Refuses a file of this option that is stdout, by whatever name, where something else is printed there.
pub fn check_alone(option: &str, path: Option<&PathBuf>, printed: &str) -> Result<()> {
    let Some(path) = path else { return Ok(()) };
    if is_stdout(path) {
        bail!("{option} {}: {printed} goes to stdout too: name a file", path.display());
    }
    let written = identity(false, path, stream::stdout);
    if written.is_some() && written == identity(true, path, stream::stdout) {
        bail!(
            "{option} {}: stdout goes to this file too, with {printed}: choose another",
            path.display()
        );
    }
    Ok(())
}

fn is_same_on_hdfs(a: &Path, b: &Path) -> bool {
    match (HdfsPath::parse(a), HdfsPath::parse(b)) {
        (Some(a), Some(b)) => a.may_be(&b),
        _ => false,
    }
}

/// Whether the output is a file that is there, in a folder that is an input: engines read all files of a folder.
fn is_file_of(output: &Path, folder: &Path) -> bool {
    match (HdfsPath::parse(output), HdfsPath::parse(folder)) {
        (Some(output), Some(folder)) => {
            output.parent().may_be(&folder)
                && output.status().is_ok_and(|found| found.is_some_and(|found| !found.is_folder))
        }
        (None, None) if folder.is_dir() && output.is_file() => {
            let (output, folder) = (fs::canonicalize(output), fs::canonicalize(folder));
            output.is_ok_and(|output| folder.is_ok_and(|folder| output.parent() == Some(&folder)))
        }
        _ => false,
    }
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

fn name(input: &Path) -> String {
    if is_stdin(input) { "stdin".into() } else { input.display().to_string() }
}

/// Where a plain file stands, or would; other things can be written to twice.
fn place(path: &Path) -> Option<PathBuf> {
    match fs::metadata(path) {
        Ok(found) => found.is_file().then(|| fs::canonicalize(path).ok())?,
        Err(_) => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            Some(fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?.join(path.file_name()?))
        }
    }
}

/// What tells a plain file from others, whatever the names of it; none for what is no plain file.
fn identity(is_stream: bool, path: &Path, stream: fn() -> Option<Metadata>) -> Option<Identity> {
    let found = if is_stream { stream() } else { fs::metadata(path).ok() };
    found.filter(Metadata::is_file).and_then(|found| identity_of(path, &found))
}

/// Device and number of a file.
#[cfg(unix)]
type Identity = (u64, u64);
#[cfg(not(unix))]
type Identity = PathBuf;

#[cfg(unix)]
fn identity_of(_: &Path, found: &Metadata) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    Some((found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn identity_of(path: &Path, _: &Metadata) -> Option<Identity> {
    fs::canonicalize(path).ok()
}

/// What the shell has put in place of stdin and stdout.
#[cfg(unix)]
mod stream {
    use std::fs::{File, Metadata};
    use std::os::fd::AsFd;

    pub fn stdin() -> Option<Metadata> {
        metadata(std::io::stdin())
    }

    pub fn stdout() -> Option<Metadata> {
        metadata(std::io::stdout())
    }

    fn metadata(stream: impl AsFd) -> Option<Metadata> {
        File::from(stream.as_fd().try_clone_to_owned().ok()?).metadata().ok()
    }
}

#[cfg(not(unix))]
mod stream {
    use std::fs::Metadata;

    pub fn stdin() -> Option<Metadata> {
        None
    }

    pub fn stdout() -> Option<Metadata> {
        None
    }
}
