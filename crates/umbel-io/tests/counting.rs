//! Counting an input: the same bytes for any number of threads and any split, and never too low.

mod common;

use std::collections::HashMap;
use std::fmt::Write;
use std::path::PathBuf;

use common::{Folder, THREADS, driver_over, key};
use umbel::CountMinParams;
use umbel_io::count::count;
use umbel_io::{Shape, Tally};

/// Rows `key <tab> weight`, some keys far more frequent than others; several files, blocks' worth each.
fn sample(folder: &Folder) -> (Vec<PathBuf>, HashMap<String, u64>) {
    let mut sums = HashMap::new();
    let mut file = |name: &str, rows: std::ops::Range<u64>| {
        let mut text = String::new();
        for i in rows {
            let (key, weight) = (format!("k{}", i * i % 4099 % 1000), i % 17);
            writeln!(text, "{key}\t{weight}").unwrap();
            *sums.entry(key).or_insert(0) += weight;
        }
        folder.write(name, text)
    };
    let paths = vec![
        file("a.tsv", 0..90_000),
        file("b.tsv", 90_000..90_010),
        file("c.tsv", 90_010..200_000),
    ];
    (paths, sums)
}

fn weighted() -> Shape {
    Shape { weight: Some("2".parse().unwrap()), ..key("1") }
}

#[test]
fn the_same_bytes_for_any_number_of_threads_and_any_order_of_files() {
    let folder = Folder::new();
    let (mut paths, _) = sample(&folder);
    let params = CountMinParams::with_size(500, 4).unwrap();
    for shape in [key("1"), weighted()] {
        let run = |paths: &[PathBuf], threads| -> (Vec<u8>, Tally) {
            let (sketch, tally) = count(&driver_over(paths, &shape, threads), params).unwrap();
            (sketch.to_bytes().unwrap(), tally)
        };
        let expected = run(&paths, 1);
        for threads in THREADS {
            assert!(run(&paths, threads) == expected, "{threads} threads");
            paths.rotate_left(1);
        }
    }
}

#[test]
fn a_sketch_too_large_for_each_thread_is_filled_in_turn_to_the_same_bytes() {
    let folder = Folder::new();
    let (paths, _) = sample(&folder);
    let params = CountMinParams::with_size(1 << 21, 2).unwrap();
    let bytes = |threads| {
        let (sketch, _) = count(&driver_over(&paths, &weighted(), threads), params).unwrap();
        sketch.to_bytes().unwrap()
    };
    // 2^25 bytes a sketch at worst: 33 of them are more than 1 GiB.
    assert!(bytes(33) == bytes(1));
}

#[test]
fn never_too_low_and_the_total_is_exact() {
    let folder = Folder::new();
    let (paths, sums) = sample(&folder);
    let params = CountMinParams::with_size(300, 5).unwrap();
    let (sketch, tally) = count(&driver_over(&paths, &weighted(), 3), params).unwrap();
    assert_eq!((sketch.inserted(), tally.rows), (200_000, 200_000));
    assert_eq!(sketch.total(), sums.values().sum::<u64>());
    let too_high = sums
        .iter()
        .filter(|(key, sum)| {
            let estimate = sketch.estimate(key.as_bytes());
            assert!(estimate >= **sum, "{key}");
            estimate > **sum + sketch.bound()
        })
        .count();
    // A share delta = e^-5 of 1000 keys is 6.7; 25 or more have a probability below 1e-7.
    assert!(too_high < 25, "{too_high}");
}
