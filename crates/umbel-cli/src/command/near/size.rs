//! `umbel near size`: what each structure would cost.

use std::process::ExitCode;

use anyhow::{Result, anyhow};
use serde_json::{Value, json};
use umbel::near::{Cost, Grid, Number, Params, Plan, Structure};
use umbel_io::number;

use super::distance::Distance;
use crate::table::{Table, grouped, percent, size};
use crate::{json, output};

const EXAMPLES: &str = "\
Examples:
  umbel near size -n 1000000 --alpha 5 --beta 0.01
  umbel near size -n 1000000 --alpha 5 --beta 0.01 --min 0 --max 1000     with the exact list";

/// What stays in the cache of one core, in bytes.
const IN_CACHE: u64 = 1 << 20;

/// What each structure would cost: bits a number, memory touched by a question, and which is taken
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// How many different numbers
    #[arg(short = 'n', value_name = "NUMBERS", value_parser = clap::value_parser!(u64).range(1..))]
    n: u64,

    /// The least number, where it is known
    #[arg(long, value_name = "NUMBER", requires = "max", allow_hyphen_values = true)]
    min: Option<String>,

    /// The greatest number, where it is known
    #[arg(long, value_name = "NUMBER", requires = "min", allow_hyphen_values = true)]
    max: Option<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    distance: Distance,
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        let grid = self.distance.grid()?;
        let params = Params::new(grid, self.n, self.distance.rate())?;
        let ends = match (&self.min, &self.max) {
            (Some(min), Some(max)) => Some([end("--min", min, &grid)?, end("--max", max, &grid)?]),
            _ => None,
        };
        let plan = Plan::new(&params, ends)?;
        output::print(match self.json {
            true => json::text(&object(&params, &plan))?,
            false => text(&params, &plan, ends.is_some()),
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

fn end(name: &str, text: &str, grid: &Grid) -> Result<Number> {
    number::parse(text.as_bytes(), grid)
        .map_err(|reason| anyhow!("{name} {text}: {}", reason.replacen("the key", "it", 1)))
}

fn text(params: &Params, plan: &Plan, ends: bool) -> String {
    let mut table =
        Table::new(["structure", "bits a number", "memory", "lines for a no", "wrong yes"]);
    let n = params.n();
    let bytes = |bits: f64| size((bits * n as f64 / 8.0) as u64);
    for Cost { structure, bits_per_value, lines, rate } in &plan.costs {
        table.row([
            structure.to_string(),
            format!("{bits_per_value:.2}"),
            bytes(*bits_per_value),
            format!("{lines:.1}"),
            percent(*rate),
        ]);
    }
    table.row([
        "a sorted array".into(),
        "64.00".into(),
        bytes(64.0),
        sorted_lines(n),
        percent(0.0),
    ]);
    let cells = grouped(params.grid().most_cells());
    format!(
        "{}\na question asks for up to {cells} cells; a line of memory has 64 bytes\n{}{}{}",
        table.render(),
        fixed(params, plan, ends),
        growing(plan),
        sorted(n)
    )
}

/// Lines that binary search touches: the last steps stay in one.
fn sorted_lines(n: u64) -> String {
    format!("{:.1}", ((n as f64).log2() - 2.0).max(1.0))
}

fn fixed(params: &Params, plan: &Plan, ends: bool) -> String {
    let reach = plan.exact_up_to * params.grid().beta();
    let Some(structure) = plan.fixed else {
        return "umbel near build takes none: they are more than one list holds (2^32 - 1); split them\n".into();
    };
    let reason = match (structure, ends) {
        (Structure::ExactList, _) => "it is smaller than any filter, and never wrong".to_owned(),
        (_, true) => "it is smaller than the exact list".to_owned(),
        (_, false) => {
            format!("the exact list is smaller only where all numbers lie within {reach:.3e}")
        }
    };
    format!("umbel near build takes the {structure}: {reason}\n")
}

fn growing(plan: &Plan) -> String {
    match plan.growing {
        Some(structure @ Structure::OneLevel) => format!(
            "with --growing, the {structure}: the cells of a question are few enough for one level\n"
        ),
        Some(structure) => format!(
            "with --growing, the {structure}: a coarse level says most noes to so many cells\n"
        ),
        None => "with --growing, none: the question is too wide, or the rate too low\n".into(),
    }
}

/// Says where nothing is gained.
fn sorted(n: u64) -> String {
    match n <= IN_CACHE / 8 {
        true => format!("a sorted array of {} stays in the cache and is as fast\n", size(8 * n)),
        false => String::new(),
    }
}

fn object(params: &Params, plan: &Plan) -> Value {
    let cost = |cost: &Cost| {
        json!({
            "structure": cost.structure.name(),
            "bits_per_number": cost.bits_per_value,
            "lines": cost.lines,
            "rate": cost.rate,
        })
    };
    json!({
        "n": params.n(),
        "alpha": params.grid().alpha(),
        "beta": params.grid().beta(),
        "p": params.p(),
        "cells": params.grid().most_cells(),
        "structures": plan.costs.iter().map(cost).collect::<Vec<_>>(),
        "fixed": plan.fixed.map(Structure::name),
        "growing": plan.growing.map(Structure::name),
        "exact_up_to_cells": plan.exact_up_to,
    })
}
