//! Streams of keys of every shape, always the same.

use std::collections::HashMap;

use super::random::Random;

/// Keys by rank, the one of rank r with a probability in proportion to r^-s; s = 0 is uniform.
pub struct Zipf {
    sums: Vec<f64>,
}

impl Zipf {
    pub fn new(distinct: u32, s: f64) -> Zipf {
        let mut sum = 0.0;
        let mut next = |rank: u32| {
            sum += f64::from(rank).powf(-s);
            sum
        };
        Zipf { sums: (1..=distinct).map(&mut next).collect() }
    }

    /// A rank, from 0 on.
    pub fn draw(&self, random: &mut Random) -> u64 {
        let uniform = (random.next().unwrap() >> 11) as f64 / (1_u64 << 53) as f64;
        let point = uniform * self.sums.last().unwrap();
        (self.sums.partition_point(|&sum| sum <= point) as u64).min(self.sums.len() as u64 - 1)
    }

    pub fn stream(&self, seed: u64, count: usize) -> Vec<u64> {
        let mut random = Random(seed);
        (0..count).map(|_| self.draw(&mut random)).collect()
    }
}

/// How often each key comes.
pub fn counts(stream: &[u64]) -> HashMap<u64, u64> {
    let mut counts = HashMap::new();
    stream.iter().for_each(|&key| *counts.entry(key).or_insert(0) += 1);
    counts
}

/// Refuses more hits than a probability of `p` explains: four standard deviations and one hit.
pub fn at_most(hits: usize, trials: usize, p: f64, what: &str) {
    let (expected, n) = (p * trials as f64, trials as f64);
    let limit = expected + 4.0 * (n * p * (1.0 - p)).sqrt() + 1.0;
    assert!(hits as f64 <= limit, "{what}: {hits} of {trials}, more than {limit:.1}");
}
