//! The `umbel` command: parse, run, exit code. 0 = something was selected (or done), 1 = nothing, 2 = an error.

mod command;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let outcome = command::Umbel::parse().run();
    match outcome {
        Ok(code) => code,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("umbel: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Whoever read our output has seen enough: no error.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().filter_map(|cause| cause.downcast_ref::<std::io::Error>()).any(|cause| {
        cause.kind() == std::io::ErrorKind::BrokenPipe
    })
}
