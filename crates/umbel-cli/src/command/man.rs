//! `umbel man`: from the same definition as the help.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Result;
use clap::Command;

use crate::output;

#[derive(clap::Args)]
pub struct Args {}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        let mut command = super::Umbel::whole();
        command.build();
        let mut page = Vec::new();
        clap_mangen::Man::new(command.clone()).render(&mut page)?;
        sections(&command, &mut page)?;
        let mut page = String::from_utf8(page)?;
        for subcommand in command.get_subcommands() {
            // The generator refers to pages of their own; ours are sections of this one.
            let name = subcommand.get_name();
            page = page.replace(&format!("umbel\\-{name}(1)"), &format!("umbel {name}"));
        }
        // What the generator calls extra are examples, in all our help.
        let page = page.replace(" EXTRA\n", " EXAMPLES\n");
        output::print(page)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// A section for each subcommand, with its own behind it.
fn sections(command: &Command, page: &mut Vec<u8>) -> io::Result<()> {
    for subcommand in command.get_subcommands() {
        if subcommand.is_hide_set() || subcommand.get_name() == "help" {
            continue;
        }
        let name = subcommand.get_bin_name().unwrap_or(subcommand.get_name());
        writeln!(page, ".SH {}", name.to_uppercase())?;
        let man = clap_mangen::Man::new(subcommand.clone());
        let mut section = Vec::new();
        man.render_description_section(&mut section)?;
        man.render_options_section(&mut section)?;
        man.render_extra_section(&mut section)?;
        // Their headings stand below that of the subcommand.
        page.extend(String::from_utf8_lossy(&section).replace(".SH ", ".SS ").bytes());
        sections(subcommand, page)?;
    }
    Ok(())
}
