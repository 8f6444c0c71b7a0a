//! The `umbel` command: parse, run, exit code. 0 = something was selected (or done), 1 = nothing, 2 = an error.
//!
//! A library, so that other programs can bring the command with them: the Python package does.

mod command;
mod engine;
mod input;
mod interrupt;
mod jobs;
mod json;
mod notice;
mod opened;
mod output;
mod overlap;
mod planning;
mod progress;
mod remembered;
mod spark;
mod table;

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::process::ExitCode;

use clap::Parser;

pub use spark::{Maker, Wishes, run_by};

/// Runs the command with these arguments, the first of them its own name. Meant for the main function of a program: a signal ends the process.
pub fn main_from(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    interrupt::install();
    let args: Vec<OsString> = args.into_iter().collect();
    spark::keep_arguments(&args);
    let command = match command::Umbel::try_parse_from(args) {
        Ok(command) => command,
        Err(refused) => return refuse(&refused),
    };
    match command.run() {
        Ok(code) => code,
        Err(error) => fail(error),
    }
}

/// The same in a program that carries jobs on Spark by itself.
pub fn main_on_spark(args: impl IntoIterator<Item = OsString>, maker: Box<Maker>) -> ExitCode {
    spark::carry_by(maker);
    main_from(args)
}

/// Says what went wrong. Whoever read our output and has seen enough is no error.
fn fail(error: anyhow::Error) -> ExitCode {
    if is_closed_pipe(&error) {
        return ExitCode::SUCCESS;
    }
    notice::say(message(&error));
    ExitCode::from(2)
}

/// What the parser of arguments has to say, in the voice of all other errors; or the help that was asked for.
fn refuse(refused: &clap::Error) -> ExitCode {
    let is_error = refused.use_stderr();
    let terminal = if is_error { io::stderr().is_terminal() } else { io::stdout().is_terminal() };
    let text = match terminal && std::env::var_os("NO_COLOR").is_none() {
        true => refused.render().ansi().to_string(),
        false => refused.render().to_string(),
    };
    if !is_error {
        return output::print(text).map_or_else(fail, |()| ExitCode::SUCCESS);
    }
    eprint!("{}", text.replacen("error:", "umbel:", 1));
    ExitCode::from(2)
}

/// The error and its causes; a cause that the text before names already is not said twice.
fn message(error: &anyhow::Error) -> String {
    error
        .chain()
        .map(ToString::to_string)
        .reduce(|text, cause| if text.contains(&cause) { text } else { format!("{text}: {cause}") })
        .unwrap_or_default()
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().filter_map(|cause| cause.downcast_ref::<std::io::Error>()).any(output::is_closed)
}
