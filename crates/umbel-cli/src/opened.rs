//! The files that are not read for keys: what to open, and what to say where they are something else.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use umbel::format::File;
use umbel_io::Filters;

/// A file of ours; `-` is stdin.
pub fn file(path: &Path) -> umbel::Result<File> {
    match path == Path::new("-") {
        true => File::read("stdin", std::io::stdin().lock()),
        false => File::open(path),
    }
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
