//! Published experiments with membership filters, done again with umbel, and a page of what came of them.
//!
//! `umbel-lab [--quick] [--again] [--draw] [ID…]` does the experiments with these ids, or all of them. Rows are kept as they come:
//! a run that was stopped goes on where it was, and what is finished is not measured twice unless `--again` is said. The page is
//! drawn from the rows alone; `--draw` does no more than that. `--quick` is a small version of everything, with results of its own.

mod addresses;
mod bench;
mod cluster;
mod command;
mod data;
mod distances;
mod experiment;
mod hashes;
mod journal;
mod lab;
mod latency;
mod machine;
mod names;
mod neighbours;
mod page;
mod peers;
mod ratings;
mod rows;
mod running;
mod screening;
mod spread;
mod stop;
mod threads;
mod traffic;
mod walltime;

use anyhow::{Result, bail};

use experiment::Experiment;
use lab::Lab;

/// In the order of the page.
const EXPERIMENTS: &[Experiment] = &[
    screening::A1,
    threads::A2,
    threads::A3,
    ratings::B1,
    traffic::B2,
    walltime::B3,
    names::C1,
    latency::C2,
    neighbours::D1,
    hashes::D2,
    distances::D3,
    addresses::E1,
    peers::F1,
];

fn main() -> Result<()> {
    let mut lab = Lab::new()?;
    let (mut draw, mut ids) = (false, Vec::new());
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--quick" => lab.quick = true,
            "--again" => lab.again = true,
            "--draw" => draw = true,
            id if EXPERIMENTS.iter().any(|experiment| experiment.id == id) => ids.push(argument),
            other => bail!("there is no experiment {other}: {}", known()),
        }
    }
    if !draw {
        stop::install();
        lab.prepare()?;
        let wanted =
            |experiment: &&Experiment| ids.is_empty() || ids.iter().any(|id| id == experiment.id);
        for experiment in EXPERIMENTS.iter().filter(wanted) {
            experiment.run(&lab)?;
        }
    }
    page::write(&lab, EXPERIMENTS)
}

fn known() -> String {
    EXPERIMENTS.iter().map(|experiment| experiment.id).collect::<Vec<_>>().join(", ")
}
