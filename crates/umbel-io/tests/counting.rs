//! Counting an input: the same bytes for any number of threads and any split, and never too low.

mod common;

use std::collections::HashMap;
use std::fmt::Write;
use std::path::PathBuf;

use common::{Folder, THREADS, driver_over, key};
use umbel::{Conservative, CountMin, CountMinParams, Counts, Heavy, Ranges, RangesParams};
use umbel_io::Shape;
use umbel_io::count::{count, count_groups};

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

fn plain(width: u64, depth: u32) -> Counts {
    CountMin::new(CountMinParams::with_size(width, depth).unwrap()).unwrap().into()
}

#[test]
fn the_same_bytes_for_any_number_of_threads() {
    let folder = Folder::new();
    let (mut paths, _) = sample(&folder);
    let params = CountMinParams::with_size(500, 4).unwrap();
    let conservative = Counts::from(Conservative::new(params).unwrap());
    let both = plain(500, 4).with_heavy(Heavy::new(50).unwrap()).unwrap();
    for (empty, any_order) in [(plain(500, 4), true), (conservative, false), (both, false)] {
        for shape in [key("1"), weighted()] {
            let run = |paths: &[PathBuf], threads| {
                let (counts, tally) = count(&driver_over(paths, &shape, threads), &empty).unwrap();
                assert_eq!(counts.inserted(), 200_000);
                (counts.to_bytes().unwrap(), tally)
            };
            let expected = run(&paths, 1);
            for threads in THREADS {
                if any_order {
                    paths.rotate_left(1);
                }
                assert!(run(&paths, threads) == expected, "{threads} threads, {:?}", empty.kind());
            }
            paths.sort();
        }
    }
}

#[test]
fn groups_are_counted_apart_in_any_number_of_threads() {
    let folder = Folder::new();
    let (paths, _) = sample(&folder);
    let shape = Shape { by: Some("2".parse().unwrap()), ..key("1") };
    let both = plain(300, 3).with_heavy(Heavy::new(20).unwrap()).unwrap();
    for empty in [plain(300, 3), both] {
        let run = |threads| count_groups(&driver_over(&paths, &shape, threads), &empty).unwrap().0;
        let expected = run(1).to_bytes().unwrap();
        for threads in THREADS {
            let groups = run(threads);
            assert_eq!(groups.len(), 17);
            assert_eq!(groups.iter().map(|(_, counts)| counts.inserted()).sum::<u64>(), 200_000);
            assert!(groups.to_bytes().unwrap() == expected, "{threads} threads");
        }
    }
}

#[test]
fn keys_outside_the_interval_are_not_used_and_that_is_said() {
    let folder = Folder::new();
    let text: String = (-400..1401).map(|i: i64| format!("{i}\n")).collect();
    let paths =
        [folder.write("numbers.txt", text + "18446744073709551615\n-9223372036854775808\n")];
    let params = RangesParams::for_error(0, 999, 0.01, 0.01).unwrap();
    let empty = Counts::from(Ranges::new(params).unwrap());
    let shape = Shape { integers: true, interval: Some((0, 999)), ..Shape::default() };
    for threads in THREADS {
        let mut driver = driver_over(&paths, &shape, threads);
        let (counts, tally) = count(&driver, &empty).unwrap();
        assert_eq!((counts.inserted(), tally.malformed), (1000, 803));
        let (place, reason) = tally.first_malformed.unwrap();
        assert!(place.number == 1 && reason.contains("outside the interval"), "{reason}");
        driver.strict = true;
        assert!(count(&driver, &empty).unwrap_err().to_string().contains("line 1"));
    }
}

#[test]
fn what_is_too_large_for_each_thread_is_filled_in_turn_to_the_same_bytes() {
    let folder = Folder::new();
    let (paths, _) = sample(&folder);
    let bytes = |threads| {
        let empty = plain(1 << 21, 2);
        let (counts, _) = count(&driver_over(&paths, &weighted(), threads), &empty).unwrap();
        counts.to_bytes().unwrap()
    };
    // 2^25 bytes a sketch at worst: 33 of them are more than 1 GiB.
    assert!(bytes(33) == bytes(1));
}

#[test]
fn never_too_low_and_the_total_is_exact() {
    let folder = Folder::new();
    let (paths, sums) = sample(&folder);
    let (sketch, tally) = count(&driver_over(&paths, &weighted(), 3), &plain(300, 5)).unwrap();
    assert_eq!((sketch.inserted(), tally.rows), (200_000, 200_000));
    assert_eq!(sketch.total(), sums.values().sum::<u64>());
    let too_high = sums
        .iter()
        .filter(|(key, sum)| {
            let estimate = sketch.estimate(key.as_bytes()).unwrap();
            assert!(estimate >= **sum, "{key}");
            estimate > **sum + sketch.bound()
        })
        .count();
    // A share delta = e^-5 of 1000 keys is 6.7; 25 or more have a probability below 1e-7.
    assert!(too_high < 25, "{too_high}");
}
