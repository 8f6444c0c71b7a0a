//! The subcommands: one file each, with its arguments and its `run`.

mod audit;
mod build;
mod completions;
mod count;
mod r#gen;
mod hadoop;
mod info;
mod later;
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
use clap::{CommandFactory, Parser, Subcommand};

use self::later::Later;

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
    /// What a filter would cost: bits, probes, bytes and the rate to expect
    Size(Later<size::Args>),
    /// Build a filter, or one for each group, from the keys of files or stdin
    Build(Later<build::Args>),
    /// Print the lines whose key may be in the set; what is left out is certainly not in it
    Screen(Later<screen::Args>),
    /// Prove a filter's rate: exact counts over all distinct keys, an interval, a verdict
    Audit(Later<audit::Args>),
    /// Merge what has the same parameters: the result holds the keys of all
    Merge(Later<merge::Args>),
    /// Show what a file holds: parameters, fill, the error to expect now, metadata
    Info(Later<info::Args>),
    /// Count keys in bounded memory: estimates that are never too low
    Count(Later<count::Args>),
    /// Ask whether a stored number is within a distance: no false negatives, from a few bits a number
    Near(Later<near::Args>),
    /// Ask whether something similar is stored: texts, sets, vectors, bit strings; wrong answers on both sides, as rarely as asked
    Similar(Later<similar::Args>),
    /// Train a filter or a count with one stream while another asks it; the state survives
    Stream(Later<stream::Args>),
    /// Make test data: strings, samples, ratings, addresses, names, numbers, vectors, texts
    Gen(Later<r#gen::Args>),
    /// Print a completion script for a shell
    Completions(Later<completions::Args>),
    /// Print the manual page, all subcommands included (umbel man | man -l -)
    Man(Later<man::Args>),
    /// A task of a job on Hadoop
    #[command(hide = true)]
    Hadoop(Later<hadoop::Args>),
}

impl Umbel {
    /// The whole command, all arguments of all subcommands described.
    fn whole() -> clap::Command {
        later::describe_at_once();
        Umbel::command()
    }

    pub fn run(self) -> Result<ExitCode> {
        match self.command {
            Command::Size(Later(args)) => args.run(),
            Command::Build(Later(args)) => args.run(),
            Command::Screen(Later(args)) => args.run(),
            Command::Audit(Later(args)) => args.run(),
            Command::Merge(Later(args)) => args.run(),
            Command::Info(Later(args)) => args.run(),
            Command::Count(Later(args)) => args.run(),
            Command::Near(Later(args)) => args.run(),
            Command::Similar(Later(args)) => args.run(),
            Command::Stream(Later(args)) => args.run(),
            Command::Gen(Later(args)) => args.run(),
            Command::Completions(Later(args)) => args.run(),
            Command::Man(Later(args)) => args.run(),
            Command::Hadoop(Later(args)) => args.run(),
        }
    }
}
