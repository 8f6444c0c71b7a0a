//! Files on HDFS as inputs.

use std::io::{self, Read};
use std::sync::Arc;

use umbel_io::{ReadAt, Remote, Source};

use crate::hdfs::{HdfsPath, Opened};
use crate::{Error, Result};

/// The files at a path: itself, or those of a folder but for the ones that Hadoop hides.
pub fn files(path: &HdfsPath) -> Result<Vec<HdfsPath>> {
    let status = path.status()?.ok_or_else(|| Error::io(path)(io::ErrorKind::NotFound.into()))?;
    if !status.is_folder {
        return Ok(vec![path.clone()]);
    }
    let is_hidden = |path: &HdfsPath| path.file_name().starts_with(['.', '_']);
    let found =
        path.list()?.into_iter().filter(|found| !found.is_folder && !is_hidden(&found.path));
    let files: Vec<_> = found.map(|found| found.path).collect();
    match files.is_empty() {
        true => Err(Error::other(format!("{path}: there are no files in this folder"))),
        false => Ok(files),
    }
}

/// A whole file as an input.
pub fn source(path: &HdfsPath) -> Result<Source> {
    Ok(Source::remote(Arc::new(Whole(Arc::new(path.open()?)))))
}

/// A whole file.
#[derive(Debug)]
struct Whole(Arc<Opened>);

impl Remote for Whole {
    fn name(&self) -> String {
        self.0.path().to_string()
    }

    fn size(&self) -> Option<u64> {
        Some(self.0.len())
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(self.0.from(0)))
    }

    fn places(&self) -> Option<Arc<dyn ReadAt>> {
        Some(self.0.clone())
    }
}

impl ReadAt for Opened {
    fn read_at(&self, buffer: &mut [u8], place: u64) -> io::Result<usize> {
        Opened::read_at(self, buffer, place)
    }
}
