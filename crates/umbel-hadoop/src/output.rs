//! What a job has left behind: its records, kept lines.

use std::io::BufReader;

use umbel_job::HdfsPath;
use umbel_job::record::Record;

use crate::{Error, Result, sequence};

/// How the names of files with kept lines begin.
pub(crate) const LINES: &str = "lines-";

/// All records that the reducers have written.
pub(crate) fn records(folder: &HdfsPath) -> Result<Vec<Record>> {
    let mut records = Vec::new();
    let files = folder.files()?.into_iter();
    for file in files.filter(|file| !file.file_name().starts_with(LINES)) {
        let opened = file.open()?;
        let from = BufReader::with_capacity(1 << 20, opened.from(0));
        records.extend(sequence::records(from).map_err(Error::io(&file))?);
    }
    Ok(records)
}

/// Makes a folder of kept lines of what the mappers have left.
pub(crate) fn publish_lines(output: &HdfsPath, to: &HdfsPath) -> Result<()> {
    let is_lines = |path: &HdfsPath| path.file_name().starts_with(LINES);
    let (lines, others): (Vec<_>, Vec<_>) =
        output.list()?.into_iter().map(|found| found.path).partition(is_lines);
    others.iter().try_for_each(HdfsPath::remove)?;
    for (i, file) in lines.iter().enumerate() {
        file.rename(&output.join(&format!("part-{i:05}")))?;
    }
    to.parent().make_folder()?;
    output.rename(to)
}
