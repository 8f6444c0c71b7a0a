//! The core alone on a million integers, for bench/python: ns a key to add and to look up, the best of nine rounds.

use std::hint::black_box;
use std::time::Instant;

use umbel::{Bloom, Keys};

const N: u64 = 1_000_000;
const ROUNDS: usize = 9;

pub fn run() {
    // Any odd multiplier spreads the numbers; the hash does the rest.
    let words: Vec<u64> = (0..N).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
    let keys = Keys::U64(&words);
    let empty = || Bloom::for_integers(N, 0.01).expect("a million keys can be had");
    let add = best(empty, |filter| filter.insert_batch(black_box(keys)));
    let mut full = empty();
    full.insert_batch(keys).expect("integers are taken");
    let mut answers = vec![false; words.len()];
    let look_up = best(|| (), |()| full.contains_batch(black_box(keys), &mut answers));
    println!("{add:.3} {look_up:.3}");
}

fn best<T>(make: impl Fn() -> T, mut work: impl FnMut(&mut T) -> umbel::Result<()>) -> f64 {
    let rounds = (0..ROUNDS).map(|_| {
        let mut made = make();
        let start = Instant::now();
        work(&mut made).expect("integers are taken");
        start.elapsed().as_nanos() as f64 / N as f64
    });
    rounds.fold(f64::INFINITY, f64::min)
}
