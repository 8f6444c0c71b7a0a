//! Numbers to test near structures on, and the answers by looking at every one of them.

use std::cmp::Ordering;

use umbel::near::{Builder, Grid, Near, Number, Structure};

use super::exact_sum::sign;
use super::random::Random;

/// The structure of these values, whatever would have been chosen.
pub fn built(grid: Grid, values: &[Number], structure: Structure, p: f64) -> Near {
    let mut builder = Builder::new(grid).with_seed(7);
    builder.extend(values.iter().copied()).unwrap();
    builder.build_as(structure, p).unwrap()
}

/// |x - y| against a distance, exactly.
pub fn compare_distance(x: Number, y: Number, distance: f64) -> Ordering {
    match (x, y) {
        (Number::Integer(x), Number::Integer(y)) => x.abs_diff(y).cmp(&(distance as u64)),
        (Number::Float(x), Number::Float(y)) => sign(&[x.max(y), -x.min(y), -distance]),
        _ => panic!("two types"),
    }
}

/// Whether a value lies within a distance of x.
pub fn any_within(values: &[Number], x: Number, distance: f64) -> bool {
    values.iter().any(|&y| compare_distance(x, y, distance) != Ordering::Greater)
}

/// `count` values in crowds: each near one of a few places between -range and range.
pub fn crowds(random: &mut Random, count: usize, range: f64, width: f64) -> Vec<f64> {
    let unit = |random: &mut Random| random.below(1 << 53) as f64 / 2f64.powi(53);
    let places: Vec<f64> = (0..5).map(|_| (2.0 * unit(random) - 1.0) * range).collect();
    (0..count).map(|_| places[random.below(5)] + width * unit(random)).collect()
}
