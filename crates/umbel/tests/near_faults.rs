//! Faults that programs of this sort have had, one test each, for every structure.

#![allow(clippy::unwrap_used)]

mod support;

use support::numbers::built;
use support::random::integers;
use umbel::near::{Grid, Near, Number, Structure};

fn each(alpha: f64, beta: f64, values: &[f64], test: impl Fn(&Near)) {
    let values: Vec<Number> = values.iter().map(|&y| y.into()).collect();
    for structure in Structure::ALL {
        test(&built(Grid::floats(alpha, beta).unwrap(), &values, structure, 0.001));
    }
}

/// The rows of a table of bits were one and the same row: 65 536 bits instead of 2^32, full after some ten thousand values.
#[test]
fn all_bits_are_bits_of_their_own() {
    let values: Vec<Number> =
        integers(1, 200_000).iter().map(|x| ((x >> 20) as i64).into()).collect();
    for structure in Structure::ALL {
        let near = built(Grid::integers(5, 1).unwrap(), &values, structure, 0.01);
        let strangers = integers(2, 10_000);
        let found = strangers.iter().filter(|&x| near.contains((x >> 20) as i64).unwrap()).count();
        assert!(found < 200, "{structure}: {found} of 10 000");
        assert!(near.bits() > 2_000_000);
    }
}

/// Leading zeros of a hash were dropped, so that half of the places were never used.
#[test]
fn all_places_are_used() {
    for structure in [Structure::OneLevel, Structure::TwoLevels] {
        let values: Vec<Number> =
            integers(1, 20_000).iter().map(|x| ((x >> 20) as i64).into()).collect();
        let near = built(Grid::integers(5, 1).unwrap(), &values, structure, 0.01);
        let bytes = near.to_bytes().unwrap();
        let body = &bytes[bytes.len() - near.bits() as usize / 8..];
        for part in body.chunks(body.len() / 16) {
            let ones = part.iter().map(|byte| u64::from(byte.count_ones())).sum::<u64>() as f64;
            let fill = ones / (8 * part.len()) as f64;
            assert!((0.42..0.58).contains(&fill), "{structure}: {fill}");
        }
    }
}

/// Values were rounded to decimals instead of to beta.
#[test]
fn values_are_rounded_to_beta() {
    for beta in [0.1, 0.05, 0.03, 0.01, 0.2, 1.0, 0.007] {
        each(0.1, beta, &[5.03], |near| {
            assert!(near.contains(5.0).unwrap(), "beta {beta}: {near:?}")
        });
    }
}

/// The distances asked for were alpha, alpha - beta, … and drifted: 0.3 - 0.1 - 0.1 is not 0.1.
#[test]
fn no_distance_is_skipped() {
    each(0.3, 0.1, &[5.1], |near| assert!(near.contains(5.0).unwrap(), "{near:?}"));
    for k in 0..=3 {
        for sign in [-1.0, 1.0] {
            each(0.3, 0.1, &[5.0 + sign * f64::from(k) / 10.0], |near| {
                assert!(near.contains(5.0).unwrap(), "{k} tenths: {near:?}");
            });
        }
    }
}

/// Halves were rounded to the even neighbour, asked and stored, and so away from each other.
#[test]
fn halves_do_not_fall_apart() {
    each(5.0, 1.0, &[1.0], |near| assert!(near.contains(0.5).unwrap(), "{near:?}"));
    for half in [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5] {
        each(5.0, 1.0, &[half], |near| {
            for x in [half - 5.0, half + 5.0, half] {
                assert!(near.contains(x).unwrap(), "{half}, {x}: {near:?}");
            }
        });
    }
}

/// "-0.0" was another key than "0.0".
#[test]
fn zero_has_no_sign() {
    each(0.0, 0.1, &[-0.0], |near| assert!(near.contains(0.0).unwrap(), "{near:?}"));
    each(0.0, 0.1, &[0.0], |near| assert!(near.contains(-0.0).unwrap(), "{near:?}"));
    each(0.3, 0.1, &[-0.04], |near| assert!(near.contains(0.26).unwrap(), "{near:?}"));
}

/// A question called itself once for each step of beta, until the stack was full.
#[test]
fn wide_questions_are_answered() {
    for ratio in [2000.0, 100_000.0, 2_000_000.0] {
        each(ratio, 1.0, &[1e7], |near| {
            assert!(near.contains(1e7 + ratio).unwrap() && near.contains(1e7 - ratio).unwrap());
            assert!(!near.contains(1e7 - 2.0 * ratio - 5.0).unwrap(), "{near:?}");
        });
    }
}

/// "No false negatives" was claimed. Here it is so.
#[test]
fn every_distance_up_to_alpha_is_found() {
    let (alpha, beta) = (0.7, 0.1);
    let values: Vec<f64> = integers(3, 50).iter().map(|x| (x >> 54) as f64 / 37.0).collect();
    each(alpha, beta, &values, |near| {
        for y in &values {
            for step in -700..=700 {
                let x = y + f64::from(step) / 1000.0;
                let within = (x - y).abs() <= alpha;
                assert!(!within || near.contains(x).unwrap(), "{y} is near {x}: {near:?}");
            }
        }
    });
}
