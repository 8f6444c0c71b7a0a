//! d2: hash functions for filters (system D, distance-sensitive membership in Python, its chapter 5).

use std::hint::black_box;
use std::time::Instant;

use anyhow::Result;
use md5::{Digest, Md5};
use sha1::Sha1;
use umbel::audit::Counts;
use umbel::hash::{Family, Strategy, xxh3, xxh3_u64};
use umbel::{Bloom, Params, Sizing};

use crate::experiment::Experiment;
use crate::lab::Lab;
use crate::page::number::plain;
use crate::page::{Axis, Bar, Bars, Grid, Plot, Point, Section, Series, Whose};
use crate::rows::{Book, Rows, cells};

pub const D2: Experiment = Experiment {
    id: "d2",
    title: "Hash functions for filters",
    columns: &["hash", "keys", "repetition", "hash_ns", "lookup_ns", "false_positives", "asked"],
    key: 2,
    engines: false,
    measure,
    show,
};

/// How the bits of a key come from a hash.
enum Way {
    /// The first 64 bits, from which all probes follow.
    Once(fn(&[u8]) -> u64),
    /// A 32-bit hash for each probe.
    Each(Family),
}

const WAYS: [(&str, Way); 6] = [
    ("XXH3", Way::Once(|key| xxh3(key, 0))),
    ("Murmur3, 32 bits", Way::Each(Family::Murmur3)),
    ("Murmur2, 32 bits", Way::Each(Family::Murmur2)),
    ("MD5", Way::Once(|key| first(&Md5::digest(key)))),
    ("SHA-1", Way::Once(|key| first(&Sha1::digest(key)))),
    ("polynomial, 32 bits", Way::Each(Family::PolynomialWrap)),
];
/// What is hashed: random letters, and decimals one after the other, as the published program had them.
const KEYS: [&str; 2] = ["words", "decimals"];
const N: u64 = 100_000;
const P: f64 = 0.01;
/// The multipliers of polynomials; 0, 1, 2 … would not be fair.
const SEEDS: [u32; 7] = [31, 37, 131, 313, 1313, 3131, 13_131];

fn measure(lab: &Lab, book: &mut Book) -> Result<()> {
    let asked = lab.amount(1_000_000, 100_000);
    for kind in KEYS {
        for (hash, way) in &WAYS {
            book.case(&[hash, kind], || {
                (1..=lab.repetitions())
                    .map(|repetition| one(kind, way, repetition, asked))
                    .collect()
            })?;
        }
    }
    Ok(())
}

/// One filter with keys of its own: the cells of its row.
fn one(kind: &str, way: &Way, repetition: usize, asked: usize) -> Result<Vec<String>> {
    let keys = Keys::new(kind, repetition as u64, N as usize + asked);
    let (members, strangers) = (0..N as usize, N as usize..N as usize + asked);
    let sizing = Sizing::classic(N, P)?;
    let strategy = match way {
        Way::Once(_) => Strategy::default(),
        Way::Each(Family::PolynomialWrap) => {
            Strategy::Seeded { family: Family::PolynomialWrap, seeds: SEEDS.to_vec() }
        }
        Way::Each(family) => Strategy::seeded(*family, sizing.probes()),
    };
    let mut filter = Bloom::with(Params::new(sizing).with_strategy(strategy)?)?;
    for i in members {
        match way {
            Way::Once(hash) => _ = filter.insert_hash(hash(keys.at(i)))?,
            Way::Each(_) => _ = filter.insert(keys.at(i)),
        }
    }
    let start = Instant::now();
    let mut counts = Counts::default();
    for i in strangers.clone() {
        let found = match way {
            Way::Once(hash) => filter.contains_hash(hash(keys.at(i)))?,
            Way::Each(_) => filter.contains(keys.at(i)),
        };
        counts.add(false, found);
    }
    let lookup = nanoseconds(start, asked);
    let start = Instant::now();
    for i in strangers {
        match way {
            Way::Once(hash) => _ = black_box(hash(keys.at(i))),
            Way::Each(family) => _ = black_box(family.index(keys.at(i), SEEDS[0], sizing.bits())),
        }
    }
    let hashing = nanoseconds(start, asked);
    Ok(cells(&[&repetition, &hashing, &lookup, &counts.false_positives, &asked]))
}

fn nanoseconds(start: Instant, keys: usize) -> f64 {
    start.elapsed().as_secs_f64() * 1e9 / keys as f64
}

fn first(digest: &[u8]) -> u64 {
    digest[..8].iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// Different keys, one behind the other.
struct Keys {
    text: String,
    ends: Vec<usize>,
}

impl Keys {
    fn new(kind: &str, seed: u64, n: usize) -> Keys {
        let (mut text, mut ends) = (String::new(), Vec::with_capacity(n));
        for i in 0..n as u64 {
            match kind {
                "decimals" => text += &format!("{:.2}", (seed * 10_000_000 + i) as f64 / 100.0),
                _ => word(xxh3_u64(i, seed), &mut text),
            }
            ends.push(text.len());
        }
        Keys { text, ends }
    }

    fn at(&self, i: usize) -> &[u8] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.text.as_bytes()[start..self.ends[i]]
    }
}

/// Fourteen letters, which a number of 64 bits decides.
fn word(mut number: u64, text: &mut String) {
    for _ in 0..14 {
        text.push((b'a' + (number % 26) as u8) as char);
        number /= 26;
    }
}

fn show(rows: &Rows) -> Section {
    Section {
        lead: vec![
            "The published filter takes a bit from MD5 and one from SHA-1, and names Murmur as the better choice. Here each hash decides the seven bits of a key in a filter of 100 000 keys and 1 %: hashes of 64 bits and more once, the rest of the bits following from it; those of 32 bits once for each probe, as the published programs do. Keys are words of 14 random letters, and decimals one after the other (100000.00, 100000.01, … in the first filter, from 200000.00 on in the second). `hash once` is one hash alone; that of the 32-bit hashes includes the reduction to a place among the m bits, that of the others does not.".into(),
        ],
        bars: vec![bars(rows)],
        plots: vec![plot(rows)],
        tables: vec![table(rows)],
        notes: Vec::new(),
        result: result(rows),
    }
}

fn of(rows: &Rows, hash: &str, kind: &str) -> Rows {
    rows.with("hash", hash).with("keys", kind)
}

fn table(rows: &Rows) -> Grid {
    let mut table = Grid::new(
        "One key at a time, ns as mean · median · interval, and false positives at 1 % asked",
        &[
            "hash",
            "keys",
            "hash once",
            "lookup of an absent key",
            "false positives, %",
            "least–most of the filters",
        ],
    );
    for kind in KEYS {
        for (hash, _) in &WAYS {
            let rows = of(rows, hash, kind);
            let (Some(alone), Some(lookup), Some(rate)) =
                (rows.spread("hash_ns"), rows.spread("lookup_ns"), rates(&rows))
            else {
                continue;
            };
            table.push(vec![
                hash.to_string(),
                kind.into(),
                alone.text(1.0),
                lookup.text(1.0),
                format!("{:.3}", rate.0),
                format!("{:.3}–{:.3}", rate.1, rate.2),
            ]);
        }
    }
    table
}

/// The median time of a lookup of an absent word.
fn lookup(rows: &Rows, hash: &str) -> Option<f64> {
    Some(of(rows, hash, KEYS[0]).spread("lookup_ns")?.median)
}

fn bars(rows: &Rows) -> Bars {
    let bar = |(hash, _): &(&str, Way)| {
        Some(Bar { name: hash.to_string(), value: lookup(rows, hash)?, ours: *hash == "XXH3" })
    };
    Bars {
        title: "A lookup of an absent word".into(),
        unit: "ns".into(),
        bars: WAYS.iter().filter_map(bar).collect(),
        limit: None,
        caption:
            "How long a lookup takes with each hash: a cryptographic hash takes most of its time."
                .into(),
    }
}

fn plot(rows: &Rows) -> Plot {
    let names = ["XXH3", "M3", "M2", "MD5", "SHA-1", "poly"].map(String::from).to_vec();
    let points = |kind: &str| {
        // The two kinds of keys stand side by side.
        let aside = if kind == KEYS[0] { -0.12 } else { 0.12 };
        let point = |(i, (hash, _)): (usize, &(&str, Way))| {
            let (mean, least, most) = rates(&of(rows, hash, kind))?;
            Some(Point { x: i as f64 + aside, y: mean, interval: Some((least, most)) })
        };
        WAYS.iter().enumerate().filter_map(point).collect()
    };
    let ours =
        KEYS.map(|kind| Series { name: kind.into(), whose: Whose::Ours, points: points(kind) });
    let asked = Series::new("asked", Whose::Theory, [(-0.5, 1.0), (5.5, 1.0)]);
    Plot {
        title: "False positives".into(),
        x: Axis::names("hash (M2, M3: Murmur)", names),
        y: Axis::close("false positives, %"),
        series: ours.into_iter().chain([asked]).collect(),
        caption: "The rate of false positives with each hash, with the least and the greatest of the filters; 1 % was asked for.".into(),
    }
}

fn result(rows: &Rows) -> String {
    let lookup = |hash: &str| lookup(rows, hash).map_or("?".into(), plain);
    let all = KEYS
        .iter()
        .flat_map(|kind| WAYS.iter().filter_map(|(hash, _)| rates(&of(rows, hash, kind))));
    let (least, most) = all.fold((f64::INFINITY, 0.0f64), |(least, most), (rate, ..)| {
        (least.min(rate), most.max(rate))
    });
    format!(
        "An absent word takes {} ns with XXH3, {} with Murmur3, {} with MD5, {} with SHA-1. The measured rates lie between {} and {} %.",
        lookup("XXH3"),
        lookup("Murmur3, 32 bits"),
        lookup("MD5"),
        lookup("SHA-1"),
        plain(least),
        plain(most)
    )
}

/// The rate of all filters together, and the least and the greatest of one, in percent.
fn rates(rows: &Rows) -> Option<(f64, f64, f64)> {
    let rates = rows
        .numbers("false_positives")
        .into_iter()
        .zip(rows.numbers("asked"))
        .map(|(wrong, asked)| 100.0 * wrong / asked);
    let rates: Vec<f64> = rates.collect();
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let ends = rates
        .iter()
        .fold((f64::INFINITY, 0.0f64), |(low, high), &rate| (low.min(rate), high.max(rate)));
    (!rates.is_empty()).then_some((mean, ends.0, ends.1))
}
