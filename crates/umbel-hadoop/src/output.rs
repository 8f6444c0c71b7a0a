//! What a job has left behind: its records.

use std::io::BufReader;

use umbel_job::HdfsPath;
use umbel_job::lines::LINES;
use umbel_job::record::Record;

use crate::{Error, Result, sequence};

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
