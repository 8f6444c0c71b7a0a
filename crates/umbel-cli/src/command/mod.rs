//! The subcommands: one file each, with its arguments and its `run`.

mod audit;
mod build;
mod completions;
mod count;
mod r#gen;
mod hadoop;
mod info;
mod man;
mod merge;
mod near;
mod screen;
mod similar;
mod size;
mod stream;
mod which;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

const FIRST_STEPS: &str = "\
Try first:
  umbel gen strings -n 1000000 > flow.txt       a million words
  umbel gen sample flow.txt > ids.txt           some of them: the set
  umbel build ids.txt -o ids.umbel              a filter of the set
  umbel screen ids.umbel flow.txt --report      which words may be in it?
  umbel info ids.umbel                          what the filter holds";

/// Have we seen this before? Set membership at any scale, from a few bits a key
#[derive(Parser)]
#[command(name = "umbel", version, arg_required_else_help = true, max_term_width = 100)]
#[command(after_help = FIRST_STEPS)]
pub struct Umbel {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Size(size::Args),
    Build(build::Args),
    Screen(screen::Args),
    Audit(audit::Args),
    Merge(merge::Args),
    Info(info::Args),
    Count(count::Args),
    Near(near::Args),
    Similar(similar::Args),
    Stream(stream::Args),
    Gen(r#gen::Args),
    Completions(completions::Args),
    Man(man::Args),
    #[command(hide = true)]
    Hadoop(hadoop::Args),
}

impl Umbel {
    pub fn run(self) -> Result<ExitCode> {
        match self.command {
            Command::Size(args) => args.run(),
            Command::Build(args) => args.run(),
            Command::Screen(args) => args.run(),
            Command::Audit(args) => args.run(),
            Command::Merge(args) => args.run(),
            Command::Info(args) => args.run(),
            Command::Count(args) => args.run(),
            Command::Near(args) => args.run(),
            Command::Similar(args) => args.run(),
            Command::Stream(args) => args.run(),
            Command::Gen(args) => args.run(),
            Command::Completions(args) => args.run(),
            Command::Man(args) => args.run(),
            Command::Hadoop(args) => args.run(),
        }
    }
}
