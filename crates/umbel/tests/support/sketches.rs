//! Sketches of every size, to test laws on.

use proptest::prelude::*;
use umbel::{CountMin, CountMinParams};

/// Small and crowded, so that keys share counters, and with room; powers of two and not.
pub fn shapes() -> Vec<CountMin> {
    [(1, 1), (2, 3), (17, 4), (64, 5), (1000, 2), (61, 64)]
        .into_iter()
        .map(|(width, depth)| CountMinParams::with_size(width, depth).unwrap().with_seed(width))
        .map(|params| CountMin::new(params).unwrap())
        .collect()
}

/// Keys with weights.
pub type Stream = Vec<(Vec<u8>, u64)>;

pub fn with_stream(shape: &CountMin, stream: &[(Vec<u8>, u64)]) -> CountMin {
    let mut sketch = shape.clone();
    stream.iter().for_each(|(key, weight)| sketch.add(key, *weight));
    sketch
}

/// Short keys, so that the same key often comes twice; weights on both sides of every width of counters, also such that
/// sums go beyond 2^64.
pub fn some_stream() -> impl Strategy<Value = Stream> {
    let weight = prop_oneof![
        4 => Just(1),
        4 => 0..300_u64,
        2 => 60_000..70_000_u64,
        1 => (1 << 31)..(1_u64 << 33),
        1 => (u64::MAX / 3)..=u64::MAX,
    ];
    prop::collection::vec((prop::collection::vec(any::<u8>(), 0..3), weight), 0..40)
}

pub fn bytes(sketch: &CountMin) -> Vec<u8> {
    sketch.to_bytes().unwrap()
}
