//! Inserts into one filter by two threads.

use std::hint::black_box;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use fastbloom::AtomicBloomFilter;
use rapidhash::fast::RandomState;
use umbel::hash::xxh3_u64;
use umbel::{Bloom, Keys};

use crate::keys::{Kind, Store};
use crate::memory::{Pages, prefetch};
use crate::peers::RATE;

use super::{Plan, Report, Row};

const ROUNDS: usize = 3;
/// Ranges of lines in the sharded filter.
const SHARDS: usize = 64;
/// Hashes that a thread collects for a range before it locks it.
const BUCKET: usize = 4096;
const AHEAD: usize = 16;

pub fn run(plan: &Plan, report: &mut Report) {
    let (n, name) = plan.many();
    let works = ["1 thread", "shards", "partials", "atomic words", "fastbloom atomic"];
    let name_of = |work: &str| format!("sharing u64 {name}, 2 threads: {work}");
    if !works.iter().any(|work| plan.wants(&name_of(work))) {
        return;
    }
    let Store::U64(keys) = Kind::U64.members(n) else { unreachable!("these are integers") };
    let ways: [fn(&[u64]) -> Outcome; 5] = [alone, shards, partials, atomics, fastbloom];
    let mut best: [Outcome; 5] = Default::default();
    for round in 0..ROUNDS {
        for (way, best) in ways.into_iter().zip(&mut best) {
            if round == 0 || best.time < 60.0 {
                let outcome = way(&keys);
                best.time = if round == 0 { outcome.time } else { best.time.min(outcome.time) };
                best.extra = outcome.extra;
            }
        }
    }
    let peer = best[4].time;
    for (work, outcome) in works.into_iter().zip(&best) {
        report.row(Row {
            work: name_of(work),
            ours: format!(
                "{:.2} ns, {:.1} MiB extra",
                outcome.time,
                outcome.extra as f64 / 1048576.0
            ),
            peer: format!("{peer:.2} ns fastbloom atomic"),
            ratio: Some(peer / outcome.time),
            ..Row::default()
        });
    }
}

#[derive(Default)]
struct Outcome {
    /// Nanoseconds a key.
    time: f64,
    /// Bytes of memory beside the filter.
    extra: usize,
}

fn time(keys: &[u64], extra: usize, work: impl FnOnce()) -> Outcome {
    let start = Instant::now();
    work();
    Outcome { time: start.elapsed().as_nanos() as f64 / keys.len() as f64, extra }
}

fn empty(keys: &[u64]) -> Bloom {
    // A clone has touched all of its memory.
    Bloom::new(keys.len() as u64, RATE).expect("the size can be had").clone()
}

fn fill(bloom: &mut Bloom, keys: &[u64]) {
    bloom.insert_batch(Keys::U64(keys)).expect("xxh3 takes integers");
}

fn check(bloom: &Bloom, keys: &[u64]) {
    assert!(keys.iter().step_by(1000).all(|&key| bloom.contains_u64(key)), "a key was lost");
}

fn in_two(keys: &[u64], work: impl Fn(&[u64]) + Sync) {
    let (front, back) = keys.split_at(keys.len() / 2);
    thread::scope(|scope| {
        scope.spawn(|| work(front));
        work(back);
    });
}

/// No sharing at all: what one thread does.
fn alone(keys: &[u64]) -> Outcome {
    let mut bloom = empty(keys);
    let outcome = time(keys, 0, || fill(&mut bloom, keys));
    check(&bloom, keys);
    outcome
}

/// Ranges of lines behind locks; each thread collects hashes by range.
fn shards(keys: &[u64]) -> Outcome {
    let mut bloom = empty(keys);
    let (router, shards) = bloom.shards(SHARDS).expect("the layout is blocked");
    let shards: Vec<_> = shards.into_iter().map(Mutex::new).collect();
    let flush = |home: usize, bucket: &mut Vec<u64>| {
        shards[home].lock().expect("no thread has failed").insert_hashes(bucket);
        bucket.clear();
    };
    let outcome = time(keys, 2 * shards.len() * BUCKET * 8, || {
        in_two(keys, |keys| {
            let mut buckets: Vec<Vec<u64>> =
                shards.iter().map(|_| Vec::with_capacity(BUCKET)).collect();
            for &key in keys {
                let hash = xxh3_u64(key, 0);
                let home = router.home(hash);
                buckets[home].push(hash);
                if buckets[home].len() == BUCKET {
                    flush(home, &mut buckets[home]);
                }
            }
            buckets.iter_mut().enumerate().for_each(|(home, bucket)| flush(home, bucket));
        });
    });
    bloom.add_inserted(keys.len() as u64);
    check(&bloom, keys);
    outcome
}

/// A filter for each thread, merged at the end.
fn partials(keys: &[u64]) -> Outcome {
    let (mut first, mut second) = (empty(keys), empty(keys));
    let bytes = first.sizing().bits() as usize / 8;
    let (front, back) = keys.split_at(keys.len() / 2);
    let outcome = time(keys, bytes, || {
        thread::scope(|scope| {
            scope.spawn(|| fill(&mut second, back));
            fill(&mut first, front);
        });
        first.merge(&second).expect("they are alike");
    });
    check(&first, keys);
    outcome
}

/// The same layout and the same bits, set word by word with atomic operations.
fn atomics(keys: &[u64]) -> Outcome {
    let bytes = empty(keys).sizing().bits() as usize / 8;
    let mut pages = Pages::new(bytes);
    let lines = pages.lines_mut();
    let (ptr, len): (*const [AtomicU64; 8], usize) = (lines.as_ptr().cast(), lines.len());
    // SAFETY: the lines are borrowed mutably until the last use of `words`, and atomics have the shape of words.
    let words = unsafe { std::slice::from_raw_parts(ptr, len) };
    let place = |hash: u64| ((u128::from(hash) * len as u128) >> 64) as usize;
    let outcome = time(keys, 0, || {
        in_two(keys, |keys| {
            let mut hashes = [0; 1024 + AHEAD];
            for keys in keys.chunks(1024) {
                hashes.iter_mut().zip(keys).for_each(|(hash, &key)| *hash = xxh3_u64(key, 0));
                for (&hash, &ahead) in hashes[..keys.len()].iter().zip(&hashes[AHEAD..]) {
                    prefetch(&words[place(ahead)]);
                    let g = (hash ^ (hash >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
                    for (j, word) in words[place(hash)].iter().enumerate() {
                        word.fetch_or(1 << ((g >> (16 + 6 * j)) & 63), Ordering::Relaxed);
                    }
                }
            }
        });
    });
    black_box(words);
    outcome
}

fn fastbloom(keys: &[u64]) -> Outcome {
    let filter: AtomicBloomFilter<RandomState> = AtomicBloomFilter::with_false_pos(RATE)
        .hasher(RandomState::new())
        .expected_items(keys.len());
    filter.clear();
    let outcome = time(keys, 0, || {
        in_two(keys, |keys| {
            for key in keys {
                filter.insert(key);
            }
        });
    });
    assert!(keys.iter().step_by(1000).all(|key| filter.contains(key)), "a key was lost");
    outcome
}
