//! Where results go: stdout, or a file that comes to be when it is whole.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};
use umbel::format::NewFile;
use umbel_job::HdfsPath;
use umbel_job::hdfs;

use crate::interrupt;

/// Stdout or a new file.
pub enum Output {
    /// Standard output, buffered.
    Stdout(BufWriter<io::Stdout>),
    /// A file, written aside.
    File(NewFile),
    /// A file on HDFS, written aside too.
    Hdfs(Box<hdfs::NewFile>),
}

impl Output {
    /// Standard output.
    pub fn stdout() -> Output {
        Output::Stdout(BufWriter::with_capacity(1 << 16, io::stdout()))
    }

    /// A file at this path; `-` is standard output.
    pub fn create(path: &Path) -> Result<Output> {
        if path == Path::new("-") {
            return Ok(Output::stdout());
        }
        match HdfsPath::parse(path) {
            Some(path) => Ok(Output::Hdfs(Box::new(hdfs::NewFile::create(&path)?))),
            None => Ok(Output::File(interrupt::begin(path)?)),
        }
    }

    /// Whether it is standard output.
    pub fn is_stdout(&self) -> bool {
        matches!(self, Output::Stdout(_))
    }

    /// What to call it in a message.
    pub fn name(&self) -> String {
        match self {
            Output::Stdout(_) => "stdout".into(),
            Output::File(file) => file.path().display().to_string(),
            Output::Hdfs(file) => file.path().to_string(),
        }
    }

    /// Writes what one block came to; where the input is live, whoever reads has it at once.
    pub fn deliver(&mut self, bytes: &[u8], live: bool) -> umbel_io::Result<()> {
        let written = self.write_all(bytes);
        let done =
            written.and_then(|()| if live && !bytes.is_empty() { self.flush() } else { Ok(()) });
        done.map_err(|error| umbel_io::Error::io(self.name())(error))
    }

    /// Everything has been written: the file takes its place.
    pub fn commit(self) -> Result<()> {
        match self {
            Output::Stdout(mut out) => out.flush().context("stdout"),
            Output::File(file) => Ok(file.commit()?),
            Output::Hdfs(file) => Ok(file.commit()?),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Stdout(out) => out.write(bytes),
            Output::File(out) => out.write(bytes),
            Output::Hdfs(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::Stdout(out) => out.flush(),
            Output::File(out) => out.flush(),
            Output::Hdfs(out) => out.flush(),
        }
    }
}
