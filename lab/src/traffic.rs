//! b2: bytes that leave the mappers (system B, ratings filters on Hadoop and Spark, its figures 5.1 to 5.3).

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, ensure};
use umbel::Params;
use umbel::hash::Family;
use umbel_io::build::census;
use umbel_io::{Column, Driver, Meter, Plan, Shape, Source};
use umbel_job::Order;
use umbel_job::job::{Columns, FilterPlan, How, Input, Stretch, Work};
use umbel_job::map::{Task, Tool};

use crate::experiment::Experiment;
use crate::lab::Lab;
use crate::page::number::plain;
use crate::page::{Axis, Grid, Plot, Section, Series, Whose};
use crate::rows::{Book, Rows, cells};

pub const B2: Experiment = Experiment {
    id: "b2",
    title: "Bytes that leave the mappers",
    columns: &["p", "k", "mappers", "way", "bytes"],
    key: 3,
    engines: false,
    measure,
    show,
};

const RATES: [&str; 5] = ["0.1", "0.01", "0.001", "0.0001", "0.00001"];
const MAPPERS: [usize; 5] = [4, 6, 8, 10, 12];
/// Mappers where their number is not what is asked about, as in the published commands.
const USUAL: usize = 8;
const WAYS: [(&str, How); 3] =
    [("indexes", How::Indexes), ("filters", How::Filters), ("ours", How::Shortest)];
/// MB at the five rates with the best k, as they are printed: indexes and filters.
const PUBLISHED: [(&str, &str); 5] =
    [("31.4", "6.76"), ("51.4", "13.5"), ("66.5", "20.3"), ("81.5", "27.0"), ("101.6", "33.8")];

fn measure(lab: &Lab, book: &mut Book) -> Result<()> {
    let table = table(lab)?;
    let rates = &RATES[..lab.amount(5, 2)];
    let of_rates = rates.iter().flat_map(|p| ["3", "9", "best"].map(|k| (*p, k, USUAL)));
    let of_mappers = MAPPERS.iter().map(|&mappers| ("0.01", "best", mappers));
    for (p, k, mappers) in of_rates.chain(of_mappers) {
        book.case(&[p, k, &mappers.to_string()], || {
            let plan = Plan {
                p: Some(p.parse()?),
                k: k.parse().ok(),
                family: Some(Family::Murmur2),
                ..Plan::default()
            };
            WAYS.iter()
                .map(|(way, how)| Ok(cells(&[way, &bytes(lab, &table, &plan, *how, mappers)?])))
                .collect()
        })?;
    }
    Ok(())
}

/// The table of ratings; of a quick run, its first part.
fn table(lab: &Lab) -> Result<PathBuf> {
    let whole = lab.ratings()?;
    if !lab.quick {
        return Ok(whole);
    }
    let part = lab.work().join("ratings-part.tsv");
    let text = fs::read_to_string(whole)?;
    fs::write(
        &part,
        text.lines().take(100_001).map(|line| format!("{line}\n")).collect::<String>(),
    )?;
    Ok(part)
}

fn shape() -> Shape {
    let name = |name: &str| Some(Column::Name(name.into()));
    Shape { key: name("tconst"), by: name("averageRating"), round: true, ..Shape::default() }
}

/// What all mappers send, as Hadoop counts it: key and value of each record, each with its length in four bytes.
fn bytes(lab: &Lab, table: &Path, plan: &Plan, how: How, mappers: usize) -> Result<u64> {
    let driver = Driver {
        sources: vec![Source::new(table)],
        shape: shape(),
        threads: 1,
        strict: false,
        meter: Arc::new(Meter::default()),
    };
    let filters = census(&driver)?
        .0
        .groups
        .into_iter()
        .map(|(name, group)| Ok((name, plan.params(group.n())?)));
    let filters: BTreeMap<String, Params> = filters.collect::<Result<_>>()?;
    let filters =
        filters.iter().map(|(name, params)| (name.clone(), FilterPlan::from(params))).collect();
    let order = Order {
        work: Work::Build { how, filters },
        columns: Columns::from(&shape()),
        strict: false,
        inputs: vec![Input {
            path: "ratings".into(),
            header: Vec::new(),
            members: false,
            stamp: None,
        }],
    };
    let mut sum = 0;
    for part in parts(lab, table, mappers)? {
        let task = Task {
            order: &order,
            stretch: Stretch { input: 0, bytes: None },
            source: Source::new(part),
            threads: 1,
            tool: Tool::None,
            lines: None,
        };
        let counted = task.run(&mut |key, value: &[u8]| {
            sum += (8 + key.to_bytes().len() + value.len()) as u64;
            Ok(())
        })?;
        ensure!(counted.is_some(), "a mapper has found a fault in its part");
    }
    Ok(sum)
}

/// The table in so many files of about as many rows, each with the header.
fn parts(lab: &Lab, table: &Path, count: usize) -> Result<Vec<PathBuf>> {
    let text = fs::read_to_string(table)?;
    let mut lines = text.lines();
    let header = lines.next().unwrap_or("");
    let rows: Vec<&str> = lines.collect();
    let write = |(i, rows): (usize, &[&str])| {
        let path = lab.work().join(format!("part-{i}.tsv"));
        fs::write(&path, format!("{header}\n{}\n", rows.join("\n")))?;
        Ok(path)
    };
    rows.chunks(rows.len().div_ceil(count)).enumerate().map(write).collect()
}

fn show(rows: &Rows) -> Section {
    let usual = |way: &str| megabytes(rows, "0.01", "best", USUAL, way);
    Section {
        lead: vec![LEAD.into()],
        plots: vec![by_rate_fixed(rows), by_rate_best(rows), by_mappers(rows)],
        tables: vec![grid(rows)],
        notes: vec!["The published MB of indexes are 1 254 184 × (4k + 13) bytes: four bytes an index, and 13 more for each title. The published filters are about 9/8 of what our eight mappers send as plain filters, as much as nine would send.".into()],
        result: match (usual("ours"), usual("filters")) {
            (Some(ours), Some(filters)) => format!("At 1 % and 8 mappers {} MB leave the mappers, {} MB as plain filters. Published, for a number of mappers that is not said: 13.5 MB as filters, 51.4 MB as indexes.", plain(ours), plain(filters)),
            _ => "Measured in part.".into(),
        },
        ..Section::default()
    }
}

const LEAD: &str = "Ten filters, one for each rounded rating of 1 254 184 titles (`umbel gen ratings`: the published numbers of titles in each group). Mappers send the index of every bit, or their partial filters as they are, or, which is ours, each slice of a filter as coded gaps or as bits, whichever is shorter. The mappers that run on Hadoop and Spark were run here one after the other, and the bytes of their records counted as Hadoop counts them. The published figures are plots; of 5.2 the numbers are known and stand beside ours. How many mappers it has is not said (the published commands have eight).";
const P: &str = "rate of false positives asked (p)";

fn megabytes(rows: &Rows, p: &str, k: &str, mappers: usize, way: &str) -> Option<f64> {
    let rows = rows.with("p", p).with("k", k).with("mappers", &mappers.to_string());
    Some(rows.with("way", way).number("bytes")? / 1e6)
}

fn number(p: &str) -> f64 {
    p.parse().unwrap_or(1.0)
}

fn line_by_rate(rows: &Rows, name: &str, k: &str, way: &str) -> Series {
    let point = |p: &&str| Some((number(p), megabytes(rows, p, k, USUAL, way)?));
    Series::new(name, Whose::Ours, RATES.iter().filter_map(point))
}

fn plot(title: &str, x: Axis, series: Vec<Series>, caption: &str) -> Plot {
    Plot { title: title.into(), x, y: Axis::linear("MB"), series, caption: caption.into() }
}

fn by_rate_fixed(rows: &Rows) -> Plot {
    let each = ["3", "9"].iter().flat_map(|k| WAYS.iter().map(move |(way, _)| (*k, *way)));
    let series = each.map(|(k, way)| line_by_rate(rows, &format!("{way}, k = {k}"), k, way));
    plot(
        "By p, with k = 3 and 9, 8 mappers",
        Axis::log(P),
        series.collect(),
        "Megabytes that leave eight mappers against p, with 3 and with 9 hash functions: indexes depend on k alone, filters on their size.",
    )
}

fn by_rate_best(rows: &Rows) -> Plot {
    let published = |name: &str, pick: fn(&(&'static str, &'static str)) -> &'static str| {
        let points = RATES.iter().zip(&PUBLISHED).map(|(p, both)| (number(p), number(pick(both))));
        Series::new(name, Whose::Published, points)
    };
    let mut series = vec![
        published("published indexes", |both| both.0),
        published("published filters", |both| both.1),
    ];
    series.extend(WAYS.map(|(way, _)| line_by_rate(rows, way, "best", way)));
    plot(
        "By p, with the best k",
        Axis::log(P),
        series,
        "Megabytes that leave the mappers against p, with the number of hash functions that is best for it, as published and, with eight mappers, ours.",
    )
}

fn by_mappers(rows: &Rows) -> Plot {
    let series = WAYS.map(|(way, _)| {
        let point = |&mappers: &usize| {
            Some((mappers as f64, megabytes(rows, "0.01", "best", mappers, way)?))
        };
        Series::new(way, Whose::Ours, MAPPERS.iter().filter_map(point))
    });
    let ours = |mappers| megabytes(rows, "0.01", "best", mappers, "ours").map_or("?".into(), plain);
    let coded = format!("from {} to {} MB", ours(MAPPERS[0]), ours(MAPPERS[4]));
    plot(
        "By the number of mappers, p = 0.01",
        Axis::close("mappers"),
        series.to_vec(),
        &format!(
            "Megabytes that leave the mappers against their number: plain filters grow with it, indexes do not, and our coded parts grow more slowly, {coded}."
        ),
    )
}

/// p, k and mappers, each by number, the greatest p first and the best k last.
fn places(rows: &Rows) -> Vec<[&String; 3]> {
    let mut places: Vec<_> = rows.lines().map(|line| [&line[0], &line[1], &line[2]]).collect();
    let key = |[p, k, mappers]: &[&String; 3]| {
        [-number(p), k.parse().unwrap_or(f64::INFINITY), number(mappers)]
    };
    places.sort_by(|a, b| key(a).partial_cmp(&key(b)).unwrap_or(Ordering::Equal));
    places.dedup();
    places
}

fn grid(rows: &Rows) -> Grid {
    let mut table = Grid::new(
        "MB that leave the mappers",
        &[
            "p",
            "k",
            "mappers",
            "published indexes",
            "published filters",
            "indexes",
            "filters",
            "ours",
        ],
    );
    for [p, k, mappers] in places(rows) {
        let at = RATES.iter().position(|rate| rate == p).filter(|_| k == "best" && mappers == "8");
        let (indexes, filters) = at.map_or(("", ""), |at| PUBLISHED[at]);
        let mut line = vec![p.clone(), k.clone(), mappers.clone()];
        line.extend([indexes, filters].map(String::from));
        line.extend(WAYS.map(|(way, _)| {
            megabytes(rows, p, k, mappers.parse().unwrap_or(0), way).map_or(String::new(), plain)
        }));
        table.push(line);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stand_in_the_order_of_their_numbers() {
        let row = |p, k, mappers| [p, k, mappers, "ours", "1"];
        let rows = [
            row("0.00001", "3", "8"),
            row("0.01", "best", "10"),
            row("0.01", "best", "8"),
            row("0.01", "9", "8"),
        ];
        let table = grid(&Rows::of(B2.columns, &rows.each_ref().map(|row| &row[..])));
        let found: Vec<String> = table.lines.iter().map(|line| line[..3].join(" ")).collect();
        assert_eq!(found, ["0.01 9 8", "0.01 best 8", "0.01 best 10", "0.00001 3 8"]);
    }

    #[test]
    fn published_figures_stand_as_they_were_printed() {
        let rows = Rows::of(B2.columns, &[&["0.0001", "best", "8", "ours", "9833364"]]);
        assert_eq!(grid(&rows).lines[0][3..5], ["81.5", "27.0"]);
        let rows = Rows::of(B2.columns, &[&["0.00001", "best", "8", "ours", "12674159"]]);
        assert_eq!(grid(&rows).lines[0][3..5], ["101.6", "33.8"]);
    }
}
