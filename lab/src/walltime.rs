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
        result: result(rows),
        ..Section::default()
    }
}

fn result(rows: &Rows) -> String {
    let [hadoop, spark] = ["hadoop", "spark"].map(|engine| [engine, "0.01", "8", "ours"]);
    let whole = |cell| middle(spread(rows, cell, "whole_s"));
    format!(
        "At 1 % and 8 mappers the whole command takes {} s on Hadoop and {} s on Spark; without the job that counts, {} and {} s (published, sizes known, on four machines: 30.4 and 38.0 s). Without a cluster it takes {} s: a table of 1.25 M rows is no work for one. {} {}",
        whole(hadoop),
        whole(spark),
        middle(program(rows, hadoop)),
        middle(program(rows, spark)),
        whole(["local", "0.01", "0", "local"]),
        repeated(rows),
        missing(rows).unwrap_or_default()
    )
}

/// How often the same was built.
fn repeated(rows: &Rows) -> String {
    match rows.numbers("repetition").into_iter().fold(0.0, f64::max) {
        1.0 => "Each was measured once (n = 1).".into(),
        most => format!("Medians of {most} repetitions at most."),
    }
}

/// That by the number of mappers from the second number on.
fn plots(rows: &Rows) -> Vec<Plot> {
    let numbers = rows.with("engine", "hadoop").with("p", "0.01").different("mappers").len();
    let by_mappers = (numbers > 1).then(|| by_mappers(rows));
    [program_by_rate(rows), whole_by_rate(rows)].into_iter().chain(by_mappers).collect()
}

const LEAD: &str = "The build of b1, on a Hadoop with two nodes and a Spark with two workers, all on this machine with its two cores, and without a cluster. The published time is that from the launch of the program that builds, which was told the sizes, to its end; it comes from plots of runs on four machines with two cores each, and two of its points, at 1 %, are known in numbers, but not for which way. Ours is told no sizes: the whole command starts, counts the titles of each group in a job, builds in another, and writes the file. What compares with the published time is the whole command without the job that counts; on Spark that is less than a program alone would take, for the job that counts also wakes the executors. The job that builds is timed from the launch of its client on Hadoop, but in a driver that runs already on Spark: it compares with nothing published. All times are wall times; that of the whole command leaves out the start of the Python interpreter that Spark needs. A cell has three repetitions at most, not ten, which would take many hours: a job is mostly the start of its processes. Both clusters ran at the same time, and next to nothing beside them (a package was installed at idle priority during a few builds of the first repetition); engines and ways took turns build by build, so that what hits one hits all alike.";

/// What is still to be measured.
fn missing(rows: &Rows) -> Option<String> {
    let (done, all) = (rows.lines().count(), cases().len());
    (done < all).then(|| {
        format!(
            "{done} of {all} builds have been measured; `make lab ONLY=b3` goes on with the others."
        )
    })
}

/// The repetitions of a cell: engine, p, mappers, way.
fn of_cell(rows: &Rows, cell: [&str; 4]) -> Rows {
    let names = ["engine", "p", "mappers", "way"];
    names.iter().zip(cell).fold(rows.clone(), |rows, (name, is)| rows.with(name, is))
}

fn spread(rows: &Rows, cell: [&str; 4], column: &str) -> Option<Spread> {
    of_cell(rows, cell).spread(column)
}

/// The whole command without the job that counts: the published program was told the sizes. Where there are no jobs, nothing.
fn program(rows: &Rows, cell: [&str; 4]) -> Option<Spread> {
    let rows = of_cell(rows, cell);
    let (whole, count) = (rows.numbers("whole_s"), rows.numbers("count_s"));
    Spread::of(whole.iter().zip(count).map(|(whole, count)| whole - count).collect())
}

fn middle(spread: Option<Spread>) -> String {
    spread.map_or("?".into(), |spread| plain(spread.median))
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

/// What was published: the engine, and seconds at 1 % as they are printed.
const PUBLISHED: [(&str, &str); 2] = [("hadoop", "30.4"), ("spark", "38.0")];

fn published() -> Vec<Series> {
    let point = |(engine, seconds): (&str, &str)| {
        Series::new(&format!("published: {engine}"), Whose::Published, [(0.01, number(seconds))])
    };
    PUBLISHED.map(point).to_vec()
}

/// Medians against p.
fn by_rate(name: &str, at: impl Fn(&str) -> Option<Spread>) -> Series {
    Series::medians(name, rates().iter().map(|p| (number(p), at(p))))
}

fn program_by_rate(rows: &Rows) -> Plot {
    let mut series = published();
    series.extend(pairs(rows).into_iter().map(|(engine, way)| {
        by_rate(&format!("{engine}, {way}"), |p| program(rows, [engine, p, "8", way]))
    }));
    plot(
        "The program that builds by p, 8 mappers",
        Axis::log(P),
        Axis::linear("seconds"),
        series,
        "Seconds of the command without the job that counts, against p, on Hadoop and Spark, for each way to send the filters; published is a program that knows the sizes.",
    )
}

fn by_mappers(rows: &Rows) -> Plot {
    let counts = places(|&(p, mappers)| (p == "0.01").then(|| mappers.to_string()));
    let series = pairs(rows).into_iter().map(|(engine, way)| {
        let point =
            |mappers: &String| (number(mappers), program(rows, [engine, "0.01", mappers, way]));
        Series::medians(&format!("{engine}, {way}"), counts.iter().map(point))
    });
    plot(
        "The program that builds by the number of mappers, p = 0.01",
        Axis::close("mappers"),
        Axis::linear("seconds"),
        series.collect(),
        "Seconds of the command without the job that counts, against the number of mappers.",
    )
}

fn whole_by_rate(rows: &Rows) -> Plot {
    let engines = [
        ("one machine", "local", "0", "local"),
        ("hadoop", "hadoop", "8", "ours"),
        ("spark", "spark", "8", "ours"),
    ];
    let mut series = published();
    series.extend(engines.map(|(name, engine, mappers, way)| {
        by_rate(name, |p| spread(rows, [engine, p, mappers, way], "whole_s"))
    }));
    plot(
        "The whole command by p",
        Axis::log(P),
        Axis::log("seconds"),
        series,
        "Seconds from the start of the command to its end, counting included, against p, on each engine and without one; published is a program that knows the sizes and does not count.",
    )
}

const P: &str = "rate of false positives asked (p)";

fn plot(title: &str, x: Axis, y: Axis, series: Vec<Series>, caption: &str) -> Plot {
    Plot { title: title.into(), x, y, series, caption: caption.into() }
}

fn table(rows: &Rows) -> Grid {
    let mut table = Grid::new(
        "Seconds; of several repetitions mean · median · interval",
        &[
            "engine",
            "p",
            "mappers",
            "way",
            "repetitions",
            "whole command",
            "without the count",
            "job that counts",
            "job that builds",
            "MB from the mappers",
        ],
    );
    for (engine, seconds) in PUBLISHED {
        let engine = format!("{engine}, published");
        let line = [&engine, "0.01", "", "", "10", "", seconds, "", "", ""];
        table.push(line.map(String::from).to_vec());
    }
    let mut lines: Vec<&Vec<String>> = rows.lines().filter(|line| line[4] == "1").collect();
    lines.sort_by(|a, b| {
        let place = |line: &Vec<String>| (line[0].clone(), -number(&line[1]), number(&line[2]));
        place(a).partial_cmp(&place(b)).unwrap_or(Ordering::Equal)
    });
    for line in lines {
        table.push(cells_of(rows, [&line[0], &line[1], &line[2], &line[3]].map(String::as_str)));
    }
    table
}

/// A line of the table: engine, p, mappers, way, and what they took.
fn cells_of(rows: &Rows, cell: [&str; 4]) -> Vec<String> {
    let text = |spread: Option<Spread>| spread.map_or(String::new(), |spread| spread.text(1.0));
    let seconds = |column| text(spread(rows, cell, column));
    let mb = spread(rows, cell, "map_output_bytes");
    let [engine, p, mappers, way] = cell.map(String::from);
    vec![
        engine,
        p,
        if mappers == "0" { String::new() } else { mappers },
        way,
        of_cell(rows, cell).lines().count().to_string(),
        seconds("whole_s"),
        text(program(rows, cell)),
        seconds("count_s"),
        seconds("build_s"),
        mb.map_or(String::new(), |spread| plain(spread.median / 1e6)),
    ]
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

    /// What stands beside the published time is the whole command without its count, not a job in a driver that runs already.
    #[test]
    fn what_compares_with_the_published_time_is_from_launch_to_end() {
        let rows = Rows::of(
            B3.columns,
            &[
                &["spark", "0.01", "8", "ours", "1", "12.5", "2.5", "43.5", "5000000"],
                &["local", "0.01", "0", "local", "1", "", "", "0.5", ""],
            ],
        );
        let [theirs, _, local, spark] = &table(&rows).lines[..] else { panic!("four lines") };
        assert_eq!((&*theirs[6], &*spark[6]), ("30.4", "31"));
        assert_eq!((&*spark[4], &*spark[5], &*local[6]), ("1", "43.5", ""));
        assert!(result(&rows).contains("43.5 s on Spark") && result(&rows).contains("n = 1"));
        assert!(!result(&rows).contains("2.5"));
    }
}
