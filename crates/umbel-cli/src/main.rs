//! The `umbel` command: see the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    umbel_cli::main_from(std::env::args_os())
}
