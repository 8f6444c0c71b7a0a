//! Files on HDFS that come to be when they are whole.

use std::io::{self, Write};

use super::{HdfsPath, Writer, words};
use crate::unfinished::{self, Unfinished};
use crate::{Error, Location, Result};

/// A new file on HDFS: written aside, it takes its place when it is whole, and is gone if it is dropped before, with the folders that were made
/// for it.
pub struct NewFile {
    /// None once it is closed.
    writer: Option<io::BufWriter<Writer>>,
    aside: HdfsPath,
    path: HdfsPath,
    unfinished: Unfinished,
}

impl NewFile {
    /// Begins a file that is to stand at this path.
    pub fn create(path: &HdfsPath) -> Result<NewFile> {
        if path.status()?.is_some_and(|found| found.is_folder) {
            return Err(Error::io(path)(words::output_folder()));
        }
        let aside =
            path.parent().join(&format!(".{}.{}.part", path.file_name(), std::process::id()));
        let made = path.missing_folders()?;
        let unfinished = Unfinished::new(Location::Hdfs(aside.clone()), made);
        let writer = aside.create().map_err(|error| renamed(error, &aside, path))?;
        let writer = Some(io::BufWriter::with_capacity(1 << 20, writer));
        Ok(NewFile { writer, aside, path: path.clone(), unfinished })
    }

    /// Where it is to stand.
    pub fn path(&self) -> &HdfsPath {
        &self.path
    }

    /// It is whole.
    pub fn commit(mut self) -> Result<()> {
        if let Some(writer) = self.writer.take() {
            let writer = writer.into_inner().map_err(|e| Error::io(&self.path)(e.into_error()));
            let closed = writer.and_then(Writer::close);
            closed.map_err(|error| renamed(error, &self.aside, &self.path))?;
        }
        {
            let _making = unfinished::making();
            self.aside.rename_over(&self.path)?;
        }
        self.unfinished.keep();
        Ok(())
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let NewFile { writer, aside, path, .. } = self;
        let written = writer.as_mut().map_or(Ok(0), |writer| writer.write(bytes));
        written.map_err(|error| reworded(error, aside, path))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An error of the file aside, as one of the file that the user knows.
fn renamed(error: Error, aside: &HdfsPath, path: &HdfsPath) -> Error {
    match error {
        Error::Io { source, .. } => Error::io(path)(reworded(source, aside, path)),
        other => other,
    }
}

fn reworded(error: io::Error, aside: &HdfsPath, path: &HdfsPath) -> io::Error {
    let text = error.to_string();
    match text.contains(aside.path()) {
        true => io::Error::new(error.kind(), text.replace(aside.path(), path.path())),
        false => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_file_that_the_user_knows() {
        let parse = |path: &str| HdfsPath::parse(path.as_ref()).unwrap();
        let (aside, path) = (parse("hdfs:///a/.s.umbel.7.part"), parse("hdfs:///a/s.umbel"));
        let said =
            io::Error::other("Cannot create file/a/.s.umbel.7.part. Name node is in safe mode.");
        let said = renamed(Error::io(&aside)(said), &aside, &path).to_string();
        assert_eq!(
            said,
            "hdfs:///a/s.umbel: Cannot create file/a/s.umbel. Name node is in safe mode."
        );
    }
}
