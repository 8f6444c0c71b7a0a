//! `umbel count quantile`: below which number lies this share?

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;

use crate::notice;
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  umbel count build times.csv --key ms --integers 0..3600000 -o times.umbel
  umbel count quantile times.umbel 0.5 0.99     what 50 % and 99 % do not exceed
Exit code: 0 = printed, 1 = nothing was counted, 2 = an error.";

/// Print the number that has a given share of the weight at or below it
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A sketch built with --integers
    sketch: PathBuf,

    /// Shares from 0 to 1
    #[arg(required = true)]
    shares: Vec<f64>,

    /// Ask the counts of this group
    #[arg(long, value_name = "NAME")]
    group: Option<String>,

    /// Print JSON, one object a line, with the bound of the error
    #[arg(long)]
    json: bool,
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        let counts = super::open(&self.sketch, self.group.as_deref())?;
        let ranges = super::ranges(&counts, &self.sketch)?;
        let mut out = Output::stdout();
        for &share in &self.shares {
            let Some(quantile) = ranges.quantile(share)? else {
                notice::warn("nothing was counted: there are no quantiles");
                return Ok(ExitCode::from(1));
            };
            if self.json {
                let object = json!({
                    "share": share,
                    "value": quantile.value,
                    "bound": quantile.bound,
                    "confidence": 1.0 - ranges.params().delta(),
                });
                writeln!(out, "{object}")?;
            } else {
                writeln!(out, "{share}\t{}", quantile.value)?;
            }
        }
        out.commit()?;
        Ok(ExitCode::SUCCESS)
    }
}
