//! e1: a stream of addresses trains a filter and a count, another asks them (system E, streams on Spark).

mod show;
mod spark;

use std::collections::{HashMap, HashSet};
use std::fs;

use anyhow::{Context, Result, ensure};
use umbel::{Conservative, CountMin, CountMinParams, Keys};

use crate::data::Lines;
use crate::experiment::Experiment;
use crate::lab::Lab;
use crate::rows::{Book, cells};

pub const E1: Experiment = Experiment {
    id: "e1",
    title: "Seen, and how often: a stream of addresses",
    columns: &["what", "parameter", "repetition", "figure", "value"],
    key: 2,
    engines: false,
    measure,
    show: show::show,
};

const RATES: [&str; 3] = ["0.1", "0.01", "0.001"];
const EPS: [&str; 5] = ["0.01", "0.001", "0.0001", "0.00001", "0.000001"];
const DELTA: f64 = 0.01;
/// How often the i-th address comes: i^-1.1.
const ZIPF: &str = "1.1";

fn measure(lab: &Lab, book: &mut Book) -> Result<()> {
    let repetitions = lab.repetitions();
    for rate in &RATES[..lab.amount(3, 2)] {
        book.case(&["seen", rate], || {
            let rows = (1..=repetitions).map(|repetition| seen(lab, rate, repetition));
            Ok(rows.collect::<Result<Vec<_>>>()?.concat())
        })?;
    }
    for eps in &EPS[..lab.amount(5, 3)] {
        book.case(&["count", eps], || {
            let rows = (1..=repetitions).map(|repetition| counted(lab, eps.parse()?, repetition));
            Ok(rows.collect::<Result<Vec<_>>>()?.concat())
        })?;
    }
    if lab.quick {
        eprintln!("e1    the same streams on Spark: skipped under QUICK");
        return Ok(());
    }
    spark::measure(lab, book)
}

/// A training stream, and a stream of questions: half of it from the same crowd, half from another.
fn streams(lab: &Lab, repetition: usize) -> Result<(Lines, Lines)> {
    let n = lab.amount(1_000_000, 100_000).to_string();
    let distinct = lab.amount(300_000, 30_000).to_string();
    let make = |name: String, seed: usize| {
        let seed = seed.to_string();
        lab.data(
            &name,
            &[
                "addresses",
                "-n",
                &n,
                "--distinct",
                &distinct,
                "--zipf",
                ZIPF,
                "--plain",
                "--seed",
                &seed,
            ],
        )
    };
    let train = make(train_file(lab, repetition), repetition)?;
    let strangers = make(train_file(lab, repetition).replace("train", "ask"), 100 + repetition)?;
    Ok((Lines::read(&train)?, Lines::read(&strangers)?))
}

fn train_file(lab: &Lab, repetition: usize) -> String {
    format!("addresses-train-{}-{repetition}.txt", lab.amount(1_000_000, 100_000))
}

/// `umbel stream` with two files: what it says of each address that was asked, against the truth.
fn seen(lab: &Lab, rate: &str, repetition: usize) -> Result<Vec<Vec<String>>> {
    let (train, others) = streams(lab, repetition)?;
    let truth: HashSet<&[u8]> = train.keys().into_iter().collect();
    let asked: HashSet<&[u8]> = others.keys().into_iter().chain(truth.iter().copied()).collect();
    let queries = lab.work().join("queries.txt");
    fs::write(&queries, asked.iter().copied().collect::<Vec<_>>().join(&b'\n'))?;
    let name = train_file(lab, repetition);
    let n = truth.len().to_string();
    let said = lab.output(
        "umbel",
        &["stream", "--train", &name, "--query", "queries.txt", "--filter", "-n", &n, "-p", rate],
    )?;
    ensure!(said.lines().count() == asked.len(), "not every question was answered");
    let (mut missed, mut wrong) = (0, 0);
    for line in said.lines() {
        let (key, answer) = line.split_once('\t').with_context(|| format!("an answer: {line}"))?;
        match (truth.contains(key.as_bytes()), answer == "1") {
            (true, false) => missed += 1,
            (false, true) => wrong += 1,
            _ => {}
        }
    }
    let strangers = asked.len() - truth.len();
    let figures: [(&str, usize); 4] = [
        ("members", truth.len()),
        ("false negatives", missed),
        ("strangers", strangers),
        ("false positives", wrong),
    ];
    Ok(figures.iter().map(|(figure, value)| cells(&[&repetition, figure, value])).collect())
}

/// Counts of the training stream, plain and conservative, against the truth; and the inner product of both streams.
fn counted(lab: &Lab, eps: f64, repetition: usize) -> Result<Vec<Vec<String>>> {
    let (train, others) = streams(lab, repetition)?;
    let params = CountMinParams::for_error(eps, DELTA)?.with_seed(repetition as u64);
    let (keys, other_keys) = (train.keys(), others.keys());
    let mut plain = CountMin::new(params)?;
    let mut other = CountMin::new(params)?;
    let mut conservative = Conservative::new(params)?;
    plain.add_batch(Keys::Bytes(&keys))?;
    other.add_batch(Keys::Bytes(&other_keys))?;
    conservative.add_batch(Keys::Bytes(&keys))?;
    let truth = tally(&keys);
    let mut rows = Vec::new();
    for (name, estimate) in [
        ("plain", &(|key: &[u8]| plain.estimate(key)) as &dyn Fn(&[u8]) -> u64),
        ("conservative", &|key| conservative.estimate(key)),
    ] {
        let errors: Vec<f64> =
            truth.iter().map(|(key, &count)| estimate(key) as f64 - count as f64).collect();
        let bound = eps * keys.len() as f64;
        let above =
            errors.iter().filter(|&&error| error > bound).count() as f64 / errors.len() as f64;
        let (mean, most, low) = errors_of(&errors);
        for (figure, value) in [
            ("mean error", mean),
            ("greatest error", most),
            ("share above the bound", above),
            ("too low", low),
        ] {
            rows.push(cells(&[&repetition, &format!("{name}: {figure}"), &value]));
        }
    }
    let product = plain.inner_product(&other)?;
    let others = tally(&other_keys);
    let exact: u64 = truth.iter().filter_map(|(key, count)| Some(count * others.get(key)?)).sum();
    let error = product.estimate as f64 - exact as f64;
    let size = (keys.len() * other_keys.len()) as f64;
    rows.push(cells(&[&repetition, &"product: error", &(error / size)]));
    rows.push(cells(&[&repetition, &"addresses", &keys.len()]));
    Ok(rows)
}

/// The mean, the greatest, and how many are below zero.
fn errors_of(errors: &[f64]) -> (f64, f64, f64) {
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    let low = errors.iter().filter(|&&error| error < 0.0).count();
    (mean, errors.iter().copied().fold(0.0, f64::max), low as f64)
}

fn tally<'a>(keys: &[&'a [u8]]) -> HashMap<&'a [u8], u64> {
    let mut counts = HashMap::new();
    keys.iter().for_each(|&key| *counts.entry(key).or_insert(0) += 1);
    counts
}
