//! An audit of files counts what the core counts over sets in memory, whatever the memory and the threads.

mod common;

use common::{Folder, THREADS, build, driver, key_by, plan};
use proptest::prelude::*;
use umbel::audit::{count, count_groups};
use umbel::hash::Family;
use umbel_io::audit::{audit_groups, audit_one};
use umbel_io::{Plan, Shape};

/// Small filters, so that there are false positives to count.
fn plans() -> Vec<Plan> {
    let poor = Plan { p: Some(0.2), ..Plan::default() };
    vec![
        poor.clone(),
        Plan { seed: 7, ..poor.clone() },
        Plan { layout: Some(umbel::Layout::Classic), ..poor.clone() },
        Plan { family: Some(Family::Murmur2), ..poor },
    ]
}

fn lines<T: AsRef<[u8]>>(keys: &[T]) -> Vec<u8> {
    keys.iter().flat_map(|key| [key.as_ref(), b"\n"].concat()).collect()
}

#[test]
fn counts_do_not_depend_on_memory_or_threads() {
    let folder = Folder::new();
    let row = |i: usize| (format!("key{}", i * 7 % 30_000), format!("{}", i % 13));
    let table: Vec<(String, String)> = (0..50_000).map(row).collect();
    let text: Vec<String> = table.iter().map(|(key, group)| format!("{key}\t{group}")).collect();
    let path = folder.write("table.tsv", lines(&text));
    for plan in plans() {
        let (groups, _) = build(plan).groups(&driver(&path, &key_by("1", "2", false), 2)).unwrap();
        let rows = table.iter().map(|(key, group)| (key.as_bytes(), group.as_str()));
        let expected = count_groups(&groups, rows).unwrap();
        for memory in [0, 10_000, 1 << 30] {
            for threads in THREADS {
                let reading = driver(&path, &key_by("1", "2", false), threads);
                let found = audit_groups(&groups, &reading, memory).unwrap();
                assert_eq!(found.counts, expected, "{memory} bytes, {threads} threads");
                assert_eq!((found.missing, found.tally.rows), (vec![], 50_000));
            }
        }
    }
}

#[test]
fn groups_that_have_no_filter_are_strangers_to_all_and_are_named() {
    let folder = Folder::new();
    let built_from = folder.write("old.tsv", "a\t1\nb\t2\n");
    let shape = key_by("1", "2", false);
    let (groups, _) = build(plan(None)).groups(&driver(&built_from, &shape, 1)).unwrap();
    let path = folder.write("new.tsv", "a\t1\nb\t2\nc\t10\nd\t4\nd\t4\na\t10\n");
    for memory in [0, 1 << 20] {
        let found = audit_groups(&groups, &driver(&path, &shape, 2), memory).unwrap();
        assert_eq!(found.missing, [("4".into(), 1), ("10".into(), 2)]);
        assert_eq!(found.counts[0].true_positives, 1);
        assert_eq!(found.counts[0].strangers(), 3);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn one_filter_as_the_core_counts(
        members in prop::collection::vec("[a-h]{1,3}", 0..200),
        flow in prop::collection::vec("[a-j]{1,3}", 0..400),
        threads in 1usize..5,
        memory in prop::sample::select(vec![0usize, 3000, 1 << 20]),
    ) {
        let folder = Folder::new();
        let (of_members, of_flow) = (folder.write("members", lines(&members)), folder.write("flow", lines(&flow)));
        for plan in plans() {
            let members_in = driver(&of_members, &Shape::default(), threads);
            let (filter, _) = build(plan).bloom(&members_in).unwrap();
            let bytes = |keys: &[String]| keys.iter().map(|key| key.clone().into_bytes()).collect::<Vec<_>>();
            let (members, flow) = (bytes(&members), bytes(&flow));
            let expected = count(&filter, members.iter().map(Vec::as_slice), flow.iter().map(Vec::as_slice));
            let flow_in = driver(&of_flow, &Shape::default(), threads);
            let (found, ..) = audit_one(&filter, &members_in, &flow_in, memory).unwrap();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn groups_as_the_core_counts(
        table in prop::collection::vec(("[a-h]{1,3}", "[1-5]"), 1..300),
        threads in 1usize..5,
        memory in prop::sample::select(vec![0usize, 3000, 1 << 20]),
    ) {
        let folder = Folder::new();
        let text: Vec<String> = table.iter().map(|(key, group)| format!("{key}\t{group}")).collect();
        let path = folder.write("table.tsv", lines(&text));
        let reading = driver(&path, &key_by("1", "2", false), threads);
        for plan in plans() {
            let (groups, _) = build(plan).groups(&reading).unwrap();
            let rows = table.iter().map(|(key, group)| (key.as_bytes(), group.as_str()));
            let expected = count_groups(&groups, rows).unwrap();
            prop_assert_eq!(audit_groups(&groups, &reading, memory).unwrap().counts, expected);
        }
    }
}
