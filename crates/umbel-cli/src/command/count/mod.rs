//! `umbel count`: how often did a key come?

mod build;
mod dot;
mod heavy;
mod quantile;
mod query;
mod range;
mod sketching;

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

const EXAMPLES: &str = "\
Examples:
  umbel count build access.log --key 1 -d ' ' -o hits.umbel     count the first column
  umbel count query hits.umbel addresses.txt                    what did each of these come to?
  umbel count heavy access.log --key 1 -d ' ' --top 20          the most frequent
  umbel merge mon.umbel tue.umbel -o week.umbel                 counts add up";

/// Count keys in bounded memory: estimates that are never too low
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
    Dot(dot::Args),
    Heavy(heavy::Args),
    Range(range::Args),
    Quantile(quantile::Args),
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        match self.command {
            Command::Build(args) => args.run(),
            Command::Query(args) => args.run(),
            Command::Dot(args) => args.run(),
            Command::Heavy(args) => args.run(),
            Command::Range(args) => args.run(),
            Command::Quantile(args) => args.run(),
        }
    }
}
