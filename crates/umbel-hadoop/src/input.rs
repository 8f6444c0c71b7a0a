//! Files on HDFS as inputs.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

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

/// A whole file as an input; it is opened when it is needed.
pub fn source(path: &HdfsPath) -> Source {
    Source::remote(Arc::new(Whole { path: path.clone(), opened: Mutex::default() }))
}

/// A whole file.
#[derive(Debug)]
struct Whole {
    path: HdfsPath,
    opened: Mutex<Option<Arc<Opened>>>,
}

impl Whole {
    fn opened(&self) -> Result<Arc<Opened>> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(match &*opened {
            Some(opened) => opened.clone(),
            None => opened.insert(Arc::new(self.path.open()?)).clone(),
        })
    }
}

impl Remote for Whole {
    fn name(&self) -> String {
        self.path.to_string()
    }

    fn size(&self) -> Option<u64> {
        self.opened().ok().map(|opened| opened.len())
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        match self.opened() {
            Ok(opened) => Ok(Box::new(opened.from(0))),
            // The name is said by whoever reads.
            Err(Error::Io { source, .. }) => Err(source),
            Err(error) => Err(io::Error::other(error.to_string())),
        }
    }

    fn places(&self) -> Option<Arc<dyn ReadAt>> {
        Some(self.opened().ok()?)
    }
}

impl ReadAt for Opened {
    fn read_at(&self, buffer: &mut [u8], place: u64) -> io::Result<usize> {
        Opened::read_at(self, buffer, place)
    }
}
