//! Lines that come in.

use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;

use anyhow::Result;
use umbel_io::{Error, Meter, Source};

/// The lines of an input: any bytes, of any length.
pub struct Lines {
    name: String,
    input: BufReader<Box<dyn Read + Send>>,
    line: Vec<u8>,
}

impl Lines {
    pub fn open(source: Source) -> Result<Lines> {
        let input = source.open(&Arc::new(Meter::default()))?;
        let input = BufReader::with_capacity(1 << 16, input);
        Ok(Lines { name: source.name(), input, line: Vec::new() })
    }

    /// The next line, without its end.
    pub fn next(&mut self) -> Result<Option<&[u8]>> {
        self.line.clear();
        let read = self.input.read_until(b'\n', &mut self.line);
        let read = read.map_err(Error::io(&self.name))?;
        Ok((read > 0).then(|| self.line.strip_suffix(b"\n").unwrap_or(&self.line)))
    }
}
