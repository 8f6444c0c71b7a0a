//! `umbel gen`: data to try things on.

use std::process::ExitCode;

use anyhow::Result;

/// Make test data: strings, samples, ratings, addresses, names
#[derive(clap::Args)]
pub struct Args {}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        Ok(ExitCode::SUCCESS)
    }
}
