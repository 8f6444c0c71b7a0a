//! The `umbel` command, for the script that the package installs.

use std::ffi::OsString;
use std::process::ExitCode;

use pyo3::prelude::*;

/// Runs the umbel command with these arguments, the first of them its own name, and returns its exit code. A signal ends the process.
#[pyfunction]
pub fn main(py: Python<'_>, args: Vec<OsString>) -> u8 {
    py.detach(|| number(umbel_cli::main_from(args)))
}

/// The number of an exit code, which the type does not tell.
fn number(code: ExitCode) -> u8 {
    (0..=u8::MAX).find(|&number| ExitCode::from(number) == code).unwrap_or(2)
}
