//! The default hash against the other candidate for it.

use std::hint::black_box;
use std::time::Instant;

use rapidhash::v3::rapidhash_v3;
use umbel::hash::{xxh3, xxh3_u64};

use crate::keys::scramble;

use super::{Plan, Report, Row};

/// Keys hashed again and again: they stay in the cache.
const KEYS: usize = 4096;
const ROUNDS: usize = 2000;

pub fn run(plan: &Plan, report: &mut Report) {
    for length in [8, 20, 64] {
        let name = format!("hash of {length} bytes");
        if plan.wants(&name) {
            let bytes: Vec<u8> = (0..KEYS * length).map(|i| scramble(i as u64) as u8).collect();
            // The length is only known when the program runs, as with keys of any length.
            let keys: Vec<&[u8]> = bytes.chunks(black_box(length)).collect();
            let ours = || keys.iter().fold(0, |sum, key| sum ^ xxh3(key, 0));
            let peer = || keys.iter().fold(0, |sum, key| sum ^ rapidhash_v3(key));
            report.row(race(name, ours, peer));
        }
    }
    let keys: Vec<u64> = (0..KEYS as u64).map(scramble).collect();
    let peer = || keys.iter().fold(0, |sum, key| sum ^ rapidhash_v3(&key.to_le_bytes()));
    let name = "hash of u64, one at a time";
    if plan.wants(name) {
        // The barrier keeps the compiler from hashing several keys at once.
        let ours = || keys.iter().fold(0, |sum, &key| black_box(sum ^ xxh3_u64(key, 0)));
        let peer = || keys.iter().fold(0, |sum, k| black_box(sum ^ rapidhash_v3(&k.to_le_bytes())));
        report.row(race(name.to_owned(), ours, peer));
    }
    let name = "hash of u64, batch";
    if plan.wants(name) {
        report.row(race(name.to_owned(), || sum(&keys), peer));
    }
}

fn race(work: String, ours: impl Fn() -> u64, peer: impl Fn() -> u64) -> Row {
    let mut best = [f64::INFINITY; 2];
    for _ in 0..ROUNDS {
        let times = [time(&ours), time(&peer)];
        best.iter_mut().zip(times).for_each(|(best, time)| *best = best.min(time));
    }
    let [ours, peer] = best;
    Row {
        work,
        ours: format!("{ours:.2} ns XXH3"),
        peer: format!("{peer:.2} ns rapidhash v3"),
        ratio: Some(peer / ours),
        ..Row::default()
    }
}

fn time(hash: impl Fn() -> u64) -> f64 {
    let start = Instant::now();
    black_box(hash());
    start.elapsed().as_nanos() as f64 / KEYS as f64
}

/// The hashes of a batch, with the widest vectors of the machine, as umbel works them out.
fn sum(keys: &[u64]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") {
            // SAFETY: the machine has them.
            return unsafe { sum_avx512(keys) };
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the machine has it.
            return unsafe { sum_avx2(keys) };
        }
    }
    sum_portable(keys)
}

#[inline(always)]
fn sum_portable(keys: &[u64]) -> u64 {
    keys.iter().fold(0, |sum, &key| sum ^ xxh3_u64(key, 0))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq")]
fn sum_avx512(keys: &[u64]) -> u64 {
    sum_portable(keys)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn sum_avx2(keys: &[u64]) -> u64 {
    sum_portable(keys)
}
