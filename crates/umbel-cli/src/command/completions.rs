//! `umbel completions`: from the same definition as the help.

use std::io;
use std::process::ExitCode;

use anyhow::Result;
use clap::CommandFactory;
use clap_complete::Shell;

/// Print a completion script for a shell
#[derive(clap::Args)]
pub struct Args {
    /// The shell
    shell: Shell,
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        clap_complete::generate(
            self.shell,
            &mut super::Umbel::command(),
            "umbel",
            &mut io::stdout(),
        );
        Ok(ExitCode::SUCCESS)
    }
}
