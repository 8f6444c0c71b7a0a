//! Vectors under the cosine: a scan, and HNSW (instant-distance).

use instant_distance::{Builder, HnswMap, Point, Search};
use umbel::similar::{Item, Params, Promise, Similar, Space};

use super::{Candidate, Questions, compare, heap, timed};
use crate::table::Table;

const N: usize = 10_000;
const DIMENSION: usize = 256;
const ASKED: usize = 1000;
/// Random vectors of this length are at a distance of 1 ± 0.25 from ten thousand others.
const PROMISE: (f64, f64) = (0.02, 0.7);

/// A vector of length 1.
#[derive(Clone)]
struct Unit(Vec<f32>);

impl Point for Unit {
    fn distance(&self, other: &Self) -> f32 {
        1.0 - product(&self.0, &other.0)
    }
}

fn product(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0; 16];
    let ((a, _), (b, _)) = (a.as_chunks::<16>(), b.as_chunks::<16>());
    for (a, b) in a.iter().zip(b) {
        (0..16).for_each(|i| sums[i] += a[i] * b[i]);
    }
    sums.iter().sum()
}

pub fn run() -> Table {
    let mut random = Random(1);
    let stored: Vec<Unit> = (0..N).map(|_| random.unit()).collect();
    let questions = Questions {
        close: (0..ASKED).map(|i| random.near(&stored[i * N / ASKED])).collect(),
        far: (0..ASKED).map(|_| random.unit()).collect(),
    };
    let middle = ((PROMISE.0 + PROMISE.1) / 2.0) as f32;
    let space = Space::Cosine { dimension: DIMENSION as u32 };
    let params = Params::new(space, N as u64, &Promise::new(PROMISE.0, PROMISE.1))
        .expect("it can be reached");
    let (filter, build) = timed(|| {
        let mut filter = Similar::new(params).expect("there is memory");
        stored
            .iter()
            .for_each(|item| filter.insert(Item::Floats(&item.0)).expect("it is a vector"));
        filter
    });
    let ((index, memory), index_build) =
        timed(|| heap::grown(|| Builder::default().build(stored.clone(), vec![(); N])));
    let index: HnswMap<Unit, ()> = index;
    let candidates = [
        Candidate {
            name: "umbel",
            build,
            bytes: params.bits_per_item() / 8.0,
            ask: Box::new(|item: &Unit| {
                filter.contains(Item::Floats(&item.0)).expect("it is a vector")
            }),
        },
        Candidate {
            name: "linear scan",
            build: 0.0,
            bytes: (4 * DIMENSION) as f64,
            ask: Box::new(|item| stored.iter().any(|known| known.distance(item) <= middle)),
        },
        Candidate {
            name: "HNSW (instant-distance)",
            build: index_build,
            bytes: memory / N as f64,
            ask: Box::new(|item| {
                let mut search = Search::default();
                index.search(item, &mut search).next().is_some_and(|near| near.distance <= middle)
            }),
        },
    ];
    compare(
        &format!("{N} vectors of {DIMENSION}, cosine {} against {}", PROMISE.0, PROMISE.1),
        &candidates,
        &questions,
    )
}

/// Repeatable random numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    fn normal(&mut self) -> f64 {
        let mut unit = || (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        (-2.0 * (1.0 - unit()).ln()).sqrt() * (std::f64::consts::TAU * unit()).cos()
    }

    fn unit(&mut self) -> Unit {
        let vector: Vec<f64> = (0..DIMENSION).map(|_| self.normal()).collect();
        let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
        Unit(vector.iter().map(|x| (x / length) as f32).collect())
    }

    /// Just within the close distance.
    fn near(&mut self, to: &Unit) -> Unit {
        let side = self.unit();
        let share = product(&side.0, &to.0);
        let mut side: Vec<f32> = side.0.iter().zip(&to.0).map(|(a, b)| a - share * b).collect();
        let length = product(&side, &side).sqrt();
        side.iter_mut().for_each(|x| *x /= length);
        let (cos, sin) =
            ((1.0 - PROMISE.0) as f32, (1.0 - (1.0 - PROMISE.0).powi(2)).sqrt() as f32);
        Unit(side.iter().zip(&to.0).map(|(a, b)| b * cos + a * sin).collect())
    }
}
