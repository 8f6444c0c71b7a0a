//! The true set answers without error, in memory and from a file.

mod common;

use std::collections::HashSet;

use common::{Folder, THREADS, build, driver, filters, key, plan};
use proptest::prelude::*;
use umbel_io::Shape;
use umbel_io::exact::ExactSet;
use umbel_io::screen::{Wanted, screen};

#[test]
fn holds_its_keys_and_no_others_whatever_the_memory() {
    let folder = Folder::new();
    // Every second key, some of them twice.
    let line = |i: usize| format!("{}\n", (i % 50_000) * 2);
    let path = folder.write("keys", (0..70_000).map(line).collect::<String>());
    for memory in [0, 1, 100_000, 500_000, 1 << 30] {
        for threads in THREADS {
            let reading = driver(&path, &Shape::default(), threads);
            let (set, tally) = ExactSet::read(&reading, memory).unwrap();
            assert_eq!(tally.rows, 70_000);
            for i in 0..100_000 {
                let found = set.contains(i.to_string().as_bytes()).unwrap();
                assert_eq!(found, i % 2 == 0, "{i}, {memory} bytes, {threads} threads");
            }
        }
    }
}

#[test]
fn no_false_positive_passes_the_second_check() {
    let folder = Folder::new();
    let lines = |range: std::ops::Range<usize>| range.map(|i| format!("{i}\n")).collect::<String>();
    let known = folder.write("known", lines(0..20_000));
    let poor = umbel_io::Plan { p: Some(0.2), ..plan(None) };
    let (filter, _) = filters(&build(poor), &driver(&known, &Shape::default(), 2));
    let flow = folder.write("flow", lines(10_000..50_000));
    for memory in [0, 1 << 30] {
        let reading = driver(&known, &Shape::default(), 2);
        let (exact, _) = ExactSet::read(&reading, memory).unwrap();
        for threads in THREADS {
            let (mut admitted, mut rejected) = (Vec::<u8>::new(), Vec::<u8>::new());
            let wanted = Wanted { admitted: true, rejected: true };
            let reading = driver(&flow, &Shape::default(), threads);
            let summary = screen(&reading, &filter, Some(&exact), wanted, |lines| {
                admitted.extend(&lines.admitted);
                rejected.extend(&lines.rejected);
                Ok(())
            });
            assert_eq!(summary.unwrap().admitted, 10_000);
            assert!(admitted == lines(10_000..20_000).as_bytes());
            assert!(rejected == lines(20_000..50_000).as_bytes());
        }
    }
}

#[test]
fn an_empty_set_holds_nothing() {
    let folder = Folder::new();
    let path = folder.write("empty", "");
    let (set, _) = ExactSet::read(&driver(&path, &key("1"), 2), 0).unwrap();
    assert!(!set.contains(b"").unwrap() && !set.contains(b"a").unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn as_a_hash_set(
        keys in prop::collection::vec("[a-e]{1,5}", 0..500),
        asked in prop::collection::vec("[a-f]{1,5}", 0..500),
        memory in prop::sample::select(vec![0usize, 20_000, 1 << 20]),
    ) {
        let folder = Folder::new();
        let path = folder.write("keys", keys.join("\n"));
        let (set, _) = ExactSet::read(&driver(&path, &Shape::default(), 3), memory).unwrap();
        let expected: HashSet<&String> = keys.iter().collect();
        for key in keys.iter().chain(&asked) {
            prop_assert_eq!(set.contains(key.as_bytes()).unwrap(), expected.contains(key));
        }
    }
}
