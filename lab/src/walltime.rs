//! b3: how long a build takes on Hadoop, on Spark and on this machine (system B, its figures 5.4 to 5.6).

use std::cmp::Ordering;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::cluster::{Cluster, Engine};
use crate::experiment::Experiment;
use crate::lab::Lab;
use crate::page::number::plain;
use crate::page::{Axis, Grid, Plot, Section, Series, Whose};
use crate::rows::{Book, Rows, cells};
use crate::spread::Spread;

pub const B3: Experiment = Experiment {
    id: "b3",
    title: "Wall time on Hadoop, Spark and one machine",
    columns: &[
        "engine",
        "p",
        "mappers",
        "way",
        "repetition",
        "count_s",
        "build_s",
        "whole_s",
        "map_output_bytes",
    ],
    key: 5,
    engines: true,
    measure,
    show,
};

/// p and the number of mappers: those that matter most first.
const CELLS: [(&str, usize); 9] = [
    ("0.01", 8),
    ("0.00001", 8),
    ("0.01", 4),
    ("0.01", 12),
    ("0.1", 8),
    ("0.001", 8),
    ("0.01", 6),
    ("0.01", 10),
    ("0.0001", 8),
];
/// The number of mappers with which p is varied.
const USUAL: usize = 8;
/// What mappers send; ours is the default.
const WAYS: [(&str, &[&str]); 3] =
    [("ours", &[]), ("filters", &["--how", "filters"]), ("indexes", &["--how", "indexes"])];
const COLUMNS: [&str; 5] = ["--key", "tconst", "--by", "averageRating", "--round"];
const ROWS: usize = 1_254_184;
/// A build on Hadoop takes two jobs of twenty seconds and more, and there are dozens of builds: fewer repetitions than elsewhere.
const REPETITIONS: usize = 3;

fn measure(lab: &Lab, book: &mut Book) -> Result<()> {
    let table = lab.ratings()?;
    let due: Vec<Case> = cases().into_iter().filter(|case| !book.has(&case.key())).collect();
    if due.is_empty() {
        return Ok(());
    }
    let clusters: Vec<Cluster> = Engine::ALL
        .iter()
        .map(|&engine| Cluster::start(lab, engine, &table))
        .collect::<Result<_>>()?;
    for case in due {
        let cluster = clusters.iter().find(|cluster| cluster.engine == case.engine);
        let cluster = cluster.context("every engine was started")?;
        book.case(&case.key(), || {
            let (input, output) = cluster.place(&table, "wall.umbel");
            let words = case.command(&input, &output);
            let told = cluster.json(&words.iter().map(String::as_str).collect::<Vec<_>>())?;
            Ok(vec![times(&told)])
        })?;
    }
    Ok(())
}

/// One build.
struct Case {
    engine: Engine,
    p: &'static str,
    /// Zero where there are none.
    mappers: String,
    way: &'static str,
    how: &'static [&'static str],
    repetition: String,
}

/// All builds, in their order: engines and ways in turn for each p and number of mappers, and all of these before the next repetition, so that what else the
/// machine does hits them alike.
fn cases() -> Vec<Case> {
    let turn =
        |repetition| CELLS.iter().flat_map(move |&(p, mappers)| candidates(p, mappers, repetition));
    (1..=REPETITIONS).flat_map(turn).collect()
}

/// Every engine and way. On this machine alone there are no mappers, and nothing is sent.
fn candidates(p: &'static str, mappers: usize, repetition: usize) -> Vec<Case> {
    let of = |engine, mappers: usize, (way, how): (&'static str, &'static [&'static str])| Case {
        engine,
        p,
        mappers: mappers.to_string(),
        way,
        how,
        repetition: repetition.to_string(),
    };
    let here = (mappers == USUAL).then(|| of(Engine::Local, 0, ("local", &[])));
    let there = WAYS
        .iter()
        .flat_map(|&way| [Engine::Hadoop, Engine::Spark].map(|engine| of(engine, mappers, way)));
    here.into_iter().chain(there).collect()
}

impl Case {
    fn key(&self) -> [&str; 5] {
        [self.engine.name(), self.p, &self.mappers, self.way, &self.repetition]
    }

    fn command(&self, input: &str, output: &str) -> Vec<String> {
        let fixed = ["build", input, "-o", output, "--hash", "murmur2", "-p", self.p];
        let words = fixed.iter().chain(&COLUMNS).chain(self.how).map(|word| word.to_string());
        words.chain(self.engine.mappers(ROWS, self.mappers.parse().unwrap_or(0).max(1))).collect()
    }
}

/// Seconds of counting, of building, of both, and the bytes that left the mappers.
fn times(told: &Value) -> Vec<String> {
    let job = |does: &str, what: &str| {
        let jobs = told["jobs"].as_array().into_iter().flatten();
        let found = jobs.into_iter().find(|job| job["does"] == does);
        found.map_or(String::new(), |job| job[what].to_string())
    };
    cells(&[
        &job("count", "seconds"),
        &job("build", "seconds"),
        &told["seconds"],
        &job("build", "map_output_bytes"),
    ])
}

fn show(rows: &Rows) -> Section {
    Section {
        lead: vec![LEAD.into()],
        plots: plots(rows),
        tables: vec![table(rows)],
        notes: missing(rows).into_iter().collect(),
        result: format!(
            "At 1 % and 8 mappers the job that builds takes {} s on Hadoop and {} s on Spark; without a cluster all of it takes {} s. A table of 1.25 M rows is no work for a cluster. {}",
            median(rows, ["hadoop", "0.01", "8", "ours"], "build_s"),
            median(rows, ["spark", "0.01", "8", "ours"], "build_s"),
            median(rows, ["local", "0.01", "0", "local"], "whole_s"),
            missing(rows).unwrap_or_default()
        ),
        ..Section::default()
    }
}

/// That by the number of mappers from the second number on.
fn plots(rows: &Rows) -> Vec<Plot> {
    let numbers = rows.with("engine", "hadoop").with("p", "0.01").different("mappers").len();
    let by_mappers = (numbers > 1).then(|| by_mappers(rows));
    [by_rate(rows)].into_iter().chain(by_mappers).chain([whole_by_rate(rows)]).collect()
}

const LEAD: &str = "The build of b1, on a Hadoop with two nodes and a Spark with two workers, all on this machine with its two cores, and without a cluster. The time of a build is that of its job, with the sizes known, as it was published; the whole command also counts the titles of each group first, and starts Python and Spark's driver where that is needed. The published times come from four machines with two cores each and are plots; two of their points are known in numbers. A cell has three repetitions at most, not ten, which would take many hours: a job is mostly the start of its processes. Both clusters ran at the same time, and other programs beside them; engines and ways took turns build by build, so that this hit all alike. Compare the lines with each other; alone on a machine each would be faster.";

/// What is still to be measured.
fn missing(rows: &Rows) -> Option<String> {
    let (done, all) = (rows.lines().count(), cases().len());
    (done < all).then(|| {
        format!(
            "{done} of {all} builds have been measured; `make lab ONLY=b3` goes on with the others."
        )
    })
}

/// What the repetitions of a cell come to: engine, p, mappers, way.
fn spread(rows: &Rows, cell: [&str; 4], column: &str) -> Option<Spread> {
    let names = ["engine", "p", "mappers", "way"];
    let of_cell = names.iter().zip(cell).fold(rows.clone(), |rows, (name, is)| rows.with(name, is));
    of_cell.spread(column)
}

fn median(rows: &Rows, cell: [&str; 4], column: &str) -> String {
    spread(rows, cell, column).map_or("?".into(), |spread| plain(spread.median))
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or(0.0)
}

/// All p that there are with the usual number of mappers, or all numbers of mappers at 1 %.
fn places(pick: impl Fn(&(&'static str, usize)) -> Option<String>) -> Vec<String> {
    let mut places: Vec<String> = CELLS.iter().filter_map(pick).collect();
    places.sort_by(|a, b| number(a).total_cmp(&number(b)));
    places
}

fn rates() -> Vec<String> {
    places(|&(p, mappers)| (mappers == USUAL).then(|| p.to_owned()))
}

/// Each way on each cluster.
fn pairs(rows: &Rows) -> Vec<(&'static str, &'static str)> {
    let clusters =
        ["hadoop", "spark"].into_iter().filter(|engine| !rows.with("engine", engine).is_empty());
    clusters.flat_map(|engine| WAYS.map(|(way, _)| (engine, way))).collect()
}

fn line_by_rate(
    rows: &Rows,
    name: &str,
    engine: &str,
    mappers: &str,
    way: &str,
    column: &str,
) -> Series {
    let rates = rates();
    let points = rates.iter().map(|p| (number(p), spread(rows, [engine, p, mappers, way], column)));
    Series::medians(name, points)
}

fn by_rate(rows: &Rows) -> Plot {
    let mut series = vec![
        Series::new("published: Hadoop", Whose::Published, [(0.01, 30.4)]),
        Series::new("published: Spark", Whose::Published, [(0.01, 38.0)]),
    ];
    series.extend(pairs(rows).into_iter().map(|(engine, way)| {
        line_by_rate(rows, &format!("{engine}, {way}"), engine, "8", way, "build_s")
    }));
    plot(
        "Build by p, 8 mappers",
        Axis::log(P),
        series,
        "Seconds of the job that builds ten filters, against p, on Hadoop and Spark, for each way to send them.",
    )
}

fn by_mappers(rows: &Rows) -> Plot {
    let counts = places(|&(p, mappers)| (p == "0.01").then(|| mappers.to_string()));
    let series = pairs(rows).into_iter().map(|(engine, way)| {
        let points = counts.iter().map(|mappers| {
            (number(mappers), spread(rows, [engine, "0.01", mappers, way], "build_s"))
        });
        Series::medians(&format!("{engine}, {way}"), points)
    });
    plot(
        "Build by the number of mappers, p = 0.01",
        Axis::close("mappers"),
        series.collect(),
        "Seconds of the job that builds ten filters, against the number of mappers.",
    )
}

fn whole_by_rate(rows: &Rows) -> Plot {
    let engines = [
        ("one machine", "local", "0", "local"),
        ("hadoop", "hadoop", "8", "ours"),
        ("spark", "spark", "8", "ours"),
    ];
    let series = engines.map(|(name, engine, mappers, way)| {
        line_by_rate(rows, name, engine, mappers, way, "whole_s")
    });
    plot(
        "The whole command by p",
        Axis::log(P),
        series.to_vec(),
        "Seconds from the start of the command to its end, against p, on each engine and without one.",
    )
}

const P: &str = "rate of false positives asked (p)";

fn plot(title: &str, x: Axis, series: Vec<Series>, caption: &str) -> Plot {
    Plot { title: title.into(), x, y: Axis::log("seconds"), series, caption: caption.into() }
}

fn table(rows: &Rows) -> Grid {
    let mut table = Grid::new(
        "Seconds as mean · median · interval",
        &[
            "engine",
            "p",
            "mappers",
            "way",
            "repetitions",
            "count",
            "build",
            "whole command",
            "MB from the mappers",
        ],
    );
    let mut lines: Vec<&Vec<String>> = rows.lines().filter(|line| line[4] == "1").collect();
    lines.sort_by(|a, b| {
        let place = |line: &Vec<String>| (line[0].clone(), -number(&line[1]), number(&line[2]));
        place(a).partial_cmp(&place(b)).unwrap_or(Ordering::Equal)
    });
    for line in lines {
        let cell = [&line[0], &line[1], &line[2], &line[3]].map(String::as_str);
        let seconds =
            |column| spread(rows, cell, column).map_or(String::new(), |spread| spread.text(1.0));
        let repetitions = rows.lines().filter(|other| other[..4] == line[..4]).count();
        let mb = spread(rows, cell, "map_output_bytes")
            .map_or(String::new(), |spread| plain(spread.median / 1e6));
        let mappers = if line[2] == "0" { "" } else { &line[2] };
        table.push(vec![
            line[0].clone(),
            line[1].clone(),
            mappers.into(),
            line[3].clone(),
            repetitions.to_string(),
            seconds("count_s"),
            seconds("build_s"),
            seconds("whole_s"),
            mb,
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Every build has a key of its own, and each engine and way has its turn before the first comes again.
    #[test]
    fn engines_and_ways_take_turns() {
        let cases = cases();
        let keys: BTreeSet<[&str; 5]> = cases.iter().map(Case::key).collect();
        assert_eq!(keys.len(), cases.len());
        assert_eq!(cases.len(), 3 * (9 * 6 + 5));
        let first: BTreeSet<[&str; 2]> =
            cases[..7].iter().map(|case| [case.engine.name(), case.way]).collect();
        assert_eq!(first.len(), 7);
        assert!(cases[..7].iter().all(|case| case.p == "0.01" && case.repetition == "1"));
    }
}
