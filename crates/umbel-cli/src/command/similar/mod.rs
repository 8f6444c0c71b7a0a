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
  umbel similar build d.jsonl --text body --metric jaccard \\
    --close 0.2 --far 0.95 -o d.umbel
  umbel similar query d.umbel new.jsonl            which are like a stored one?
  umbel similar query d.umbel new.jsonl --dedup    only the first of each
  umbel similar build v.csv --metric cosine --close 0.02 --far 0.9 -o v.umbel
  umbel similar size -n 1000000 --metric jaccard --close 0.2 --far 0.95";

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
