//! `umbel man`: from the same definition as the help.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Result;
use clap::CommandFactory;

/// Print the manual page, all subcommands included (umbel man | man -l -)
#[derive(clap::Args)]
pub struct Args {}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        let command = super::Umbel::command();
        let mut page = Vec::new();
        clap_mangen::Man::new(command.clone()).render(&mut page)?;
        for subcommand in command.get_subcommands().filter(|c| !c.is_hide_set()) {
            writeln!(page, ".SH UMBEL {}", subcommand.get_name().to_uppercase())?;
            let man = clap_mangen::Man::new(subcommand.clone());
            man.render_description_section(&mut page)?;
            man.render_options_section(&mut page)?;
        }
        io::stdout().write_all(&page)?;
        Ok(ExitCode::SUCCESS)
    }
}
