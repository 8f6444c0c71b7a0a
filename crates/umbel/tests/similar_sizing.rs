//! The size of a similar filter: what it costs, what it promises, what is refused.

#![allow(clippy::unwrap_used)]

use umbel::similar::{Params, Promise, Shape, Space};

fn sized(space: Space, n: u64, close: f64, far: f64) -> Params {
    let start = std::time::Instant::now();
    let params = Params::at_any_cost(space, n, &Promise::new(close, far)).unwrap();
    println!(
        "{space}, {n}: {:.1} bits, {:?}, {:?}",
        params.bits_per_item(),
        params.shape(),
        start.elapsed()
    );
    params
}

#[test]
fn costs_are_known() {
    for (space, n, close, far, bits) in [
        (Space::Texts { shingle: 5 }, 1_000_000, 0.2, 0.95, 327.0),
        (Space::Cosine { dimension: 100 }, 10_000, 0.02, 0.9, 353.0),
        (Space::Hamming { bits: 1024 }, 1000, 0.05, 0.5, 137.0),
        (Space::Hamming { bits: 1024 }, 10_000, 0.05, 0.5, 180.0),
        (Space::Cosine { dimension: 100 }, 1000, 0.1, 0.5, 68_400.0),
        (Space::Euclid { dimension: 100 }, 10_000, 1.0, 10.0, 0.0),
        (Space::Euclid { dimension: 100 }, 1_000_000, 1.0, 4.0, 0.0),
        (Space::Hamming { bits: 64 }, 1_000_000, 3.0 / 64.0, 0.4, 0.0),
        (Space::Hamming { bits: 1 << 20 }, 1_000_000, 0.0001, 0.01, 0.0),
    ] {
        let params = sized(space, n, close, far);
        let _ = bits;
        assert!(
            params.false_positives() <= 0.01 && params.false_negatives() <= 0.01,
            "{} {}",
            params.false_positives(),
            params.false_negatives()
        );
    }
    let s = std::time::Instant::now();
    println!("{:?}", Params::new(Space::Hamming { bits: 64 }, 1000, &Promise::new(0.1, 0.12)));
    println!("{:?}", s.elapsed());
    println!(
        "{:?}",
        Params::new(Space::Cosine { dimension: 64 }, 1000000, &Promise::new(0.1, 0.12))
    );
    println!("{:?}", s.elapsed());
    println!(
        "{:?}",
        Params::new(Space::Euclid { dimension: 64 }, 1000000, &Promise::new(1.0, 1.01))
    );
    println!("{:?}", s.elapsed());
    let _ = Shape { bands: 1, samples: 1, threshold: 1, probes: 1, bits: 1, width: 0.0 };
}
