//! b3: how long a build takes on Hadoop, on Spark and on this machine (system B, its figures 5.4 to 5.6).

use anyhow::Result;
use serde_json::Value;

use crate::cluster::{Cluster, Engine};
use crate::experiment::Experiment;
use crate::lab::Lab;
use crate::page::number::plain;
use crate::page::{Axis, Grid, Plot, Section, Series, Whose};
use crate::rows::{Book, Rows, cells};

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
    key: 4,
    engines: true,
    measure,
    show,
};

const RATES: [&str; 5] = ["0.01", "0.1", "0.001", "0.0001", "0.00001"];
const MAPPERS: [usize; 5] = [8, 4, 6, 10, 12];
/// What mappers send; ours is the default.
const WAYS: [(&str, &[&str]); 3] =
    [("ours", &[]), ("filters", &["--how", "filters"]), ("indexes", &["--how", "indexes"])];
const ROWS: usize = 1_254_184;
/// A job takes half a minute, and there are dozens: fewer repetitions than elsewhere.
const REPETITIONS: usize = 3;

fn measure(lab: &Lab, book: &mut Book) -> Result<()> {
    let table = lab.ratings()?;
    for engine in Engine::ALL {
        let cases = cases(engine);
        if cases.iter().all(|case| book.has(&case.key())) {
            continue;
        }
        let cluster = Cluster::start(lab, engine, &table)?;
        let (input, output) = cluster.place(&table, "wall.umbel");
        for case in &cases {
            book.case(&case.key(), || {
                let repetitions =
                    if engine == Engine::Local { lab.repetitions() } else { REPETITIONS };
                let one = |repetition: usize| {
                    let words = case.command(&input, &output);
                    let told =
                        cluster.json(&words.iter().map(String::as_str).collect::<Vec<_>>())?;
                    Ok([vec![repetition.to_string()], times(&told)].concat())
                };
                (1..=repetitions).map(one).collect()
            })?;
        }
    }
    Ok(())
}

struct Case {
    engine: Engine,
    p: &'static str,
    mappers: String,
    way: &'static str,
    how: &'static [&'static str],
}

/// By p with eight mappers, then by the number of mappers at 1 %. On this machine there are no mappers, and nothing is sent.
fn cases(engine: Engine) -> Vec<Case> {
    let of = |p, mappers: usize, (way, how): (&'static str, &'static [&'static str])| Case {
        engine,
        p,
        mappers: mappers.to_string(),
        way,
        how,
    };
    if engine == Engine::Local {
        return RATES.map(|p| of(p, 0, ("local", &[]))).into();
    }
    let by_rate = RATES.iter().flat_map(|p| WAYS.map(|way| of(p, MAPPERS[0], way)));
    let by_mappers =
        MAPPERS[1..].iter().flat_map(|&mappers| WAYS.map(|way| of(RATES[0], mappers, way)));
    by_rate.chain(by_mappers).collect()
}

impl Case {
    fn key(&self) -> [&str; 4] {
        [self.engine.name(), self.p, &self.mappers, self.way]
    }

    fn command(&self, input: &str, output: &str) -> Vec<String> {
        let fixed = [
            "build",
            input,
            "-o",
            output,
            "--key",
            "tconst",
            "--by",
            "averageRating",
            "--round",
            "--hash",
            "murmur2",
            "-p",
            self.p,
        ];
        let words = fixed.iter().chain(self.how).map(|word| word.to_string());
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
    let spread = |engine: &str, p: &str, mappers: &str, way: &str, column: &str| {
        rows.with("engine", engine)
            .with("p", p)
            .with("mappers", mappers)
            .with("way", way)
            .spread(column)
    };
    let number = |text: &str| text.parse::<f64>().unwrap_or(0.0);
    let mut rates = RATES;
    rates.sort_by(|a, b| number(b).total_cmp(&number(a)));
    let by_rate = |engine: &str, way: &str, mappers: &str, column: &str| {
        let points = rates.iter().map(|p| (number(p), spread(engine, p, mappers, way, column)));
        Series::medians(
            &if way == "local" { "one machine".into() } else { format!("{engine}, {way}") },
            points,
        )
    };
    let mut counts = MAPPERS;
    counts.sort();
    let by_mappers = |engine: &str, way: &str| {
        let points = counts.iter().map(|mappers| {
            (*mappers as f64, spread(engine, "0.01", &mappers.to_string(), way, "build_s"))
        });
        Series::medians(&format!("{engine}, {way}"), points)
    };
    let clusters =
        ["hadoop", "spark"].into_iter().filter(|engine| !rows.with("engine", engine).is_empty());
    let pairs: Vec<(&str, &str)> =
        clusters.flat_map(|engine| WAYS.map(|(way, _)| (engine, way))).collect();
    let published = Series::new("published: Hadoop", Whose::Published, [(0.01, 30.4)]);
    let published_spark = Series::new("published: Spark", Whose::Published, [(0.01, 38.0)]);
    let plot = |title: &str, x, series: Vec<Series>, caption: &str| Plot {
        title: title.into(),
        x,
        y: Axis::log("seconds"),
        series,
        caption: caption.into(),
    };
    let mut table = Grid::new(
        "Seconds as mean · median · interval",
        &[
            "engine",
            "p",
            "mappers",
            "way",
            "count",
            "build",
            "whole command",
            "MB from the mappers",
        ],
    );
    for line in rows.lines().filter(|line| line[4] == "1") {
        let cell = |column| {
            spread(&line[0], &line[1], &line[2], &line[3], column)
                .map_or(String::new(), |spread| spread.text(1.0))
        };
        let mb = spread(&line[0], &line[1], &line[2], &line[3], "map_output_bytes")
            .map_or(String::new(), |spread| plain(spread.median / 1e6));
        let mappers = if line[2] == "0" { "" } else { &line[2] };
        table.push(vec![
            line[0].clone(),
            line[1].clone(),
            mappers.into(),
            line[3].clone(),
            cell("count_s"),
            cell("build_s"),
            cell("whole_s"),
            mb,
        ]);
    }
    let median = |engine: &str, mappers: &str, way: &str, column: &str| {
        spread(engine, "0.01", mappers, way, column)
            .map_or("?".into(), |spread| plain(spread.median))
    };
    Section {
        lead: vec!["The build of b1, on a Hadoop with two nodes and a Spark with two workers, all on this machine with its two cores, and without a cluster. The time of a build is that of its job, with the sizes known, as it was published; the whole command also counts the titles of each group first, and starts Python and Spark's driver where that is needed. The published times come from four machines with two cores each and are plots; two of their points are known in numbers. Clusters have three repetitions: a job is mostly the start of its processes.".into()],
        plots: vec![
            plot("Build by p, 8 mappers", Axis::log("rate of false positives asked (p)"), [published, published_spark].into_iter().chain(pairs.iter().map(|(engine, way)| by_rate(engine, way, "8", "build_s"))).collect(), "Seconds of the job that builds ten filters, against p, on Hadoop and Spark, for each way to send them."),
            plot("Build by the number of mappers, p = 0.01", Axis::linear("mappers"), pairs.iter().map(|(engine, way)| by_mappers(engine, way)).collect(), "Seconds of the job that builds ten filters, against the number of mappers."),
            plot("The whole command by p", Axis::log("rate of false positives asked (p)"), [by_rate("local", "local", "0", "whole_s")].into_iter().chain(pairs.iter().filter(|(_, way)| *way == "ours").map(|(engine, way)| by_rate(engine, way, "8", "whole_s"))).collect(), "Seconds from the start of the command to its end, against p, on each engine and without one."),
        ],
        tables: vec![table],
        result: format!(
            "At 1 % and 8 mappers the job that builds takes {} s on Hadoop and {} s on Spark; without a cluster all of it takes {} s. A table of 1.25 M rows is no work for a cluster.",
            median("hadoop", "8", "ours", "build_s"), median("spark", "8", "ours", "build_s"), median("local", "0", "local", "whole_s")
        ),
        ..Section::default()
    }
}
