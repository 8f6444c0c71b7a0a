//! `umbel count dot`: the inner product of two sketches.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use serde_json::json;

use crate::output::Output;
use crate::table::percent;

const EXAMPLES: &str = "\
Examples:
  umbel count dot orders.umbel clicks.umbel     the size of a join by key
  umbel count dot hits.umbel hits.umbel         the second moment";

/// Estimate the inner product of two sketches: the sum over all keys of count times count
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A sketch
    first: PathBuf,

    /// Another with the same parameters, or the same
    second: PathBuf,

    /// Take the counts of this group
    #[arg(long, value_name = "NAME")]
    group: Option<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        let group = self.group.as_deref();
        let (first, second) = (super::open(&self.first, group)?, super::open(&self.second, group)?);
        let (a, b) = (super::plain(&first, &self.first)?, super::plain(&second, &self.second)?);
        let product = a
            .inner_product(b)
            .with_context(|| format!("{} and {}", self.first.display(), self.second.display()))?;
        let mut out = Output::stdout();
        let confidence = 1.0 - a.params().delta();
        if self.json {
            let object = json!({
                "estimate": product.estimate.to_string(),
                "bound": product.bound,
                "confidence": confidence,
            });
            writeln!(out, "{object}")?;
        } else {
            writeln!(out, "inner product  {}", product.estimate)?;
            writeln!(
                out,
                "never too low; too high by at most {:.0} with a probability of {}",
                product.bound,
                percent(confidence)
            )?;
        }
        out.commit()?;
        Ok(ExitCode::SUCCESS)
    }
}
