//! c1: a filter of names, its memory and its error rate (system C, a store of names in Java, sections 5.1 and 5.2).

use std::collections::HashSet;

use anyhow::Result;
use umbel::hash::{Family, Strategy, xxh3_u64};
use umbel::{Bloom, Keys, Params, Sizing};

use crate::data::Lines;
use crate::experiment::Experiment;
use crate::lab::Lab;
use crate::page::number::{plain, whole};
use crate::page::{Axis, Grid, Plot, Section, Series, Whose};
use crate::rows::{Book, Rows, cells};
use crate::spread::Spread;

pub const C1: Experiment = Experiment {
    id: "c1",
    title: "A few hundred names: memory and error rate",
    columns: &["what", "m", "hash", "strangers", "repetition", "value"],
    key: 4,
    engines: false,
    measure,
    show,
};

const N: u64 = 329;
const K: u32 = 8;
/// The published test has 60 names that are not in the set; many more show the rate itself.
const ASKED: [usize; 2] = [60, 10_000];
const HASHES: [&str; 2] = ["polynomial-wrap", "xxh3"];
/// Bits; published mean and prediction in percent.
const PUBLISHED: [(u64, f64, f64); 5] = [
    (500, 94.65, 95.93),
    (1000, 52.93, 55.03),
    (1500, 22.93, 21.89),
    (2000, 9.82, 8.22),
    (2500, 2.93, 3.23),
];

fn measure(lab: &Lab, book: &mut Book) -> Result<()> {
    let n = N as usize + ASKED[1];
    let path = lab.data(&format!("names-{n}.txt"), &["names", "-n", &n.to_string()])?;
    let lines = Lines::read(&path)?;
    let all = lines.keys();
    let (members, strangers) = all.split_at(N as usize);
    memory(members, book)?;
    for (m, ..) in PUBLISHED {
        for hash in HASHES {
            for asked in ASKED {
                book.case(&["rate", &m.to_string(), hash, &asked.to_string()], || {
                    let one = |repetition| {
                        let rate = rate(m, hash, repetition, members, &strangers[..asked])?;
                        Ok(cells(&[&repetition, &rate]))
                    };
                    (1..=lab.repetitions() as u64).map(one).collect()
                })?;
            }
        }
    }
    Ok(())
}

/// Bytes of the filter at 1 % and of a hash set of the same names.
fn memory(members: &[&[u8]], book: &mut Book) -> Result<()> {
    let sizing = Sizing::classic_with_probes(N, 0.01, K)?;
    book.case(&["bytes of the filter", &sizing.bits().to_string(), "", ""], || {
        Ok(vec![cells(&[&1, &sizing.bits().div_ceil(8)])])
    })?;
    book.case(&["bytes of a hash set", "", "", ""], || {
        let set: HashSet<String> =
            members.iter().map(|name| String::from_utf8_lossy(name).into()).collect();
        // A table of the standard library: slots for 8/7 of the capacity, in a power of two, with a byte of control each.
        let slots = (set.capacity() * 8 / 7).next_power_of_two();
        let texts: usize = set.iter().map(String::capacity).sum();
        Ok(vec![cells(&[&1, &(slots * (size_of::<String>() + 1) + texts)])])
    })?;
    book.case(&["bytes of the names alone", "", "", ""], || {
        Ok(vec![cells(&[&1, &members.iter().map(|name| name.len()).sum::<usize>()])])
    })
}

/// The share of strangers that one filter takes for members. Each repetition has seeds of its own, below 100 as in the published program.
fn rate(
    m: u64,
    hash: &str,
    repetition: u64,
    members: &[&[u8]],
    strangers: &[&[u8]],
) -> Result<f64> {
    let strategy = match hash {
        "xxh3" => Strategy::Xxh3 { seed: repetition },
        _ => Strategy::Seeded { family: Family::PolynomialWrap, seeds: seeds(m, repetition) },
    };
    let params = Params::new(Sizing::with(N, m, K)?).with_strategy(strategy)?;
    let mut filter = Bloom::with(params)?;
    filter.insert_batch(Keys::Bytes(members))?;
    let mut found = vec![false; strangers.len()];
    filter.contains_batch(Keys::Bytes(strangers), &mut found)?;
    Ok(found.iter().filter(|&&found| found).count() as f64 / strangers.len() as f64)
}

fn seeds(m: u64, repetition: u64) -> Vec<u32> {
    (0..u64::from(K)).map(|i| (xxh3_u64(i, m * 1000 + repetition) % 100) as u32).collect()
}

/// (1 - e^(-kn/m))^k
fn predicted(m: f64) -> f64 {
    (1.0 - (-f64::from(K) * N as f64 / m).exp()).powi(K as i32)
}

fn show(rows: &Rows) -> Section {
    let rates = rows.with("what", "rate");
    let Some(table) = table(&rates) else { return Section::default() };
    Section {
        lead: vec![LEAD.into()],
        plots: vec![plot(&rates)],
        tables: vec![memory_table(rows), table],
        notes: vec!["The hash set is that of the standard library: 25 bytes a slot and the names themselves. The published figure for Java counts the characters alone.".into()],
        result: result(rows, &rates),
        ..Section::default()
    }
}

const LEAD: &str = "329 personal names in Chinese, the first of `umbel gen names -n 10329` (917 characters; the published list has 927), in a filter of m bits and 8 hash functions; then names that are not in it. The published test has 60 strangers, once for each of ten filters; its rates are multiples of 1/58, so that 58 of them were asked for: the other two must have had namesakes among the members, which it leaves out. 60 were asked for here, and 10 000 as well, for 60 cannot tell 3 % from 5 %. The published hash is a polynomial in a random seed below 100 (`polynomial-wrap`); XXH3 is ours.";

/// The rates of filters of m bits, with so many strangers asked for.
fn spread(rates: &Rows, m: u64, hash: &str, asked: &str) -> Option<Spread> {
    rates.with("m", &m.to_string()).with("hash", hash).with("strangers", asked).spread("value")
}

/// Nothing before all of it has been measured.
fn table(rates: &Rows) -> Option<Grid> {
    let percent = |x: f64| format!("{:.2}", 100.0 * x);
    let mut table = Grid::new(
        "Error rate in percent, ten filters of each size: mean · median · interval",
        &["m", "predicted", "published mean", "strangers", "their hash", "XXH3"],
    );
    for (m, theirs, _) in PUBLISHED {
        for asked in ASKED.map(|asked| asked.to_string()) {
            let mut cells = vec![
                whole(m as f64),
                percent(predicted(m as f64)),
                format!("{theirs:.2}"),
                whole(asked.parse().unwrap_or(0.0)),
            ];
            for hash in HASHES {
                cells.push(spread(rates, m, hash, &asked)?.text(100.0));
            }
            table.push(cells);
        }
    }
    Some(table)
}

fn plot(rates: &Rows) -> Plot {
    let curve = (0..=50).map(|i| 500.0 + 40.0 * f64::from(i)).map(|m| (m, 100.0 * predicted(m)));
    let ours = |name: &str, hash: &str| {
        let percent = |m| spread(rates, m, hash, "10000").map(|spread| spread.scaled(100.0));
        Series::medians(name, PUBLISHED.map(|(m, ..)| (m as f64, percent(m))))
    };
    Plot {
        title: "Error rate against the size of the filter".into(),
        x: Axis::linear("bits (m)"),
        y: Axis::linear("names taken for members, %"),
        series: vec![
            Series::new("predicted", Whose::Theory, curve),
            Series::new(
                "published, mean of ten",
                Whose::Published,
                PUBLISHED.map(|(m, mean, _)| (m as f64, mean)),
            ),
            ours("XXH3", "xxh3"),
            ours("their hash", "polynomial-wrap"),
        ],
        caption: "Names that are wrongly taken for members, against the bits of the filter: predicted, as published, and measured with 10 000 strangers; they lie nearly on each other.".into(),
    }
}

fn bytes(rows: &Rows, what: &str) -> f64 {
    rows.with("what", what).number("value").unwrap_or(0.0)
}

fn memory_table(rows: &Rows) -> Grid {
    let mut memory = Grid::new("Memory of 329 names", &["", "published, bytes", "ours, bytes"]);
    for (what, published) in [
        ("bytes of the filter", "400"),
        ("bytes of a hash set", "1 854 at least"),
        ("bytes of the names alone", ""),
    ] {
        let name = what.trim_start_matches("bytes of ");
        memory.push(vec![name.into(), published.into(), whole(bytes(rows, what))]);
    }
    memory
}

fn result(rows: &Rows, rates: &Rows) -> String {
    let reached = |hash| {
        PUBLISHED.map(|(m, ..)| {
            spread(rates, m, hash, "10000").map_or(0.0, |spread| spread.mean / predicted(m as f64))
        })
    };
    let (theirs, xxh3) = (reached("polynomial-wrap"), reached("xxh3"));
    format!(
        "Over five sizes the measured rate is {} to {} times the predicted one with XXH3, {} to {} times with the published hash. The filter takes {} bytes, a hash set {}.",
        plain(least(&xxh3)),
        plain(most(&xxh3)),
        plain(least(&theirs)),
        plain(most(&theirs)),
        whole(bytes(rows, "bytes of the filter")),
        whole(bytes(rows, "bytes of a hash set"))
    )
}

fn least(numbers: &[f64]) -> f64 {
    numbers.iter().copied().fold(f64::INFINITY, f64::min)
}

fn most(numbers: &[f64]) -> f64 {
    numbers.iter().copied().fold(0.0, f64::max)
}
