//! What is shown of e1.

use super::ZIPF;
use super::spark::{BATCHES, EPS, RATE};
use crate::page::number::{plain, short, whole};
use crate::page::{Axis, Grid, Plot, Section, Series, Whose};
use crate::rows::Rows;
use crate::spread::Spread;

pub fn show(rows: &Rows) -> Section {
    let [counts, seen, spark] = ["count", "seen", "spark"].map(|what| rows.with("what", what));
    let total = counts.with("figure", "addresses").number("value").unwrap_or(1.0);
    let mut tables = vec![seen_table(&seen), count_table(&counts, total)];
    tables.extend((!spark.is_empty()).then(|| spark_table(&spark)));
    Section {
        lead: lead(total),
        plots: vec![count_plot(&counts, total), product_plot(&counts)],
        tables,
        notes: vec![spark_note(&spark)],
        result: result(&seen, &counts, &spark),
        ..Section::default()
    }
}

fn lead(total: f64) -> Vec<String> {
    vec![format!(
        "A training stream of {} addresses, drawn by Zipf's law (exponent {ZIPF}), written without dots as published; then every different address of it and of another stream is asked for. `umbel stream` answers seen or not from a filter; counts are kept in a count-min sketch of w = ⌈e/eps⌉ columns and d = ⌈ln 1/delta⌉ rows, delta = 0.01, plain and with conservative update. Nothing was published but the method, so there are no figures to set beside these.",
        short(total)
    )]
}

/// What the repetitions of a figure come to at one eps.
fn at(counts: &Rows, eps: &str, figure: &str) -> Option<Spread> {
    counts.with("parameter", eps).with("figure", figure).spread("value")
}

/// A figure against eps.
fn line(counts: &Rows, name: &str, figure: &str, by: f64) -> Series {
    let eps = counts.different("parameter");
    let point = |eps: &String| {
        let spread = at(counts, eps, figure).map(|spread| spread.scaled(by));
        (eps.parse().unwrap_or(0.0), spread)
    };
    Series::medians(name, eps.iter().map(point))
}

fn bound(counts: &Rows) -> Series {
    let eps = counts.different("parameter").into_iter().filter_map(|eps| eps.parse().ok());
    Series::new("bound: eps", Whose::Theory, eps.map(|eps: f64| (eps, eps)))
}

fn count_plot(counts: &Rows, total: f64) -> Plot {
    let line = |name: &str, figure: &str| line(counts, name, figure, 1.0 / total);
    Plot {
        title: "Error of a count".into(),
        x: Axis::log("eps"),
        y: Axis::log("too high by, share of all"),
        series: vec![
            bound(counts),
            line("plain: greatest", "plain: greatest error"),
            line("plain: mean", "plain: mean error"),
            line("conservative: mean", "conservative: mean error"),
        ],
        caption: "How much too high the counts of all addresses are, against eps; both axes are logarithmic, and where no count was too high nothing is drawn.".into(),
    }
}

fn product_plot(counts: &Rows) -> Plot {
    Plot {
        title: "Error of an inner product".into(),
        x: Axis::log("eps"),
        y: Axis::log("too high by, share of |a|·|b|"),
        series: vec![bound(counts), line(counts, "two streams", "product: error", 1.0)],
        caption:
            "How much too high the inner product of the two streams is estimated, against eps."
                .into(),
    }
}

fn count_table(counts: &Rows, total: f64) -> Grid {
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
    for eps in counts.different("parameter") {
        let cell = |figure: &str, by: f64| {
            at(counts, &eps, figure).map_or(String::new(), |spread| spread.text(by))
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
    table
}

fn seen_table(rows: &Rows) -> Grid {
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
    for rate in rows.different("parameter") {
        let rows = rows.with("parameter", &rate);
        let Some(wrong) = wrong(&rows) else { continue };
        let first =
            |figure: &str| rows.with("figure", figure).number("value").map_or(String::new(), whole);
        table.push(vec![
            plain(100.0 * rate.parse::<f64>().unwrap_or(0.0)),
            first("members"),
            whole(sum(&rows, "false negatives")),
            first("strangers"),
            wrong.text(1.0),
        ]);
    }
    table
}

/// The rates of false positives in percent.
fn wrong(rows: &Rows) -> Option<Spread> {
    let figure = |name: &str| rows.with("figure", name).numbers("value");
    let (wrong, asked) = (figure("false positives"), figure("strangers"));
    Spread::of(wrong.iter().zip(asked).map(|(wrong, asked)| 100.0 * wrong / asked).collect())
}

/// A figure of all repetitions together.
fn sum(rows: &Rows, figure: &str) -> f64 {
    rows.with("figure", figure).numbers("value").iter().sum()
}

fn spark_table(rows: &Rows) -> Grid {
    let mut table = Grid::new(
        "The same streams on Spark, as mean · median · interval",
        &["what", "all repetitions together", "each"],
    );
    let cell = |figure: &str| {
        rows.with("figure", figure).spread("value").map_or(String::new(), |spread| spread.text(1.0))
    };
    let wrong = wrong(rows).map_or(String::new(), |spread| spread.text(1.0));
    for (what, together, each) in [
        ("false negatives", whole(sum(rows, "false negatives")), String::new()),
        ("false positives; each: %", whole(sum(rows, "false positives")), wrong),
        ("counts too low", whole(sum(rows, "too low")), String::new()),
        ("counts too high by, mean of all addresses", String::new(), cell("mean error")),
        ("counts too high by, greatest", String::new(), cell("greatest error")),
        ("inner product too high by, share of |a|·|b|", String::new(), cell("product: error")),
        ("seconds to train the filter", String::new(), cell("filter")),
        ("seconds to train the count", String::new(), cell("count")),
        ("seconds to answer", String::new(), cell("answer")),
    ] {
        table.push(vec![what.into(), together, each]);
    }
    table
}

fn is_same(rows: &Rows) -> bool {
    rows.with("figure", "the same as here").numbers("value").iter().all(|&same| same == 1.0)
}

fn spark_note(rows: &Rows) -> String {
    if rows.is_empty() {
        return "The part on Spark was left out: it is skipped in quick runs.".into();
    }
    format!(
        "On Spark (a master and two workers on this machine) `umbel.spark.stream` trains a filter of {} % and counts of eps = {EPS}, delta = 0.01, with the same streams in {BATCHES} batches each; another stream asks for every address, whether it was seen and how often, and for the inner product of both streams. Each batch writes the whole sketch, so that it counts exactly once; seconds are those of a whole query, from its start to its end, with all of its batches. Sketches and answers are the same as here, byte by byte: {}. The counts of this table are not those of the one above: here each sketch has the default seed, there a seed of its own for each repetition, so that other addresses collide and the greatest error is another.",
        plain(100.0 * RATE),
        if is_same(rows) { "yes" } else { "NO" }
    )
}

fn result(seen: &Rows, counts: &Rows, spark: &Rows) -> String {
    let at_one = wrong(&seen.with("parameter", "0.01")).map_or(0.0, |spread| spread.median);
    let low: f64 = ["plain: too low", "conservative: too low"].map(|f| sum(counts, f)).iter().sum();
    let mean = |figure| Some(at(counts, "0.0001", figure)?.median);
    let ratio = match (mean("plain: mean error"), mean("conservative: mean error")) {
        (Some(plainly), Some(conservative)) => plain(plainly / conservative),
        _ => "?".into(),
    };
    let there = match (spark.is_empty(), is_same(spark)) {
        (true, _) => "",
        (_, true) => " On Spark the sketches, the answers and the inner product are the same.",
        (_, false) => " On Spark they DIFFER.",
    };
    format!(
        "No address that was seen is denied ({} of all repetitions), {} % of strangers are called seen at 1 % asked; no count is too low ({low}). At eps = 0.0001 conservative update errs {ratio} times less.{there}",
        sum(seen, "false negatives"),
        plain(at_one)
    )
}
