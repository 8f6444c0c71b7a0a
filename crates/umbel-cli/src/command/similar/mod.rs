//! `umbel similar`: is something like this known?

mod asking;
mod build;
mod query;
mod size;

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

use crate::notice;

const EXAMPLES: &str = "\
Examples:
  umbel similar build docs.jsonl --metric jaccard --text body --close 0.2 --far 0.95 -o docs.umbel
  umbel similar query docs.umbel new.jsonl             which are near-duplicates of a stored one?
  umbel similar query docs.umbel new.jsonl --dedup     only the first of each
  umbel similar build vectors.csv --metric cosine --close 0.02 --far 0.9 -o vec.umbel
  umbel similar size -n 1000000 --metric jaccard --close 0.2 --far 0.95     what would it cost?";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Build(build::Args),
    Query(query::Args),
    Size(size::Args),
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        let done = match self.command {
            Command::Build(args) => args.run(),
            Command::Query(args) => args.run(),
            Command::Size(args) => args.run(),
        };
        done.map_err(|error| notice::advise(error, "check --text, --key and -d"))
    }
}
