//! Opening a file of 1 GiB that is in the page cache, against reading it.

use std::fs;
use std::hint::black_box;
use std::io::Read;
use std::path::Path;
use std::time::Instant;

use umbel::format::File;
use umbel::{Bloom, Keys, Params, Sizing};

use crate::keys::{Kind, Store};

use super::{Plan, Report, Row, Verdict};

const GIB: f64 = (1u64 << 30) as f64;
/// So many keys take 1 GiB at one per cent.
const KEYS: u64 = 849_600_000;
const ROUNDS: usize = 7;

pub fn run(plan: &Plan, report: &mut Report) {
    let names = ["opening verified", "opening verified by 2 threads", "opening unverified"];
    if !names.iter().any(|name| plan.wants(name)) {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("large.umbel");
    write(&path);
    let bytes = fs::metadata(&path).expect("the file was written").len() as f64;
    // Read, verified, verified by two, unverified: seconds.
    let mut best = [f64::INFINITY; 4];
    for _ in 0..ROUNDS {
        let times = [
            time(|| read(&path)),
            time(|| verified(&path)),
            time(|| by_two(&path)),
            time(|| unverified(&path)),
        ];
        best.iter_mut().zip(times).for_each(|(best, time)| *best = best.min(time));
    }
    let [read, rest @ ..] = best;
    for (name, seconds) in names.into_iter().zip(rest) {
        report.row(row(name, bytes, read, seconds));
    }
}

fn row(name: &str, bytes: f64, read: f64, seconds: f64) -> Row {
    let speed = |seconds| bytes / seconds / 1e9;
    let (ours, must, verdict) = if name == "opening unverified" {
        let ours = format!("{:.3} ms", 1e3 * seconds);
        (ours, "< 1 ms", Verdict::of(seconds < 1e-3))
    } else {
        let verdict = Verdict::of(read / seconds >= 0.5);
        (format!("{:.2} GB/s", speed(seconds)), "≥ 0.5 × read", verdict)
    };
    Row {
        work: format!("{name}, {:.2} GiB", bytes / GIB),
        ours,
        peer: format!("{:.2} GB/s, {:.0} ms read(2)", speed(read), 1e3 * read),
        ratio: Some(read / seconds),
        must: must.to_owned(),
        verdict: Some(verdict),
        ..Row::default()
    }
}

fn write(path: &Path) {
    let sizing = Sizing::blocked(KEYS, 0.01).expect("the size can be had");
    let mut bloom = Bloom::with(Params::new(sizing)).expect("there is memory");
    if let Store::U64(members) = Kind::U64.members(10_000_000) {
        bloom.insert_batch(Keys::U64(&members)).expect("xxh3 takes integers");
    }
    bloom.save(path).expect("the file can be written");
}

fn time(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

/// The plain way through a file: read(2) into one buffer of 1 MiB.
fn read(path: &Path) {
    let mut file = fs::File::open(path).expect("the file was written");
    let mut buffer = vec![0; 1 << 20];
    while file.read(black_box(&mut buffer)).expect("the file can be read") > 0 {}
}

fn verified(path: &Path) {
    black_box(Bloom::open(path).expect("the file is sound"));
}

fn unverified(path: &Path) {
    black_box(Bloom::open_unverified(path).expect("the file is sound"));
}

fn by_two(path: &Path) {
    let file = File::open(path).expect("the file is sound");
    file.verify_sums().expect("the sums are sound");
    let verify = |first: usize| {
        for chunk in (first..file.chunks()).step_by(2) {
            file.verify_chunk(chunk).expect("the chunk is sound");
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| verify(0));
        verify(1);
    });
    black_box(file.into_bloom().expect("the file is sound"));
}
