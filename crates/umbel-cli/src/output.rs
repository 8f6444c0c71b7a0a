//! Where results go: stdout, or a file that comes to be when it is whole.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, bail};
use umbel::format::NewFile;
use umbel_job::{Location, hdfs};

use crate::interrupt;

/// Whether whoever read an output of ours has closed it.
static CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether this failure is that of an output that was closed: its reader has seen enough, which is no error.
pub fn is_closed(failure: &io::Error) -> bool {
    failure.kind() == io::ErrorKind::BrokenPipe && CLOSED.load(Ordering::Relaxed)
}

/// Whether a path is standard output: what the shell has put there is written to, never replaced.
pub fn is_stdout(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path == Path::new(name))
}

/// Prints a result that is known as a whole: also where nobody wants to read it, the exit code is what it says.
pub fn print(text: impl AsRef<[u8]>) -> Result<()> {
    let mut out = Output::stdout();
    match out.write_all(text.as_ref()) {
        Err(failure) if is_closed(&failure) => Ok(()),
        written => written.map_err(Into::into).and_then(|()| out.commit()),
    }
}

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
        if is_stdout(path) {
            return Ok(Output::stdout());
        }
        let place = Location::parse(path);
        if let Location::Elsewhere(path) = place {
            bail!("{path}: results are written on this machine or on HDFS: name a file there");
        }
        if path.as_os_str().as_encoded_bytes().ends_with(b"/") && !path.is_dir() {
            bail!("{}: this names a folder: name the file in it too", path.display());
        }
        match place {
            Location::Hdfs(path) => Ok(Output::Hdfs(Box::new(hdfs::NewFile::create(&path)?))),
            _ => Ok(Output::File(interrupt::begin(path)?)),
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
        done.map_err(|failure| match failure.downcast() {
            Ok(named) => named,
            Err(failure) => umbel_io::Error::io(self.name())(failure),
        })
    }

    /// The same to an output that may be left out, beside another that is to be whole: whoever closes the one does not know of the
    /// other, so that it is left out from then on.
    pub fn deliver_beside(
        out: &mut Option<Output>,
        beside: bool,
        bytes: &[u8],
        live: bool,
    ) -> umbel_io::Result<()> {
        match out.as_mut().map_or(Ok(()), |out| out.deliver(bytes, live)) {
            Err(umbel_io::Error::Io { source, .. }) if beside && is_closed(&source) => *out = None,
            delivered => delivered?,
        }
        Ok(())
    }

    /// Everything has been written: the file takes its place.
    pub fn commit(mut self) -> Result<()> {
        match self.flush() {
            Err(failure) if is_closed(&failure) => return Ok(()),
            flushed => flushed?,
        }
        match self {
            Output::Stdout(_) => Ok(()),
            Output::File(file) => Ok(file.commit()?),
            Output::Hdfs(file) => Ok(file.commit()?),
        }
    }

    /// A failure of writing, with the name of what was written to.
    fn named(&self, failure: io::Error) -> io::Error {
        let is_pipe = failure.kind() == io::ErrorKind::BrokenPipe;
        if is_pipe && !matches!(self, Output::Hdfs(_)) {
            CLOSED.store(true, Ordering::Relaxed);
        }
        io::Error::new(failure.kind(), umbel_io::Error::io(self.name())(failure))
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match self {
            Output::Stdout(out) => out.write(bytes),
            Output::File(out) => out.write(bytes),
            Output::Hdfs(out) => out.write(bytes),
        };
        written.map_err(|failure| self.named(failure))
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = match self {
            Output::Stdout(out) => out.flush(),
            Output::File(out) => out.flush(),
            Output::Hdfs(out) => out.flush(),
        };
        flushed.map_err(|failure| self.named(failure))
    }
}
