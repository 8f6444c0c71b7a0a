//! `umbel gen sample`: some of the lines that come in.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use clap::value_parser;
use umbel_io::{Error, Meter, Source};

use super::Common;
use super::random::Random;
use crate::overlap;

/// Print some of the lines of a file, in their order
#[derive(clap::Args)]
#[command(after_help = "\
The step from one chosen line to the next is a random number from 1 to LIMIT, each as likely as the
others; the first is chosen among the first LIMIT lines. So about 2 lines in LIMIT + 1 are printed,
and a LIMIT of 1 prints them all.

Example: about 8000 of two million
  umbel gen strings -n 2000000 | umbel gen sample --limit 500")]
pub struct Args {
    /// The lines to choose from, compressed or not; - is standard input
    #[arg(default_value = "-")]
    file: PathBuf,
    /// The longest step from one chosen line to the next
    #[arg(long, default_value_t = 500, value_parser = value_parser!(u64).range(1..))]
    limit: u64,
    #[command(flatten)]
    common: Common,
}

impl Args {
    pub fn run(self) -> Result<()> {
        let mut random = self.common.random();
        overlap::check(self.common.path(), [&self.file])?;
        let mut lines = Lines::open(Source::new(self.file))?;
        self.common.write(|out| choose(&mut lines, self.limit, &mut random, out))
    }
}

fn choose(lines: &mut Lines, limit: u64, random: &mut Random, out: &mut impl Write) -> Result<()> {
    let mut to_skip = random.below(limit);
    while let Some(line) = lines.next()? {
        if to_skip == 0 {
            out.write_all(line)?;
            out.write_all(b"\n")?;
            to_skip = random.below(limit) + 1;
        }
        to_skip -= 1;
    }
    Ok(())
}

/// The lines of an input: any bytes, of any length.
struct Lines {
    name: String,
    input: BufReader<Box<dyn Read + Send>>,
    line: Vec<u8>,
}

impl Lines {
    fn open(source: Source) -> Result<Lines> {
        let input = source.open(&Arc::new(Meter::default()))?;
        let input = BufReader::with_capacity(1 << 16, input);
        Ok(Lines { name: source.name(), input, line: Vec::new() })
    }

    /// The next line, without its end.
    fn next(&mut self) -> Result<Option<&[u8]>> {
        self.line.clear();
        let read = self.input.read_until(b'\n', &mut self.line);
        let read = read.map_err(Error::io(&self.name))?;
        Ok((read > 0).then(|| self.line.strip_suffix(b"\n").unwrap_or(&self.line)))
    }
}
