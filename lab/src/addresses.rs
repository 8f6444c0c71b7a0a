//! e1: a stream of addresses trains a filter and a count, another asks them (system E, streams on Spark).

use std::collections::{HashMap, HashSet};
use std::fs;
use std::time::Instant;

use anyhow::{Context, Result};
use umbel::{Conservative, CountMin, CountMinParams, Keys};

use crate::cluster::{Cluster, Engine};
use crate::data::Lines;
use crate::experiment::Experiment;
use crate::lab::Lab;
use crate::page::number::{plain, short, whole};
use crate::page::{Axis, Grid, Plot, Section, Series, Whose};
use crate::rows::{Book, Rows, cells};
use crate::spread::Spread;

pub const E1: Experiment = Experiment {
    id: "e1",
    title: "Seen, and how often: a stream of addresses",
    columns: &["what", "parameter", "repetition", "figure", "value"],
    key: 2,
    engines: false,
    measure,
    show,
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
    // In a quick run there is no cluster, and the section says so.
    if lab.quick { Ok(()) } else { on_spark(lab, book) }
}

/// The command that makes a sketch of the training stream, by its name.
const SKETCHES: [(&str, &[&str]); 2] =
    [("filter", &["build", "-p", "0.01"]), ("count", &["count", "build", "--eps", "0.0001"])];

/// Filter and count of the training stream on Spark: the same bytes as here, so that all that was measured above holds there too.
fn on_spark(lab: &Lab, book: &mut Book) -> Result<()> {
    if SKETCHES.iter().all(|(what, _)| book.has(&["spark", what])) {
        return Ok(());
    }
    streams(lab, 1)?;
    let table = lab.work().join(train_file(lab, 1));
    let (here, spark) =
        (Cluster::start(lab, Engine::Local, &table)?, Cluster::start(lab, Engine::Spark, &table)?);
    for (what, command) in SKETCHES {
        book.case(&["spark", what], || {
            let mut rows = Vec::new();
            for repetition in 1..=lab.repetitions() {
                let mut seconds = [0.0; 2];
                for (cluster, seconds) in [&here, &spark].into_iter().zip(&mut seconds) {
                    let (input, output) = cluster.place(&table, "sketch.umbel");
                    let start = Instant::now();
                    cluster.umbel(&[command, &[&input, "-o", &output]].concat())?;
                    *seconds = start.elapsed().as_secs_f64();
                }
                let same = here.bytes("sketch.umbel")? == spark.bytes("sketch.umbel")?;
                rows.push(cells(&[&repetition, &"same bytes", &u8::from(same)]));
                rows.push(cells(&[&repetition, &"seconds here", &seconds[0]]));
                rows.push(cells(&[&repetition, &"seconds on spark", &seconds[1]]));
            }
            Ok(rows)
        })?;
    }
    Ok(())
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
        let low = errors.iter().filter(|&&error| error < 0.0).count();
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        let most = errors.iter().copied().fold(0.0, f64::max);
        for (figure, value) in [
            ("mean error", mean),
            ("greatest error", most),
            ("share above the bound", above),
            ("too low", low as f64),
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

fn tally<'a>(keys: &[&'a [u8]]) -> HashMap<&'a [u8], u64> {
    let mut counts = HashMap::new();
    keys.iter().for_each(|&key| *counts.entry(key).or_insert(0) += 1);
    counts
}

fn show(rows: &Rows) -> Section {
    let counts = rows.with("what", "count");
    let spread = |eps: &str, figure: &str| {
        counts.with("parameter", eps).with("figure", figure).spread("value")
    };
    let total = counts.with("figure", "addresses").number("value").unwrap_or(1.0);
    let eps: Vec<String> = counts.different("parameter");
    let line = |name: &str, figure: &str, by: f64| {
        let point = |eps: &String| {
            (eps.parse().unwrap_or(0.0), spread(eps, figure).map(|spread| spread.scaled(by)))
        };
        Series::medians(name, eps.iter().map(point))
    };
    let bound = Series::new(
        "bound: eps",
        Whose::Theory,
        eps.iter().map(|eps| eps.parse().unwrap_or(0.0)).map(|eps: f64| (eps, eps)),
    );
    let mut table = Grid::new(
        "Counts too high by, as mean · median · interval of the repetitions",
        &[
            "eps",
            "bound",
            "plain: mean of all addresses",
            "greatest",
            "conservative: mean",
            "greatest",
            "above the bound, %",
            "inner product, share of |a|·|b|",
        ],
    );
    for eps in &eps {
        let cell = |figure: &str, by: f64| {
            spread(eps, figure).map_or(String::new(), |spread| spread.text(by))
        };
        table.push(vec![
            eps.clone(),
            whole(eps.parse::<f64>().unwrap_or(0.0) * total),
            cell("plain: mean error", 1.0),
            cell("plain: greatest error", 1.0),
            cell("conservative: mean error", 1.0),
            cell("conservative: greatest error", 1.0),
            cell("plain: share above the bound", 100.0),
            cell("product: error", 1.0),
        ]);
    }
    let (seen, wrong, missed) = seen_table(&rows.with("what", "seen"));
    let low: f64 = ["plain: too low", "conservative: too low"]
        .iter()
        .map(|figure| counts.with("figure", figure).numbers("value").iter().sum::<f64>())
        .sum();
    let ratio = |eps: &str| {
        Some(
            spread(eps, "plain: mean error")?.median
                / spread(eps, "conservative: mean error")?.median,
        )
    };
    Section {
        lead: vec![
            format!("A training stream of {} addresses, drawn by Zipf's law (exponent {ZIPF}), written without dots as published; then every different address of it and of another stream is asked for. `umbel stream` answers seen or not from a filter; counts are kept in a count-min sketch of w = ⌈e/eps⌉ columns and d = ⌈ln 1/delta⌉ rows, delta = 0.01, plain and with conservative update. Nothing was published but the method, so there are no figures to set beside these.", short(total)),
        ],
        plots: vec![
            Plot {
                title: "Error of a count".into(),
                x: Axis::log("eps"),
                y: Axis::log("too high by, share of all"),
                series: vec![bound.clone(), line("plain: greatest", "plain: greatest error", 1.0 / total), line("plain: mean", "plain: mean error", 1.0 / total), line("conservative: mean", "conservative: mean error", 1.0 / total)],
                caption: "How much too high the counts of all addresses are, against eps; both axes are logarithmic.".into(),
            },
            Plot {
                title: "Error of an inner product".into(),
                x: Axis::log("eps"),
                y: Axis::log("too high by, share of |a|·|b|"),
                series: vec![bound, line("two streams", "product: error", 1.0)],
                caption: "How much too high the inner product of the two streams is estimated, against eps.".into(),
            },
        ],
        tables: [seen, table].into_iter().chain(spark_table(&rows.with("what", "spark"))).collect(),
        notes: match rows.with("what", "spark").is_empty() {
            true => vec!["The part on Spark was left out: it is skipped in quick runs.".into()],
            false => Vec::new(),
        },
        result: format!(
            "No address that was seen is denied ({missed} of all repetitions), {} % of strangers are called seen at 1 % asked; no count is too low ({low}). At eps = 0.0001 conservative update errs {} times less.",
            plain(wrong), ratio("0.0001").map_or("?".into(), plain)
        ),
        ..Section::default()
    }
}

/// The table, the rate of wrong answers at 1 % in percent, and the false negatives of all.
fn seen_table(rows: &Rows) -> (Grid, f64, f64) {
    let mut table = Grid::new(
        "Seen or not, exact",
        &[
            "asked rate, %",
            "members",
            "false negatives",
            "strangers",
            "false positives, %: mean · median · interval",
        ],
    );
    let (mut at_one, mut all_missed) = (0.0, 0.0);
    for rate in rows.different("parameter") {
        let rows = rows.with("parameter", &rate);
        let figure = |name: &str| rows.with("figure", name).numbers("value");
        let missed: f64 = figure("false negatives").iter().sum();
        let rates: Vec<f64> = figure("false positives")
            .iter()
            .zip(figure("strangers"))
            .map(|(wrong, asked)| 100.0 * wrong / asked)
            .collect();
        let Some(spread) = Spread::of(rates) else { continue };
        let first = |name: &str| whole(figure(name).first().copied().unwrap_or(0.0));
        table.push(vec![
            plain(100.0 * rate.parse::<f64>().unwrap_or(0.0)),
            first("members"),
            whole(missed),
            first("strangers"),
            spread.text(1.0),
        ]);
        all_missed += missed;
        if rate == "0.01" {
            at_one = spread.median;
        }
    }
    (table, at_one, all_missed)
}

fn spark_table(rows: &Rows) -> Option<Grid> {
    let mut table = Grid::new(
        "The training stream on Spark: seconds of the command as mean · median · interval",
        &["sketch", "here", "on Spark, with its start", "the same bytes"],
    );
    for what in rows.different("parameter") {
        let rows = rows.with("parameter", &what);
        let figure = |name: &str| rows.with("figure", name);
        let cell = |name: &str| {
            figure(name).spread("value").map_or(String::new(), |spread| spread.text(1.0))
        };
        let same = figure("same bytes").numbers("value").iter().all(|&same| same == 1.0);
        table.push(vec![
            what,
            cell("seconds here"),
            cell("seconds on spark"),
            if same { "yes" } else { "NO" }.into(),
        ]);
    }
    (!rows.is_empty()).then_some(table)
}
