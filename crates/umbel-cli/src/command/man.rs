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
        let mut command = unhidden(super::Umbel::whole());
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
        let page = page
            .replace(" EXTRA\n", " EXAMPLES\n")
            .replace(" EXAMPLES\nExamples:\n", " EXAMPLES\n");
        let page = with_lines(&page);
        let page: String = page.chars().map(spelled).collect();
        output::print(page)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The command with no option left out of the short help: the generator would leave its text out too.
fn unhidden(command: Command) -> Command {
    command.mut_args(|option| option.hide_short_help(false)).mut_subcommands(unhidden)
}

/// The page with its indented lines, which are examples, left as they are.
fn with_lines(page: &str) -> String {
    let (mut text, mut in_example) = (String::new(), false);
    for line in page.lines() {
        if line.starts_with(' ') != in_example {
            in_example = !in_example;
            text += if in_example { ".nf\n" } else { ".fi\n" };
        }
        text.extend([line, "\n"]);
    }
    text
}

/// A letter as typesetters read it whatever their encoding.
fn spelled(letter: char) -> String {
    if letter.is_ascii() { letter.into() } else { format!("\\[u{:04X}]", u32::from(letter)) }
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
