//! Count-min: adding to and asking a sketch of 2^20 counters in each of 5 rows.

use std::hint::black_box;
use std::time::Instant;

use datasketches::countmin::{CountMinSketch, CountMinValue};
use umbel::{Conservative, CountMin, CountMinParams};

use crate::keys::{Keys, Kind, Store, each_chunk, scramble};
use crate::table::Table;

use super::{Plan, Report, Row, Verdict};

const WIDTH: u32 = 1 << 20;
const DEPTH: u8 = 5;
/// Different keys, and keys in the stream.
const DISTINCT: usize = 1_000_000;
const STREAM: usize = 4_000_000;
const ROUNDS: usize = 15;
/// How many times the best peer.
const MUST: f64 = 2.0;
/// Keys handed over in one call.
const TOGETHER: usize = 16 << 10;

pub fn run(plan: &Plan, report: &mut Report) {
    for (kind, zipf) in [(Kind::U64, false), (Kind::U64, true), (Kind::Texts, false)] {
        let order = if zipf { "Zipf 1.0" } else { "uniform" };
        let name = format!("count-min 2^20 × 5, {} {order}", kind.name());
        if ["add", "query"].iter().any(|work| plan.wants(&format!("{name} {work}"))) {
            let stream = if zipf { zipf_stream(kind) } else { uniform_stream(kind) };
            race(&name, stream.keys(), report);
        }
    }
}

/// Every key as likely as any other.
fn uniform_stream(kind: Kind) -> Store {
    kind.make(STREAM, |i| scramble(i) % DISTINCT as u64)
}

/// The key of rank r with a probability in proportion to 1/r.
fn zipf_stream(kind: Kind) -> Store {
    let mut sum = 0.0;
    let sums: Vec<f64> = (1..=DISTINCT)
        .map(|rank| {
            sum += 1.0 / rank as f64;
            sum
        })
        .collect();
    kind.make(STREAM, |i| {
        let point = scramble(i) as f64 / 2f64.powi(64) * sum;
        sums.partition_point(|&sum| sum < point) as u64
    })
}

/// A sketch in the race.
trait Sketch {
    fn name(&self) -> &'static str;
    fn reset(&mut self);
    fn add(&mut self, keys: Keys);
    /// The sum of the estimates.
    fn sum(&self, keys: Keys) -> u64;
}

fn race(name: &str, stream: Keys, report: &mut Report) {
    let mut sketches: [Box<dyn Sketch>; 5] = [
        Box::new(Batch::new()),
        Box::new(OneByOne(Batch::new())),
        Box::new(Careful::new()),
        peer::<u32>(),
        peer::<u64>(),
    ];
    let mut best = [[f64::INFINITY; 2]; 5];
    for _ in 0..ROUNDS {
        for (sketch, [add, query]) in sketches.iter_mut().zip(&mut best) {
            sketch.reset();
            let start = Instant::now();
            sketch.add(black_box(stream));
            *add = add.min(each(start, stream));
            let start = Instant::now();
            black_box(sketch.sum(black_box(stream)));
            *query = query.min(each(start, stream));
        }
    }
    for (work, place) in [("add", 0), ("query", 1)] {
        let [ours, peer] = [best[0][place], best[3][place].min(best[4][place])];
        let ratio = peer / ours;
        report.row(Row {
            work: format!("{name} {work}"),
            ours: format!("{ours:.2} ns"),
            peer: format!("{peer:.2} ns datasketches"),
            ratio: Some(ratio),
            must: format!("≥ {MUST}×"),
            verdict: Some(Verdict::of(ratio >= MUST)),
            ..Row::default()
        });
    }
    let mut table = Table::new(&[&format!("{name}, ns a key"), "add", "query"]);
    for (sketch, times) in sketches.iter().zip(best) {
        let mut line = vec![sketch.name().to_owned()];
        line.extend(times.map(|time| format!("{time:.2}")));
        table.push(line);
    }
    report.candidates(table);
}

/// Nanoseconds for each key.
fn each(start: Instant, stream: Keys) -> f64 {
    start.elapsed().as_nanos() as f64 / stream.len() as f64
}

struct Batch {
    sketch: CountMin,
    empty: CountMin,
}

impl Batch {
    fn new() -> Batch {
        let empty = CountMin::new(params()).expect("a sketch of this size can be had");
        Batch { sketch: empty.clone(), empty }
    }
}

fn params() -> CountMinParams {
    CountMinParams::with_size(WIDTH.into(), DEPTH.into()).expect("this size is possible")
}

impl Sketch for Batch {
    fn name(&self) -> &'static str {
        "umbel"
    }

    fn reset(&mut self) {
        self.sketch = self.empty.clone();
    }

    fn add(&mut self, keys: Keys) {
        each_batch(keys, |keys| self.sketch.add_batch(keys).expect("keys are of any type"));
    }

    fn sum(&self, keys: Keys) -> u64 {
        sum(keys, |keys, estimates| self.sketch.estimate_batch(keys, estimates))
    }
}

/// Hands the keys over as batches.
fn each_batch(keys: Keys, mut take: impl FnMut(umbel::Keys)) {
    match keys {
        Keys::U64(keys) => keys.chunks(TOGETHER).for_each(|keys| take(umbel::Keys::U64(keys))),
        Keys::Texts(texts) => each_chunk(texts, |keys| take(umbel::Keys::Bytes(keys))),
    }
}

/// The sum of the estimates, asked for in batches.
fn sum(keys: Keys, ask: impl Fn(umbel::Keys, &mut [u64]) -> umbel::Result<()>) -> u64 {
    let mut estimates = vec![0; TOGETHER];
    let mut sum = 0;
    each_batch(keys, |keys| {
        let estimates = &mut estimates[..keys.len()];
        ask(keys, estimates).expect("there is a place for each");
        sum += estimates.iter().sum::<u64>();
    });
    sum
}

struct OneByOne(Batch);

impl Sketch for OneByOne {
    fn name(&self) -> &'static str {
        "umbel, one key at a time"
    }

    fn reset(&mut self) {
        self.0.reset();
    }

    fn add(&mut self, keys: Keys) {
        let sketch = &mut self.0.sketch;
        match keys {
            Keys::U64(keys) => keys.iter().for_each(|&key| sketch.add_u64(key, 1)),
            Keys::Texts(texts) => {
                each_chunk(texts, |keys| keys.iter().for_each(|key| sketch.add(key, 1)));
            }
        }
    }

    fn sum(&self, keys: Keys) -> u64 {
        let sketch = &self.0.sketch;
        let mut sum = 0;
        match keys {
            Keys::U64(keys) => keys.iter().for_each(|&key| sum += sketch.estimate_u64(key)),
            Keys::Texts(texts) => {
                each_chunk(texts, |keys| keys.iter().for_each(|key| sum += sketch.estimate(key)));
            }
        }
        sum
    }
}

/// Conservative update.
struct Careful {
    sketch: Conservative,
    empty: Conservative,
}

impl Careful {
    fn new() -> Careful {
        let empty = Conservative::new(params()).expect("a sketch of this size can be had");
        Careful { sketch: empty.clone(), empty }
    }
}

impl Sketch for Careful {
    fn name(&self) -> &'static str {
        "umbel, conservative"
    }

    fn reset(&mut self) {
        self.sketch = self.empty.clone();
    }

    fn add(&mut self, keys: Keys) {
        each_batch(keys, |keys| self.sketch.add_batch(keys).expect("keys are of any type"));
    }

    fn sum(&self, keys: Keys) -> u64 {
        sum(keys, |keys, estimates| self.sketch.estimate_batch(keys, estimates))
    }
}

struct Peer<T: CountMinValue> {
    sketch: CountMinSketch<T>,
    empty: CountMinSketch<T>,
}

fn peer<T: CountMinValue + Into<u64> + 'static>() -> Box<dyn Sketch> {
    let empty = CountMinSketch::<T>::new(DEPTH, WIDTH).expect("a sketch of this size can be had");
    Box::new(Peer { sketch: empty.clone(), empty })
}

impl<T: CountMinValue + Into<u64>> Sketch for Peer<T> {
    fn name(&self) -> &'static str {
        if size_of::<T>() == 4 {
            "datasketches, 32-bit counters"
        } else {
            "datasketches, 64-bit counters"
        }
    }

    fn reset(&mut self) {
        self.sketch = self.empty.clone();
    }

    fn add(&mut self, keys: Keys) {
        match keys {
            Keys::U64(keys) => keys.iter().for_each(|&key| self.sketch.update(key)),
            Keys::Texts(texts) => {
                each_chunk(texts, |keys| keys.iter().for_each(|&key| self.sketch.update(key)));
            }
        }
    }

    fn sum(&self, keys: Keys) -> u64 {
        let mut sum = 0;
        match keys {
            Keys::U64(keys) => keys.iter().for_each(|&key| sum += self.sketch.estimate(key).into()),
            Keys::Texts(texts) => each_chunk(texts, |keys| {
                keys.iter().for_each(|&key| sum += self.sketch.estimate(key).into());
            }),
        }
        sum
    }
}
