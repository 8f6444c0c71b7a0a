//! f1: umbel's filters beside other libraries and the machine's limit, as `umbel-bench` measures them.

use anyhow::Result;

use crate::experiment::Experiment;
use crate::lab::Lab;
use crate::page::number::plain;
use crate::page::{Bar, Bars, Grid, Section};
use crate::rows::{Book, Rows, cells};

pub const F1: Experiment = Experiment {
    id: "f1",
    title: "umbel beside its peers and the machine's limit",
    columns: &["keys", "candidate", "work", "ns", "bits_per_key", "wrong_percent"],
    key: 1,
    engines: false,
    measure,
    show,
};

/// What is asked of the bench: the first part of the names of its rows.
const KEYS: [&str; 5] =
    ["u64 10 K", "u64 1 M", "20-byte strings 1 M", "u64 100 M", "20-byte strings 100 M"];

fn measure(lab: &Lab, book: &mut Book) -> Result<()> {
    for keys in &KEYS[..lab.amount(5, 1)] {
        book.case(&[keys], || {
            let tables = lab.bench(&[keys])?;
            let everyone = tables.iter().filter(|table| table.heading[0].ends_with("ns a key"));
            Ok(everyone.flat_map(|table| rows(&table.heading, &table.lines)).collect())
        })?;
    }
    Ok(())
}

/// A row for each work of each candidate.
fn rows(heading: &[String], lines: &[Vec<String>]) -> Vec<Vec<String>> {
    let place = |name: &str| heading.iter().position(|cell| cell == name).unwrap_or(heading.len());
    let (bits, wrong) = (place("bits/key"), place("false pos. %"));
    let cell = |line: &[String], at: usize| line.get(at).cloned().unwrap_or_default();
    let each = |line: &Vec<String>| {
        let row = |at: usize| {
            cells(&[&line[0], &heading[at], &line[at], &cell(line, bits), &cell(line, wrong)])
        };
        (1..bits).map(row).collect::<Vec<_>>()
    };
    lines.iter().flat_map(each).collect()
}

const WORKS: [&str; 3] = ["insert", "hit", "miss"];

fn show(rows: &Rows) -> Section {
    let (mut bars, mut tables) = (Vec::new(), Vec::new());
    for keys in rows.different("keys") {
        let rows = rows.with("keys", &keys);
        tables.push(table(&keys, &rows));
        for work in ["insert", "hit"] {
            let rows = rows.with("work", work);
            bars.push(race(&keys, work, &rows));
        }
    }
    Section {
        lead: vec!["The tables of `make bench`: ns a key at 1 % asked, the best of 2000 rounds with 10 K keys, of 150 with 1 M, of 3 with 100 M, all candidates in turn over the same keys. Another's candidate that takes three times as long as the best other Bloom filter is not run again after five rounds, or after the first where a round takes long. The limit is what the machine needs to fetch as many random cache lines with prefetch. The batch hands over many keys at once; the others take one at a time. Of 100 M strings there is no hash set: at 352 bits a key, as with 1 M, it would take 4.4 GB.".into()],
        bars,
        tables,
        result: result(rows),
        ..Section::default()
    }
}

/// How many times as fast as a peer: the keys, the work, the ratio.
fn ratios(rows: &Rows, ours: &str, peer: &str) -> Vec<(String, &'static str, f64)> {
    let mut ratios = Vec::new();
    for keys in rows.different("keys") {
        for work in ["insert", "hit"] {
            let rows = rows.with("keys", &keys).with("work", work);
            let time = |name: &str| rows.with("candidate", name).number("ns");
            if let (Some(ours), Some(peer)) = (time(ours), time(peer)) {
                ratios.push((keys.clone(), work, peer / ours));
            }
        }
    }
    ratios
}

fn result(rows: &Rows) -> String {
    let list = |peer| {
        let text = |(keys, work, ratio)| format!("{keys} {work} {}", plain(ratio));
        ratios(rows, "umbel batch", peer).into_iter().map(text).collect::<Vec<_>>().join("; ")
    };
    let singly: Vec<f64> =
        ratios(rows, "umbel", "sbbf-rs").into_iter().map(|(.., ratio)| ratio).collect();
    let least = singly.iter().copied().fold(f64::INFINITY, f64::min);
    let most = singly.iter().copied().fold(0.0, f64::max);
    let mut text = format!(
        "Times the speed of the best other Bloom filter library (sbbf-rs with rapidhash, as it is published: without huge pages), umbel in batches: {}. One key at a time: {least:.1} to {most:.1}.",
        list("sbbf-rs")
    );
    let huge = list("sbbf-rs, huge pages");
    if !huge.is_empty() {
        text += &format!(" In batches against the same library given huge pages: {huge}.");
    }
    text
}

fn race(keys: &str, work: &str, rows: &Rows) -> Bars {
    let of = |name: &str| rows.with("candidate", name).number("ns");
    let names = rows.different("candidate");
    let (limits, runners): (Vec<&String>, Vec<&String>) =
        names.iter().partition(|name| name.starts_with("limit"));
    let limit = limits.iter().filter_map(|name| of(name)).fold(f64::INFINITY, f64::min);
    let bar = |name: &&String| {
        Some(Bar { name: name.to_string(), value: of(name)?, ours: name.starts_with("umbel") })
    };
    Bars {
        title: format!("{keys}: {work}"),
        unit: "ns".into(),
        bars: runners.iter().filter_map(bar).collect(),
        limit: limit.is_finite().then(|| ("limit of memory".into(), limit)),
        caption: format!(
            "Time a key for {work} with {keys} keys; shorter is better, and the upright strokes mark what the machine needs to fetch the lines alone."
        ),
    }
}

fn table(keys: &str, rows: &Rows) -> Grid {
    let mut table = Grid::new(
        &format!("{keys}: ns a key"),
        &["candidate", "insert", "hit", "miss", "bits a key", "false positives, %"],
    );
    for candidate in rows.different("candidate") {
        let rows = rows.with("candidate", &candidate);
        let mut line = vec![candidate];
        line.extend(WORKS.map(|work| {
            rows.with("work", work).number("ns").map_or(String::new(), |ns| format!("{ns:.2}"))
        }));
        line.extend(["bits_per_key", "wrong_percent"].map(|column| rows.texts(column)[0].clone()));
        table.push(line);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_result_names_what_umbel_is_compared_with() {
        let row = |name, ns| vec!["u64 100 M", name, "hit", ns, "", ""];
        let lines = [
            row("umbel batch", "8"),
            row("umbel", "20"),
            row("sbbf-rs", "24"),
            row("sbbf-rs, huge pages", "22"),
        ];
        let text = result(&Rows::of(F1.columns, &lines.each_ref().map(|line| &line[..])));
        assert!(text.contains("u64 100 M hit 3. One key at a time: 1.2 to 1.2."), "{text}");
        assert!(text.ends_with("given huge pages: u64 100 M hit 2.75."), "{text}");
    }
}
