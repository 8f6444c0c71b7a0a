//! Filters of every sort, to test laws on.

use proptest::prelude::*;
use umbel::hash::Strategy as Hashing;
use umbel::{Bloom, Error, Sizing};

use super::samples;

/// An empty filter of every sort: small and full, so that keys share bits, and with room.
pub fn shapes() -> Vec<Bloom> {
    let mut shapes = Vec::new();
    for m in [61, 1000, 4096] {
        let sizing = Sizing::with(40, m, 5).unwrap();
        shapes.extend(samples::strategies(5).into_iter().map(|s| samples::empty(sizing, s)));
    }
    for m in [512, 1536, 8192] {
        let sizing = Sizing::blocked_with(40, m).unwrap();
        shapes.push(samples::empty(sizing, Hashing::default()));
        shapes.push(samples::empty(sizing, Hashing::Xxh3 { seed: 99 }));
    }
    shapes
}

pub fn with_keys(shape: &Bloom, keys: &[Vec<u8>]) -> Bloom {
    let mut filter = shape.clone();
    keys.iter().for_each(|key| {
        filter.insert(key);
    });
    filter
}

pub fn bytes(filter: &Bloom) -> Vec<u8> {
    filter.to_bytes().unwrap()
}

/// Short keys, so that the same key often comes twice.
pub fn some_keys() -> impl Strategy<Value = Vec<Vec<u8>>> {
    prop::collection::vec(prop::collection::vec(any::<u8>(), 0..4), 0..40)
}

/// The field, our value and theirs, as the error names them.
pub fn unlike<T: std::fmt::Debug>(result: umbel::Result<T>) -> [String; 3] {
    match result.unwrap_err() {
        Error::Unlike { field, ours, theirs } => [field.into(), ours, theirs],
        other => panic!("{other}"),
    }
}
