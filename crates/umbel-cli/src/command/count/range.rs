//! `umbel count range`: how much lies between two numbers?

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;

use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  umbel count build flows.csv --key port --integers 0..65535 -o ports.umbel
  umbel count range ports.umbel 1 1024          ports 1 to 1024, both included";

/// Print the weight of all keys in a range of integers: never too low
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A sketch built with --integers
    sketch: PathBuf,

    /// The least key
    #[arg(allow_negative_numbers = true)]
    from: i64,

    /// The greatest key
    #[arg(allow_negative_numbers = true)]
    to: i64,

    /// Ask the counts of this group
    #[arg(long, value_name = "NAME")]
    group: Option<String>,

    /// Print JSON, with the bound of the error
    #[arg(long)]
    json: bool,
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        let counts = super::open(&self.sketch, self.group.as_deref())?;
        let ranges = super::ranges(&counts, &self.sketch)?;
        let sum = ranges.sum(self.from..=self.to)?;
        let mut out = Output::stdout();
        if self.json {
            let object = json!({
                "from": self.from,
                "to": self.to,
                "estimate": sum.estimate,
                "bound": sum.bound,
                "confidence": 1.0 - ranges.params().delta(),
            });
            writeln!(out, "{object}")?;
        } else {
            writeln!(out, "{}", sum.estimate)?;
        }
        out.commit()?;
        Ok(ExitCode::SUCCESS)
    }
}
