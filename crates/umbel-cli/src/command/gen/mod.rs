//! `umbel gen`: data to try things on. A seed gives the same bytes for ever and on every machine, so nothing here may be
//! changed that changes them: the numbers come from our own generator, and no arithmetic is left to the system's libraries.

mod addresses;
mod decimal;
mod lines;
mod names;
mod numbers;
mod permutation;
mod random;
mod ratings;
mod sample;
mod strings;
mod texts;
mod urn;
mod vectors;
mod zipf;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

use crate::output::Output;
use random::Random;

#[derive(clap::Args)]
#[command(subcommand_required = true, arg_required_else_help = true, after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

const EXAMPLES: &str = "\
The same seed gives the same bytes, in every version and on every machine.

Examples:
  umbel gen strings -n 2000000 --length 30 -o flow.txt
  umbel gen sample flow.txt --limit 500 -o set.txt
  umbel gen ratings --malformed 100 -o ratings.tsv
  umbel gen addresses -n 1000000 --distinct 100000 --zipf 1.1 | sort | uniq -c | sort -rn | head";

#[derive(Subcommand)]
enum What {
    Strings(strings::Args),
    Sample(sample::Args),
    Ratings(ratings::Args),
    Addresses(addresses::Args),
    Names(names::Args),
    Numbers(numbers::Args),
    Vectors(vectors::Args),
    Texts(texts::Args),
}

/// What every kind of data takes.
#[derive(clap::Args)]
struct Common {
    /// Choose other data of the same kind
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write to a file, replaced only by a whole one [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Common {
    fn random(&self) -> Random {
        Random::new(self.seed)
    }

    /// Random numbers beside those, for what is added to the data and must not change it.
    fn random_places(&self) -> Random {
        Random::new(Random::new(!self.seed).next())
    }

    /// Where the data goes.
    fn path(&self) -> &Path {
        self.output.as_deref().unwrap_or(Path::new("-"))
    }

    /// Gives `fill` the place to write to.
    fn write(self, fill: impl FnOnce(&mut Output) -> Result<()>) -> Result<()> {
        let mut out = Output::create(self.path())?;
        fill(&mut out)?;
        out.commit()
    }
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        match self.what {
            What::Strings(args) => args.run(),
            What::Sample(args) => args.run(),
            What::Ratings(args) => args.run(),
            What::Addresses(args) => args.run(),
            What::Names(args) => args.run(),
            What::Numbers(args) => args.run(),
            What::Vectors(args) => args.run(),
            What::Texts(args) => args.run(),
        }?;
        Ok(ExitCode::SUCCESS)
    }
}
