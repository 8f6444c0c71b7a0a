//! `umbel completions`: from the same definition as the help.

use std::process::ExitCode;

use anyhow::Result;
use clap_complete::Shell;

use crate::output;

#[derive(clap::Args)]
pub struct Args {
    /// The shell
    shell: Shell,
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        // Made in memory, for the generator knows no other answer to a closed pipe than a panic.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut super::Umbel::whole(), "umbel", &mut script);
        output::print(script)?;
        Ok(ExitCode::SUCCESS)
    }
}
