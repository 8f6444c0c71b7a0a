//! `umbel near`: is there one within this distance?

mod build;
mod distance;
mod query;
mod size;

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

use crate::notice;

const EXAMPLES: &str = "\
Examples:
  umbel near build values.txt --alpha 5 --beta 1 -o v.umbel
  umbel near query v.umbel questions.txt             which have one within 5?
  umbel near query v.umbel questions.txt --within 2  within 2?
  umbel near size -n 1000000 --alpha 5 --beta 0.01   what would it cost?";

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
        done.map_err(|error| notice::advise(error, "check --key and -d"))
    }
}
