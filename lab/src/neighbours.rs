//! d1: "is there one within alpha?", beside other ways to search (system D, distance-sensitive membership in Python).

use anyhow::{Context, Result};

use crate::experiment::Experiment;
use crate::lab::Lab;
use crate::page::number::{plain, short};
use crate::page::{Axis, Grid, Plot, Section, Series, Whose};
use crate::rows::{Book, Rows, cells};

pub const D1: Experiment = Experiment {
    id: "d1",
    title: "Near match beside other ways to search",
    columns: &["values", "ratio", "way", "bits", "absent_ns", "present_ns", "wrong_percent"],
    key: 2,
    engines: false,
    measure,
    show,
};

const RATIOS: [&str; 4] = ["1", "10", "100", "1000"];
const THEIRS: &str = "a probe a cell, a plain filter";
/// What is drawn: the name in the table, the name in the plot.
const DRAWN: [(&str, &str); 6] = [
    ("Grafite list, batch", "Grafite list, in batches"),
    ("growing filter, batch", "growing filter, in batches"),
    ("exact list, batch", "exact list, in batches"),
    ("sorted Vec", "sorted array"),
    ("HashSet of cells", "hash set, a lookup a cell"),
    (THEIRS, "the published way"),
];

fn measure(lab: &Lab, book: &mut Book) -> Result<()> {
    for size in lab.amount(&["10K", "1M", "10M"][..], &["10K"]) {
        for ratio in &RATIOS[..lab.amount(4, 2)] {
            book.case(&[size, ratio], || {
                let tables = lab.bench(&["--near", size, ratio])?;
                tables[0].lines.iter().map(|line| row(line)).collect()
            })?;
        }
    }
    Ok(())
}

/// The way, and its cell: bits · absent/present · wrong %, the last only where there are wrong answers.
fn row(line: &[String]) -> Result<Vec<String>> {
    let read = || {
        let mut parts = line[1].split(" · ");
        let (bits, times) = (parts.next()?, parts.next()?);
        let (absent, present) = times.split_once('/')?;
        Some(cells(&[&line[0], &bits, &absent, &present, &parts.next().unwrap_or("0")]))
    };
    read().with_context(|| format!("a line of the bench: {line:?}"))
}

fn show(rows: &Rows) -> Section {
    let sizes = rows.different("values");
    let shown = if sizes.iter().any(|size| size == "1M") { "1M" } else { "10K" };
    let drawn = rows.with("values", shown);
    Section {
        lead: vec![
            "Is a stored number within alpha of x? Integers spread over 2⁴⁰, beta = 1, 1 % asked for the whole question. The published way asks a plain Bloom filter for every cell from x - alpha to x + alpha; with a plain filter's size its rate grows with the number of cells until every answer is yes. The published program itself holds 65 536 bits, not the 2³² it says, and misses values; what is measured here is its idea.".into(),
            "Figures come from `umbel-bench --near`, each the best of ten rounds of 200 000 questions. Slow ways have fewer questions, of about 20 ms a round but never fewer than 20, and the slowest, with 20, have two rounds; their rates, too, come of fewer questions than the others' million. `docs/near.md` has the meaning of the answers.".into(),
        ],
        plots: plots(shown, &drawn),
        tables: sizes.iter().map(|size| table(size, &rows.with("values", size))).collect(),
        result: result(&drawn.with("ratio", RATIOS[3])),
        ..Section::default()
    }
}

/// A column against the ratio.
fn line(drawn: &Rows, way: &str, name: &str, column: &str) -> Series {
    let rows = drawn.with("way", way);
    let points = rows.numbers("ratio").into_iter().zip(rows.numbers(column));
    Series::new(name, Whose::Ours, points)
}

fn plots(shown: &str, drawn: &Rows) -> Vec<Plot> {
    let plot = |title: &str, y: Axis, series, caption: &str| Plot {
        title: title.into(),
        x: Axis::log("alpha/beta"),
        y,
        series,
        caption: caption.into(),
    };
    let all =
        |column: &str| DRAWN.iter().map(|(way, name)| line(drawn, way, name, column)).collect();
    let ends = |way: &str| {
        let times = drawn.with("way", way).numbers("absent_ns");
        let [first, last] = [times.first(), times.last()].map(|time| plain(*time.unwrap_or(&0.0)));
        format!("{first} to {last} ns")
    };
    let wrong = [("Grafite list", "Grafite list"), (THEIRS, "the published way")];
    let wrong = wrong.map(|(way, name)| line(drawn, way, name, "wrong_percent"));
    vec![
        plot(
            &format!("Time of a question without a neighbour, {shown} values"),
            Axis::log("ns"),
            all("absent_ns"),
            &format!(
                "Time of a question with nothing near, against alpha/beta: that of lists does not depend on it, that of a sorted array little ({}), that of a growing filter more ({}), that of a lookup a cell most.",
                ends("sorted Vec"),
                ends("growing filter, batch")
            ),
        ),
        plot(
            &format!("Memory, {shown} values"),
            Axis::linear("bits a value"),
            all("bits"),
            "Bits for each stored value against alpha/beta.",
        ),
        plot(
            "Wrong answers",
            Axis::log("wrong yes, %"),
            wrong.to_vec(),
            "The share of questions with nothing near that are answered yes, against alpha/beta; 1 % was asked for.",
        ),
    ]
}

/// In words, of the greatest ratio.
fn result(last: &Rows) -> String {
    if last.is_empty() {
        return "Measured in part.".into();
    }
    let cell = |way: &str, column| plain(last.with("way", way).number(column).unwrap_or(0.0));
    let grafite = DRAWN[0].0;
    format!(
        "A million values, alpha/beta = 1000: {} bits and {} ns (Grafite list, in batches), a sorted array 64 bits and {} ns, the published way {} ns and wrong in {} %.",
        cell(grafite, "bits"),
        cell(grafite, "absent_ns"),
        cell("sorted Vec", "absent_ns"),
        cell(THEIRS, "absent_ns"),
        cell(THEIRS, "wrong_percent")
    )
}

fn table(size: &str, rows: &Rows) -> Grid {
    let ratios = rows.different("ratio");
    let heading: Vec<String> = ratios.iter().map(|ratio| format!("alpha/beta {ratio}")).collect();
    let title = format!("{size} values: bits a value · ns without / with a neighbour · wrong %");
    let mut table = Grid::new(
        &title,
        &[&["way"], &heading.iter().map(String::as_str).collect::<Vec<_>>()[..]].concat(),
    );
    for way in rows.different("way") {
        let mut line = vec![way.clone()];
        for ratio in &ratios {
            let rows = rows.with("ratio", ratio).with("way", &way);
            let number = |column| rows.number(column).unwrap_or(0.0);
            line.push(format!(
                "{} · {}/{} · {}",
                number("bits"),
                short(number("absent_ns")),
                short(number("present_ns")),
                plain(number("wrong_percent"))
            ));
        }
        table.push(line);
    }
    table
}
