//! The `umbel` command, for the script that the package installs, and for drivers of Spark.

use std::ffi::OsString;
use std::process::ExitCode;

use pyo3::prelude::*;
use umbel_job::{Carrier, Error};

use crate::job::carrier::PyCarrier;

/// Runs the umbel command with these arguments, the first of them its own name, and returns its exit code. A signal ends the process.
#[pyfunction]
pub fn main(py: Python<'_>, args: Vec<OsString>) -> PyResult<u8> {
    umbel_cli::run_by(py.import("sys")?.getattr("executable")?.extract()?);
    Ok(py.detach(|| number(umbel_cli::main_from(args))))
}

/// The same with jobs on Spark: maker(name, master, partitions) returns what carries them.
#[pyfunction]
pub fn main_on_spark(py: Python<'_>, args: Vec<OsString>, maker: Py<PyAny>) -> u8 {
    let make = move |wishes: umbel_cli::Wishes| {
        let made = Python::attach(|py| {
            let made = maker.call1(py, (wishes.name, wishes.master, wishes.partitions));
            made.map_err(|error| Error::Other(error.value(py).to_string()))
        });
        Ok(Box::new(PyCarrier::new(made?)) as Box<dyn Carrier>)
    };
    py.detach(|| number(umbel_cli::main_on_spark(args, Box::new(make))))
}

/// The number of an exit code, which the type does not tell.
fn number(code: ExitCode) -> u8 {
    (0..=u8::MAX).find(|&number| ExitCode::from(number) == code).unwrap_or(2)
}
