//! b1: one filter for each rounded rating, and its exact rate, on this machine, on Hadoop and on Spark (system B, both of its tables).

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};

use crate::cluster::{Cluster, Engine};
use crate::experiment::Experiment;
use crate::lab::Lab;
use crate::page::number::whole;
use crate::page::{Axis, Grid, Plot, Section, Series, Whose};
use crate::rows::{Book, Rows, cells};

pub const B1: Experiment = Experiment {
    id: "b1",
    title: "Ten filters and their exact rates, on three engines",
    columns: &[
        "engine",
        "hash",
        "group",
        "n",
        "m",
        "k",
        "false_positives",
        "true_negatives",
        "same_bytes",
    ],
    key: 2,
    engines: true,
    measure,
    show,
};

/// Group, n, m, and the published rates on Hadoop and on Spark.
const PUBLISHED: [(&str, u64, u64, f64, f64); 10] = [
    ("1", 2546, 24_404, 0.0097, 0.0101),
    ("2", 6623, 63_482, 0.0101, 0.0105),
    ("3", 17_937, 171_928, 0.0101, 0.0101),
    ("4", 43_912, 420_900, 0.0102, 0.0101),
    ("5", 103_292, 990_060, 0.0101, 0.0101),
    ("6", 220_871, 2_117_062, 0.0100, 0.0101),
    ("7", 373_321, 3_578_304, 0.0102, 0.0101),
    ("8", 355_416, 3_406_684, 0.0100, 0.0101),
    ("9", 113_980, 1_092_505, 0.0102, 0.0100),
    ("10", 16_286, 156_103, 0.0101, 0.0100),
];
/// That of Hadoop, that of the Python package, and ours in its own layout.
const HASHES: [(&str, &[&str]); 3] = [
    ("murmur2", &["--hash", "murmur2", "--layout", "classic"]),
    ("murmur3", &["--hash", "murmur3", "--layout", "classic"]),
    ("xxh3, blocked", &[]),
];
const FILE: &str = "ratings.umbel";
const GROUPS: [&str; 7] = ["--key", "tconst", "--by", "averageRating", "--round", "-p", "0.01"];

fn measure(lab: &Lab, book: &mut Book) -> Result<()> {
    let table = lab.ratings()?;
    let here = Cluster::start(lab, Engine::Local, &table)?;
    for engine in Engine::ALL {
        let missing = HASHES.iter().any(|(hash, _)| !book.has(&[engine.name(), hash]));
        if !missing {
            continue;
        }
        let cluster = Cluster::start(lab, engine, &table)?;
        for (hash, wishes) in HASHES {
            book.case(&[engine.name(), hash], || {
                let (input, output) = cluster.place(&table, FILE);
                build(&cluster, &table, wishes)?;
                let audit = cluster.json(&["audit", &output, &input])?;
                build(&here, &table, wishes)?;
                let same = cluster.bytes(FILE)? == here.bytes(FILE)?;
                let info = lab.json(&["info", &here.place(&table, FILE).1, "--json"])?;
                rows(&info, &audit, same)
            })?;
        }
    }
    Ok(())
}

fn build(cluster: &Cluster, table: &Path, wishes: &[&str]) -> Result<()> {
    let (input, output) = cluster.place(table, FILE);
    cluster.umbel(&[&["build", &input, "-o", &output], &GROUPS[..], wishes].concat())?;
    Ok(())
}

/// A row for each group, of what is known of its filter and what the audit has counted.
fn rows(
    info: &serde_json::Value,
    audit: &serde_json::Value,
    same: bool,
) -> Result<Vec<Vec<String>>> {
    let list =
        |value: &serde_json::Value, name: &str| -> Result<BTreeMap<String, serde_json::Value>> {
            let all = value[name].as_array().with_context(|| format!("{name} in {value}"))?;
            Ok(all
                .iter()
                .map(|one| (one["group"].as_str().unwrap_or("").to_owned(), one.clone()))
                .collect())
        };
    let (filters, counts) = (list(info, "groups")?, list(audit, "filters")?);
    let row = |(group, filter): (&String, &serde_json::Value)| {
        let counted =
            counts.get(group).with_context(|| format!("group {group} was not counted"))?;
        let [n, m, k] = ["n", "m", "k"].map(|name| filter[name].to_string());
        let [wrong, right] =
            ["false_positives", "true_negatives"].map(|name| counted[name].to_string());
        Ok(cells(&[group, &n, &m, &k, &wrong, &right, &same]))
    };
    filters.iter().map(row).collect()
}

fn show(rows: &Rows) -> Section {
    let (agree, same) = (said(agrees(rows)), said(is_same(rows)));
    let (least, most) = ends(&points(rows, "murmur2"));
    Section {
        lead: vec![LEAD.into()],
        plots: vec![plot(rows)],
        tables: vec![table(rows)],
        notes: vec![format!(
            "With `murmur2` and `murmur3` n and m are the published ones in every group: {agree}. Umbel's own layout, `xxh3, blocked`, has filters of other sizes, in a column of their own. The files of all engines are the same, byte for byte: {same}. The published Spark program has 355 415 titles and 3 406 674 bits in group 8, and the published command line of the Hadoop program 3 406 703 bits: the table was not the same each time, or rounding was not."
        )],
        result: format!(
            "n and m of murmur2 and murmur3 as published in all groups: {agree}. Byte-identical on {}: {same}. Rates of murmur2 lie between {least} and {most} %.",
            rows.different("engine").join(", ")
        ),
        ..Section::default()
    }
}

const LEAD: &str = "A filter for each rating rounded half up, of 1 254 184 titles (`umbel gen ratings`, which has the published number of titles in each group); then every title is asked of every filter, and false positives and true negatives are counted exactly. `murmur2` is the hash of the published Hadoop program, `murmur3` that of its Spark program; both are done here on one machine, on Hadoop and on Spark, and so is umbel's own layout.";

fn said(yes: bool) -> &'static str {
    if yes { "yes" } else { "NO" }
}

/// The exact rate of a filter.
fn rate(rows: &Rows, engine: &str, hash: &str, group: &str) -> Option<f64> {
    let rows = rows.with("engine", engine).with("hash", hash).with("group", group);
    let (wrong, right) = (rows.number("false_positives")?, rows.number("true_negatives")?);
    Some(wrong / (wrong + right))
}

/// Whether n and m are the published ones wherever a published hash was taken.
fn agrees(rows: &Rows) -> bool {
    PUBLISHED.iter().all(|(group, n, m, ..)| {
        ["murmur2", "murmur3"].iter().all(|hash| {
            let rows = rows.with("group", group).with("hash", hash);
            rows.numbers("n").iter().all(|&x| x == *n as f64)
                && rows.numbers("m").iter().all(|&x| x == *m as f64)
        })
    })
}

fn is_same(rows: &Rows) -> bool {
    rows.texts("same_bytes").iter().all(|same| same == "true")
}

fn table(rows: &Rows) -> Grid {
    let engines = rows.different("engine");
    let cases: Vec<(&String, &str)> = HASHES
        .iter()
        .flat_map(|(hash, _)| engines.iter().map(move |engine| (engine, *hash)))
        .collect();
    let fixed = ["group", "n", "m", "k", "m · k, blocked", "published, Hadoop", "published, Spark"];
    let ours = cases.iter().map(|(engine, hash)| format!("{hash}, {engine}"));
    let heading: Vec<String> = fixed.map(String::from).into_iter().chain(ours).collect();
    let mut table = Grid::new(
        "Filters of p = 0.01 and their exact rates; m and k are those of murmur2 and murmur3, `xxh3, blocked` has its own",
        &heading.iter().map(String::as_str).collect::<Vec<_>>(),
    );
    for (group, n, m, hadoop, spark) in PUBLISHED {
        let of = |hash, column| {
            let number = rows.with("group", group).with("hash", hash).number(column);
            number.map_or(String::new(), whole)
        };
        let blocked = format!("{} · {}", of("xxh3, blocked", "m"), of("xxh3, blocked", "k"));
        let mut line = vec![group.into(), whole(n as f64), whole(m as f64)];
        line.extend([of("murmur2", "k"), blocked]);
        line.extend([hadoop, spark].map(|rate| format!("{rate:.4}")));
        line.extend(cases.iter().map(|(engine, hash)| {
            rate(rows, engine, hash, group).map_or(String::new(), |rate| format!("{rate:.4}"))
        }));
        table.push(line);
    }
    table
}

fn number(group: &str) -> f64 {
    group.parse().unwrap_or(0.0)
}

/// The rates in percent, by group. Engines do not differ.
fn points(rows: &Rows, hash: &str) -> Vec<(f64, f64)> {
    let point = |group: &str| Some((number(group), 100.0 * rate(rows, "local", hash, group)?));
    PUBLISHED.iter().filter_map(|(group, ..)| point(group)).collect()
}

fn plot(rows: &Rows) -> Plot {
    let published = |name: &str, pick: fn(f64, f64) -> f64| {
        let points = PUBLISHED
            .iter()
            .map(|(group, _, _, hadoop, spark)| (number(group), 100.0 * pick(*hadoop, *spark)));
        Series::new(name, Whose::Published, points)
    };
    let mut series = vec![
        published("published, Hadoop", |hadoop, _| hadoop),
        published("published, Spark", |_, spark| spark),
    ];
    series
        .extend(HASHES.iter().map(|(hash, _)| Series::new(hash, Whose::Ours, points(rows, hash))));
    Plot {
        title: "Exact rate of each group".into(),
        x: Axis::close("rating"),
        y: Axis::close("false positives, %"),
        series,
        caption: "The exact rate of false positives of the filter of each rating, as published on Hadoop and Spark and as measured here; 1 % was asked for.".into(),
    }
}

fn ends(points: &[(f64, f64)]) -> (String, String) {
    let fold = |start, pick: fn(f64, f64) -> f64| points.iter().map(|(_, y)| *y).fold(start, pick);
    (format!("{:.3}", fold(f64::INFINITY, f64::min)), format!("{:.3}", fold(0.0, f64::max)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both published hashes have to agree; umbel's own layout has sizes of its own.
    #[test]
    fn sizes_are_compared_where_a_published_hash_was_taken() {
        let row =
            |hash, m| Rows::of(B1.columns, &[&["local", hash, "1", "2546", m, "7", "", "", ""]]);
        assert!(agrees(&row("murmur3", "24404")) && agrees(&row("xxh3, blocked", "26112")));
        assert!(!agrees(&row("murmur2", "24405")) && !agrees(&row("murmur3", "24405")));
    }
}
