//! `umbel gen sample`: some of the lines that come in.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use umbel_io::Source;

use super::Common;
use super::lines::Lines;
use super::random::Random;
use crate::{input, overlap};

/// Print some of the lines of a file, in their order
#[derive(clap::Args)]
#[command(after_help = "\
The step from one chosen line to the next is a random number from 1 to LIMIT, each as likely as the \
others; the first is chosen among the first LIMIT lines. So about 2 lines in LIMIT + 1 are printed, \
and a LIMIT of 1 prints them all.

Example: about 8000 of two million
  umbel gen strings -n 2000000 | umbel gen sample --limit 500")]
pub struct Args {
    /// The lines to choose from, compressed or not; - is standard input
    #[arg(default_value = "-")]
    file: PathBuf,
    /// The longest step from one chosen line to the next
    #[arg(long, default_value_t = 500, value_parser = input::positive)]
    limit: u64,
    #[command(flatten)]
    common: Common,
}

impl Args {
    pub fn run(self) -> Result<()> {
        let mut random = self.common.random();
        overlap::check(self.common.path(), [&self.file])?;
        let mut lines = Lines::open(Source::new(self.file))?;
        self.common.write(None, |out| choose(&mut lines, self.limit, &mut random, out))
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
