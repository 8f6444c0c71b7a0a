//! The size of a similar filter: what it costs, what it promises, what is refused.

#![allow(clippy::unwrap_used)]

use umbel::similar::{Params, Promise, Shape, Space};

fn sized(space: Space, n: u64, close: f64, far: f64) -> Params {
    Params::at_any_cost(space, n, &Promise::new(close, far)).unwrap()
}

/// Bits an item at 1 % on both sides, as the manual has them. Sizing counts with the system's logarithms: the last digits may differ elsewhere.
#[test]
fn costs_are_known() {
    for (space, n, close, far, bits) in [
        (Space::Texts { shingle: 5 }, 1_000_000, 0.2, 0.95, 327.3),
        (Space::Cosine { dimension: 100 }, 10_000, 0.02, 0.9, 353.2),
        (Space::Cosine { dimension: 100 }, 1000, 0.1, 0.5, 68_414.0),
        (Space::Hamming { bits: 1024 }, 1000, 0.05, 0.5, 135.0),
        (Space::Hamming { bits: 1024 }, 10_000, 0.05, 0.5, 183.4),
        (Space::Euclid { dimension: 100 }, 10_000, 1.0, 10.0, 214.1),
    ] {
        let params = sized(space, n, close, far);
        let found = params.bits_per_item();
        assert!((found / bits - 1.0).abs() < 0.002, "{space}: {found}, not {bits}");
        assert!(params.bits() as f64 == found * n as f64);
    }
}

/// P[Bin(k, p) ≥ tau] from the logarithms of its terms.
fn at_least(tau: u32, k: u32, p: f64) -> f64 {
    let mut ln_choices = 0.0;
    let mut sum = 0.0;
    for hits in 0..=k {
        let (hits_f, rest) = (f64::from(hits), f64::from(k - hits));
        if hits >= tau {
            // Nothing to the power of nothing is one.
            let all = if hits == k { 0.0 } else { rest * (-p).ln_1p() };
            sum += (ln_choices + hits_f * p.ln() + all).exp();
        }
        ln_choices += rest.ln() - (hits_f + 1.0).ln();
    }
    sum
}

/// The rates of any shape are those of plain sums, and sizing keeps what was asked on both sides.
#[test]
fn promises_are_exact_binomials() {
    for n in [1, 10, 1000, 1_000_000] {
        for (close, far) in [(0.0, 0.5), (0.1, 0.8), (0.3, 1.0)] {
            for (false_positives, false_negatives) in [(0.01, 0.01), (1e-6, 0.2), (0.2, 1e-4)] {
                let promise = Promise { close, far, false_positives, false_negatives };
                let params = Params::at_any_cost(Space::Sets, n, &promise).unwrap();
                let Shape { bands, samples, threshold, probes, bits, .. } = params.shape();
                let fill = 1.0 - (1.0 - 1.0 / bits as f64).powf(f64::from(probes) * n as f64);
                let agree = (n as f64 * (1.0 - far).powi(samples as i32)).min(1.0);
                let found = 1.0 - (1.0 - agree) * (1.0 - fill.powi(probes as i32));
                let (fp, fn_) = (params.false_positives(), params.false_negatives());
                let like = |a: f64, b: f64| (a - b).abs() <= 1e-5 * b + 1e-12;
                assert!(like(fp, at_least(threshold, bands, found)), "{params:?}: {fp}");
                let missed = 1.0 - at_least(threshold, bands, (1.0 - close).powi(samples as i32));
                assert!(like(fn_, missed.max(0.0)) || missed < 1e-9, "{params:?}: {fn_}, {missed}");
                assert!(fp <= false_positives && fn_ <= false_negatives, "{params:?}");
                assert!(params.false_positives_at(2 * n) >= fp);
            }
        }
    }
}

/// No neighbour of the shape that was found keeps the promise with fewer bits.
#[test]
fn no_shape_nearby_is_smaller() {
    let promise = Promise::new(0.2, 0.9);
    let best = Params::at_any_cost(Space::Sets, 10_000, &promise).unwrap();
    let shape = best.shape();
    for samples in shape.samples - 2..=shape.samples + 2 {
        for bands in 1..3 * shape.bands {
            for threshold in 1..=bands.min(8) {
                for probes in 1..=12 {
                    // A bit fewer than the best has.
                    let bits = (best.bits() - 1) / u64::from(bands);
                    let shape = Shape { bands, samples, threshold, probes, bits, width: 0.0 };
                    let Ok(other) = Params::with_shape(Space::Sets, 10_000, 0.2, 0.9, shape) else {
                        continue;
                    };
                    let keeps = other.false_negatives() <= 0.01 && other.false_positives() <= 0.01;
                    // Rounding of m may be worth a bit a band.
                    assert!(
                        !keeps
                            || best.bits() - other.bits()
                                <= 2 * u64::from(bands.max(best.shape().bands)),
                        "{other:?}"
                    );
                }
            }
        }
    }
}

/// A narrow gap is dear, and not for want of searching: of all samples and thresholds that could do, with the fewest bands that find close
/// items and any number of probes, none keeps the promise with half a percent fewer bits.
#[test]
fn a_narrow_gap_has_no_cheaper_shape() {
    let (space, n, close, far) = (Space::Cosine { dimension: 8 }, 1000, 0.1, 0.5);
    let best = sized(space, n, close, far);
    let mut tried = 0;
    for (samples, threshold) in (20..=60).flat_map(|t| (1..=40).map(move |tau| (t, tau))) {
        let params = |bands: u32, probes| {
            let bits = (0.995 * best.bits() as f64 / f64::from(bands)) as u64;
            let shape = Shape { bands, samples, threshold, probes, bits, width: 0.0 };
            Params::with_shape(space, n, close, far, shape)
        };
        let finds = |bands: u32| params(bands, 1).is_ok_and(|p| p.false_negatives() <= 0.01);
        let Some(enough) = (0..=16).map(|i| threshold << i).find(|&k| finds(k)) else { continue };
        let (mut low, mut high) = (threshold.max(enough / 2), enough);
        while low < high {
            let middle = low + (high - low) / 2;
            if finds(middle) { high = middle } else { low = middle + 1 }
        }
        for probes in 1..=20 {
            let other = params(high, probes).unwrap();
            tried += 1;
            assert!(other.false_positives() > 0.01, "{other:?}");
        }
    }
    assert!(tried > 10_000, "{tried}");
}

/// LSHBloom: b bands at a rate fp each cost b n ln(1/fp) / ln² 2 bits, and add 1 - (1 - fp)^b false positives; 9 bands at 10^-5 are 27 bytes a document.
#[test]
fn one_band_of_any_is_lsh_bloom() {
    let (bands, fp, n) = (9, 1e-5_f64, 1_000_000_u64);
    let per_band = -fp.ln() / std::f64::consts::LN_2.powi(2);
    let bits = (n as f64 * per_band).ceil() as u64;
    let shape = Shape { bands, samples: 13, threshold: 1, probes: 17, bits, width: 0.0 };
    let params = Params::with_shape(Space::Texts { shingle: 5 }, n, 0.2, 1.0, shape).unwrap();
    assert!((params.bits_per_item() / 8.0 - 27.0).abs() < 0.1, "{}", params.bits_per_item());
    let added = 1.0 - (1.0 - fp).powi(bands as i32);
    assert!((params.false_positives() / added - 1.0).abs() < 0.01, "{}", params.false_positives());
}

#[test]
fn what_cannot_be_reached_is_refused_with_advice() {
    let strings = Space::Hamming { bits: 64 };
    let refused = |space, n, promise: Promise| {
        Params::at_any_cost(space, n, &promise).unwrap_err().to_string()
    };
    let message = refused(strings, 1000, Promise::new(0.1, 0.12));
    assert!(message.contains("too near to each other"), "{message}");
    // The advice can be followed.
    let advised = |message: &str| -> f64 {
        let (_, rest) = message.split_once("distance of ").unwrap();
        rest.split(' ').next().unwrap().parse().unwrap()
    };
    assert!(Params::at_any_cost(strings, 1000, &Promise::new(0.1, advised(&message))).is_ok());
    let message = refused(Space::Cosine { dimension: 8 }, 10_000_000, Promise::new(1.0, 1.2));
    let distance = advised(&message);
    let followed = match message.contains("a close distance") {
        true => Promise::new(distance, 1.2),
        false => Promise::new(1.0, distance),
    };
    assert!(
        Params::at_any_cost(Space::Cosine { dimension: 8 }, 10_000_000, &followed).is_ok(),
        "{message}"
    );
    for (promise, says) in [
        (Promise::new(0.5, 0.5), "below the far one"),
        (Promise::new(-0.1, 0.5), "from 0 on"),
        (Promise::new(0.1, 1.5), "at most 1"),
        (Promise::new(f64::NAN, 0.5), "from 0 on"),
        (
            Promise { false_positives: 0.0, ..Promise::new(0.1, 0.5) },
            "false positives lies between",
        ),
        (
            Promise { false_negatives: 1.0, ..Promise::new(0.1, 0.5) },
            "false negatives lies between",
        ),
        (
            Promise { false_positives: 0.5, false_negatives: 0.5, ..Promise::new(0.1, 0.5) },
            "a coin",
        ),
    ] {
        let message = refused(strings, 10, promise);
        assert!(message.contains(says), "{message}");
    }
    assert!(refused(strings, 0, Promise::new(0.1, 0.5)).contains("at least 1"));
    assert!(refused(Space::Hamming { bits: 0 }, 1, Promise::new(0.1, 0.5)).contains("1 to 2^24"));
}

#[test]
fn a_filter_dearer_than_its_items_is_refused() {
    let narrow = Promise::new(0.1, 0.5);
    let space = Space::Cosine { dimension: 100 };
    let message = Params::new(space, 1000, &narrow).unwrap_err().to_string();
    assert!(
        message.contains("68415 bits an item") && message.contains("themselves 3200"),
        "{message}"
    );
    assert!(Params::at_any_cost(space, 1000, &narrow).is_ok());
    assert!(Params::new(space, 1000, &Promise::new(0.02, 0.9)).is_ok());
    let texts = sized(Space::Texts { shingle: 5 }, 1_000_000, 0.2, 0.95);
    assert!(texts.check_worth(300.0).is_err() && texts.check_worth(400.0).is_ok());
}
