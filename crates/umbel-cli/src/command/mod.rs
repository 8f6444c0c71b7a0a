//! The subcommands: one file each, with its arguments and its `run`.

mod completions;
mod r#gen;
mod man;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Have we seen this before? Set membership at any scale, from a few bits a key.
#[derive(Parser)]
#[command(name = "umbel", version, arg_required_else_help = true, max_term_width = 100)]
pub struct Umbel {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Gen(r#gen::Args),
    Completions(completions::Args),
    Man(man::Args),
}

impl Umbel {
    pub fn run(self) -> Result<ExitCode> {
        match self.command {
            Command::Gen(args) => args.run(),
            Command::Completions(args) => args.run(),
            Command::Man(args) => args.run(),
        }
    }
}
