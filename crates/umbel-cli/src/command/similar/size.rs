//! `umbel similar size`: what a filter would cost.

use std::process::ExitCode;

use anyhow::{Result, bail};
use serde_json::json;
use umbel::similar::Params;

use super::asking::{Distance, Metric};
use crate::table::{grouped, percent, size};
use crate::{json, output};

const EXAMPLES: &str = "\
Examples:
  umbel similar size -n 1000000 --metric jaccard --close 0.2 --far 0.95
  umbel similar size -n 10000 --metric cosine --dim 768 --close 0.02 --far 0.9
  umbel similar size -n 10000 --metric hamming --dim 1024 --close 0.05 --far 0.5 --fp 0.001";

/// What a filter would cost: bits an item, bands and samples, and whether it is worth it
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// How many items
    #[arg(short = 'n', value_name = "ITEMS", value_parser = clap::value_parser!(u64).range(1..))]
    n: u64,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    distance: Distance,
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        if self.distance.metric()? == Metric::Hamming && self.distance.dim.is_none() {
            bail!("the cost depends on how many bits a string has: give --dim");
        }
        let space = self.distance.space(self.distance.dim.unwrap_or(1))?;
        let params = Params::at_any_cost(space, self.n, &self.distance.promise()?)?;
        let item_bits = self.distance.dim.and(space.item_bits());
        output::print(match self.json {
            true => json::text(&object(&params, item_bits))?,
            false => text(&params, item_bits),
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

fn text(params: &Params, item_bits: Option<u64>) -> String {
    let shape = params.shape();
    let worth = match item_bits {
        Some(bits) if params.check_worth(bits as f64).is_err() => {
            format!("{} bits an item: store them instead", grouped(bits))
        }
        Some(bits) => format!("{} bits an item", grouped(bits)),
        None => "their own length: a filter is worth it where that is more".into(),
    };
    let lines = [
        ("bits an item", format!("{:.1}", params.bits_per_item())),
        ("memory", size(params.bits().div_ceil(8))),
        ("bands (k)", format!("{} of {} samples (t)", grouped(shape.bands.into()), shape.samples)),
        ("close from (tau)", format!("{} bands on", shape.threshold)),
        ("bits a band (m)", format!("{}, {} probes (q)", grouped(shape.bits), shape.probes)),
        ("false positives", percent(params.false_positives())),
        ("false negatives", percent(params.false_negatives())),
        ("items themselves", worth),
    ];
    lines.map(|(name, value)| format!("{name:<18} {value}\n")).concat()
}

fn object(params: &Params, item_bits: Option<u64>) -> serde_json::Value {
    let shape = params.shape();
    json!({
        "metric": params.space().metric(),
        "n": params.n(),
        "close": params.close(),
        "far": params.far(),
        "bits": params.bits(),
        "bits_per_item": params.bits_per_item(),
        "bands": shape.bands,
        "samples": shape.samples,
        "threshold": shape.threshold,
        "probes": shape.probes,
        "bits_per_band": shape.bits,
        "width": shape.width,
        "false_positives": params.false_positives(),
        "false_negatives": params.false_negatives(),
        "item_bits": item_bits,
    })
}
