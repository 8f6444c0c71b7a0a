//! c2: how long lookups take in a filter and in a hash set (system C, section 5.3).

use std::collections::HashSet;
use std::hint::black_box;
use std::time::Instant;

use anyhow::Result;
use umbel::hash::{Family, Strategy, xxh3_u64};
use umbel::{Bloom, Keys, Params, Sizing};

use crate::data::Lines;
use crate::experiment::Experiment;
use crate::lab::Lab;
use crate::page::number::{plain, short, whole};
use crate::page::{Axis, Bar, Bars, Grid, Plot, Section, Series, Whose};
use crate::rows::{Book, Rows, cells};
use crate::spread::Spread;

pub const C2: Experiment = Experiment {
    id: "c2",
    title: "Lookups beside a hash set",
    columns: &["what", "n", "queries", "structure", "repetition", "ms"],
    key: 3,
    engines: false,
    measure,
    show,
};

const N: usize = 329;
const K: u32 = 8;
/// Queries of the whole set; published means in ms of the filter and of Java's hash set.
const PUBLISHED: [(u64, f64, f64); 5] = [
    (2000, 334.0, 246.0),
    (4000, 609.0, 417.0),
    (6000, 845.0, 531.0),
    (8000, 1084.0, 708.0),
    (10_000, 1255.0, 832.0),
];
const SMALL: [&str; 4] =
    ["filter, their hash", "filter, XXH3", "filter, XXH3, in batches", "hash set"];
const LARGE: [&str; 3] = ["filter", "filter, in batches", "hash set"];
/// Keys of the large sets: the hash set of the first has 19 MB, more than a core's own cache, that of the second more than any.
const SIZES: [u64; 2] = [1_000_000, 100_000_000];
const LOOKUPS: usize = 10_000_000;
/// Questions handed over together.
const TOGETHER: usize = 4096;

fn measure(lab: &Lab, book: &mut Book) -> Result<()> {
    let path = lab.data("names-329.txt", &["names", "-n", "329"])?;
    let lines = Lines::read(&path)?;
    let names = lines.keys();
    let small = Small::new(&names)?;
    for (queries, ..) in PUBLISHED {
        book.case(&["names", &N.to_string(), &queries.to_string()], || {
            Ok(rounds(lab, &SMALL, |structure| small.seconds(structure, queries)))
        })?;
    }
    for n in lab.amount(SIZES, [10_000, 1_000_000]) {
        let lookups = lab.amount(LOOKUPS, 1_000_000);
        book.case(&["integers", &n.to_string(), &lookups.to_string()], || {
            let large = Large::new(n, lookups)?;
            Ok(rounds(lab, &LARGE, |structure| large.seconds(structure)))
        })?;
    }
    Ok(())
}

/// All structures in turn, so that they see the same machine.
fn rounds(lab: &Lab, structures: &[&str], seconds: impl Fn(&str) -> f64) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for repetition in 1..=lab.repetitions() {
        for &structure in structures {
            rows.push(cells(&[&structure, &repetition, &(1e3 * seconds(structure))]));
        }
    }
    rows
}

/// The names, in filters of 1 % and in a hash set.
struct Small<'a> {
    names: &'a [&'a [u8]],
    theirs: Bloom,
    ours: Bloom,
    set: HashSet<&'a [u8]>,
}

impl Small<'_> {
    fn new<'a>(names: &'a [&'a [u8]]) -> Result<Small<'a>> {
        let params = Params::new(Sizing::classic_with_probes(N as u64, 0.01, K)?);
        let polynomial = Strategy::Seeded {
            family: Family::PolynomialWrap,
            seeds: vec![31, 37, 41, 43, 47, 53, 59, 61],
        };
        let mut theirs = Bloom::with(params.with_strategy(polynomial)?)?;
        let mut ours = Bloom::new(N as u64, 0.01)?;
        theirs.insert_batch(Keys::Bytes(names))?;
        ours.insert_batch(Keys::Bytes(names))?;
        Ok(Small { names, theirs, ours, set: names.iter().copied().collect() })
    }

    /// So many queries of the whole set, all of which are found.
    fn seconds(&self, structure: &str, queries: u64) -> f64 {
        let names = self.names;
        let all = |contains: &dyn Fn(&[u8]) -> bool| {
            names.iter().filter(|name| contains(black_box(name))).count()
        };
        let mut answers = [false; N];
        let start = Instant::now();
        for _ in 0..queries {
            let found = match structure {
                "filter, their hash" => all(&|name| self.theirs.contains(name)),
                "filter, XXH3" => all(&|name| self.ours.contains(name)),
                "hash set" => all(&|name| self.set.contains(name)),
                _ => {
                    self.ours
                        .contains_batch(Keys::Bytes(black_box(names)), &mut answers)
                        .expect("the keys are bytes");
                    answers.iter().filter(|&&answer| answer).count()
                }
            };
            assert_eq!(found, N, "{structure} lost a name");
        }
        start.elapsed().as_secs_f64()
    }
}

/// Integers, in a filter of 1 % and in a hash set, and questions half of which are found.
struct Large {
    filter: Bloom,
    set: HashSet<u64>,
    questions: Vec<u64>,
}

impl Large {
    fn new(n: u64, lookups: usize) -> Result<Large> {
        let key = |i: u64| xxh3_u64(i, 1);
        let mut filter = Bloom::for_integers(n, 0.01)?;
        let mut set = HashSet::with_capacity(n as usize);
        let mut batch = Vec::with_capacity(1 << 16);
        for start in (0..n).step_by(1 << 16) {
            batch.clear();
            batch.extend((start..n.min(start + (1 << 16))).map(key));
            filter.insert_batch(Keys::U64(&batch))?;
            set.extend(batch.iter().copied());
        }
        let questions = (0..lookups as u64).map(|i| key(xxh3_u64(i, 2) % (2 * n))).collect();
        Ok(Large { filter, set, questions })
    }

    fn seconds(&self, structure: &str) -> f64 {
        let start = Instant::now();
        let found = match structure {
            "filter" => self.questions.iter().filter(|&&key| self.filter.contains_u64(key)).count(),
            "hash set" => self.questions.iter().filter(|key| self.set.contains(key)).count(),
            _ => self.in_batches(),
        };
        let seconds = start.elapsed().as_secs_f64();
        assert!(found >= self.questions.len() * 2 / 5, "{structure} lost keys");
        seconds
    }

    fn in_batches(&self) -> usize {
        let mut words = [0; TOGETHER.div_ceil(64)];
        let count = |keys: &[u64]| {
            let words = &mut words[..keys.len().div_ceil(64)];
            self.filter.contains_mask(Keys::U64(keys), words).expect("the keys are integers");
            words.iter().map(|word| word.count_ones() as usize).sum::<usize>()
        };
        self.questions.chunks(TOGETHER).map(count).sum()
    }
}

fn show(rows: &Rows) -> Section {
    let (names, integers) = (rows.with("what", "names"), rows.with("what", "integers"));
    let sizes: Vec<Size> =
        integers.different("n").iter().map(|n| Size::of(&integers.with("n", n))).collect();
    Section {
        lead: vec![
            "The 329 names of `umbel gen names -n 329` (another list than that of c1, with the published number of characters, 927) in filters of 1 % and in a hash set; each query asks for all of them, and all are found, which is the longest way through a filter. Published is a filter in Java with eight hash functions that is slower than Java's hash set.".into(),
            "Then what the published conclusion expects but does not measure: a hash set larger than a core's own cache (1 M keys, 19 MB), and one larger than all caches (100 M keys), asked for 10 million random integers, half of which are in the set.".into(),
        ],
        plots: vec![plot(&names)],
        bars: sizes.iter().map(Size::bars).collect(),
        tables: vec![table(&names), large_table(&sizes)],
        notes: vec!["The published program reads the names from their file in every query and compares that; ours have them in memory. Ratios between filter and hash set can be compared, times cannot. The hash set is that of Rust's standard library, with its default hash.".into()],
        result: result(&names, &sizes),
    }
}

/// Times of so many queries of all names.
fn spread(names: &Rows, queries: u64, structure: &str) -> Option<Spread> {
    names.with("queries", &queries.to_string()).with("structure", structure).spread("ms")
}

fn table(names: &Rows) -> Grid {
    let heading = [&["queries", "published filter", "published hash set"], &SMALL[..]].concat();
    let mut table = Grid::new(
        "Queries of all 329 names, in ms: published means; ours as mean · median · interval",
        &heading,
    );
    for (queries, filter, set) in PUBLISHED {
        let mut line = vec![whole(queries as f64), whole(filter), whole(set)];
        line.extend(SMALL.map(|structure| {
            spread(names, queries, structure).map_or(String::new(), |spread| spread.text(1.0))
        }));
        table.push(line);
    }
    table
}

fn plot(names: &Rows) -> Plot {
    let published = |name: &str, pick: fn((u64, f64, f64)) -> f64| {
        Series::new(name, Whose::Published, PUBLISHED.map(|row| (row.0 as f64, pick(row))))
    };
    let ours = SMALL.iter().map(|structure| {
        let point =
            |(queries, ..): (u64, f64, f64)| (queries as f64, spread(names, queries, structure));
        Series::medians(structure, PUBLISHED.map(point))
    });
    let mut series = vec![
        published("published filter", |row| row.1),
        published("published hash set", |row| row.2),
    ];
    series.extend(ours);
    Plot {
        title: "Queries of the whole set of names".into(),
        x: Axis::linear("queries"),
        y: Axis::log("ms"),
        series,
        caption: "Time for so many queries of all 329 names, in filters and hash sets, as published and ours; the axis of time is logarithmic.".into(),
    }
}

fn result(names: &Rows, sizes: &[Size]) -> String {
    let [theirs, ours, batches, set] = SMALL.map(|structure| {
        spread(names, 10_000, structure).map_or("?".into(), |spread| plain(spread.median))
    });
    let sentences: Vec<String> = sizes.iter().map(Size::sentence).collect();
    format!(
        "10 000 queries of 329 names take {theirs} ms with the published hash, {ours} with XXH3, {batches} in batches, {set} in a hash set. {}",
        sentences.join(" ")
    )
}

/// What was measured of a large set: ns of a lookup in each structure.
struct Size {
    keys: f64,
    lookups: f64,
    spreads: [Option<Spread>; 3],
}

impl Size {
    fn of(rows: &Rows) -> Size {
        let number = |column| rows.number(column).unwrap_or(1.0);
        let (keys, lookups) = (number("n"), number("queries"));
        let each = |structure| rows.with("structure", structure).spread("ms");
        let spreads = LARGE.map(|structure| Some(each(structure)?.scaled(1e6 / lookups)));
        Size { keys, lookups, spreads }
    }

    fn median(&self, i: usize) -> f64 {
        self.spreads[i].map_or(0.0, |spread| spread.median)
    }

    fn bars(&self) -> Bars {
        let keys = short(self.keys);
        let bar = |i: usize| Bar { name: LARGE[i].into(), value: self.median(i), ours: i < 2 };
        Bars {
            title: format!("{keys} keys, a random lookup"),
            unit: "ns".into(),
            bars: (0..3).map(bar).collect(),
            limit: None,
            caption: format!(
                "Time of one lookup among {keys} integers in a filter, in a filter asked in batches, and in a hash set."
            ),
        }
    }

    fn sentence(&self) -> String {
        format!(
            "At {} keys a lookup takes {} ns in batches, {} in a hash set.",
            short(self.keys),
            plain(self.median(1)),
            plain(self.median(2))
        )
    }
}

fn large_table(sizes: &[Size]) -> Grid {
    let mut table = Grid::new(
        "Random lookups, ns each: mean · median · interval",
        &["keys", "lookups", LARGE[0], LARGE[1], LARGE[2]],
    );
    for size in sizes {
        let mut line = vec![short(size.keys), short(size.lookups)];
        let cell =
            |spread: &Option<Spread>| spread.map_or(String::new(), |spread| spread.text(1.0));
        line.extend(size.spreads.iter().map(cell));
        table.push(line);
    }
    table
}
