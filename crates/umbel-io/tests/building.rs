//! A filter built from a file is, byte for byte, what one gets by inserting the keys by hand.

mod common;

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{Folder, THREADS, build, built, driver, key_by, plan, try_filters};
use proptest::prelude::*;
use umbel::distinct::Distinct;
use umbel::hash::Family;
use umbel::{Bloom, Groups, Layout};
use umbel_io::build::{Like, census};
use umbel_io::{Build, Driver, Plan, ReadAt, Remote, Shape, Source};

/// The plans that go different ways through the code.
fn plans(n: Option<u64>) -> Vec<Plan> {
    let family = |family| Plan { family: Some(family), ..plan(n) };
    vec![
        plan(n),
        Plan { layout: Some(Layout::Classic), ..plan(n) },
        Plan { seed: 42, ..plan(n) },
        Plan { k: Some(3), ..plan(n) },
        Plan { m: Some(10_007), ..plan(n) },
        family(Family::Murmur2),
        family(Family::Murmur3),
        Plan { seeds: Some(vec![31, 37, 41]), ..family(Family::PolynomialWrap) },
    ]
}

fn by_hand<'k>(plan: &Plan, keys: impl Iterator<Item = &'k [u8]> + Clone) -> Bloom {
    let mut distinct = Distinct::new();
    keys.clone().for_each(|key| distinct.insert(key));
    let mut filter = Bloom::with(plan.params(plan.n.unwrap_or(distinct.n())).unwrap()).unwrap();
    keys.for_each(|key| _ = filter.insert(key));
    filter
}

/// Every third key twice.
fn keys(count: usize) -> Vec<Vec<u8>> {
    let key = |i: usize| format!("key {}", if i % 3 == 2 { i - 1 } else { i }).into_bytes();
    (0..count).map(key).collect()
}

fn write_lines(folder: &Folder, keys: &[Vec<u8>]) -> std::path::PathBuf {
    folder.write("keys.txt", keys.join(&b'\n'))
}

#[test]
fn one_filter() {
    let folder = Folder::new();
    for count in [1, 1000, 150_000] {
        let keys = keys(count);
        let path = write_lines(&folder, &keys);
        for n in [None, Some(50_000)] {
            for plan in plans(n) {
                let expected = by_hand(&plan, keys.iter().map(Vec::as_slice)).to_bytes().unwrap();
                for threads in THREADS {
                    let reading = driver(&path, &Shape::default(), threads);
                    let (found, _) = built(&build(plan.clone()), &reading);
                    assert!(found == expected, "{count} keys, {threads} threads, {plan:?}");
                }
            }
        }
    }
}

/// Groups of very different sizes.
fn table(rows: usize) -> Vec<(Vec<u8>, String)> {
    let row = |(i, key): (usize, Vec<u8>)| (key, format!("g{}", (i % 101).trailing_zeros()));
    keys(rows).into_iter().enumerate().map(row).collect()
}

fn groups_by_hand(plan: &Plan, table: &[(Vec<u8>, String)]) -> Groups {
    let mut by_name: BTreeMap<&str, Vec<&[u8]>> = BTreeMap::new();
    table.iter().for_each(|(key, group)| by_name.entry(group).or_default().push(key));
    let mut groups = Groups::default();
    for (name, keys) in by_name {
        groups.set(name, by_hand(plan, keys.into_iter())).unwrap();
    }
    groups
}

fn write_table(folder: &Folder, table: &[(Vec<u8>, String)]) -> std::path::PathBuf {
    let line = |(key, group): &(Vec<u8>, String)| [key, group.as_bytes()].join(&b'\t');
    folder.write("table.tsv", table.iter().map(line).collect::<Vec<_>>().join(&b'\n'))
}

#[test]
fn a_filter_for_each_group() {
    let folder = Folder::new();
    let table = table(60_000);
    let path = write_table(&folder, &table);
    for n in [None, Some(5000)] {
        for plan in plans(n) {
            let expected = groups_by_hand(&plan, &table).to_bytes().unwrap();
            for threads in THREADS {
                let reading = driver(&path, &key_by("1", "2", false), threads);
                let (found, _) = built(&build(plan.clone()), &reading);
                assert!(found == expected, "{threads} threads, {plan:?}");
            }
        }
    }
}

fn spills_the_same(path: &Path, shape: &Shape, expected: &[u8]) {
    for memory in [0, 1, 1000, 100_000, 1 << 20] {
        for threads in THREADS {
            let build = Build { memory, ..build(plan(None)) };
            let (found, _) = built(&build, &driver(path, shape, threads));
            assert!(found == expected, "{memory} bytes, {threads} threads");
        }
    }
}

#[test]
fn spilled_hashes_give_the_same_bytes() {
    let folder = Folder::new();
    let keys = keys(150_000);
    let expected = by_hand(&plan(None), keys.iter().map(Vec::as_slice)).to_bytes().unwrap();
    spills_the_same(&write_lines(&folder, &keys), &Shape::default(), &expected);
    let table = table(60_000);
    let expected = groups_by_hand(&plan(None), &table).to_bytes().unwrap();
    spills_the_same(&write_table(&folder, &table), &key_by("1", "2", false), &expected);
}

#[test]
fn like_another() {
    let folder = Folder::new();
    let path = write_lines(&folder, &keys(1000));
    for plan in plans(Some(70_000)) {
        let params = plan.params(70_000).unwrap();
        let build =
            Build { like: Some(Like::Bloom(Box::new(params.clone()))), ..build(Plan::default()) };
        let (filter, _) = build.bloom(&driver(&path, &Shape::default(), 2)).unwrap();
        assert_eq!(filter.params(), &params);
    }
}

/// Filters by group that hash otherwise than the default are a model as well.
#[test]
fn like_groups_of_another_hash() {
    let folder = Folder::new();
    let table = table(3000);
    let path = write_table(&folder, &table);
    for plan in plans(Some(4000)) {
        let model = groups_by_hand(&plan, &table);
        let params = model.iter().map(|(name, filter)| (name.into(), filter.params().clone()));
        let like = Some(Like::Groups(params.collect()));
        let build = Build { like, ..build(Plan::default()) };
        let reading = driver(&path, &key_by("1", "2", false), 3);
        let (found, _) = build.groups(&reading).unwrap();
        assert!(found.to_bytes().unwrap() == model.to_bytes().unwrap(), "{plan:?}");
    }
}

/// A group that the model lacks is sized as usual, and hashes as the others do.
#[test]
fn a_new_group_hashes_like_the_model() {
    let folder = Folder::new();
    let path = folder.write("new.tsv", "a\tnew\nb\tnew\n");
    for plan in plans(Some(100)) {
        let like = Some(Like::Groups([("old".into(), plan.params(100).unwrap())].into()));
        let build = Build { like, ..build(Plan::default()) };
        let reading = driver(&path, &key_by("1", "2", false), 1);
        let (found, _) = build.groups(&reading).unwrap();
        assert!(found.contains(b"a") && found.contains(b"b"), "{plan:?}");
        let strategy = found.get("new").unwrap().params().strategy().clone();
        assert_eq!(strategy.id(), plan.params(100).unwrap().strategy().id());
    }
}

#[test]
fn a_census_counts_rows_and_distinct_keys() {
    let folder = Folder::new();
    let table = table(30_000);
    let path = write_table(&folder, &table);
    let (found, tally) = census(&driver(&path, &key_by("1", "2", false), 3)).unwrap();
    assert_eq!(tally.rows, 30_000);
    for (name, distinct) in &found.groups {
        let mut expected = Distinct::new();
        table.iter().filter(|(_, group)| group == name).for_each(|(key, _)| expected.insert(key));
        assert_eq!((distinct.rows(), distinct.n()), (expected.rows(), expected.n()));
    }
}

/// A table that loses its last row whenever it is opened.
#[derive(Debug, Default)]
struct Shrinking(AtomicUsize);

impl Remote for Shrinking {
    fn name(&self) -> String {
        "shrinking.tsv".into()
    }

    fn size(&self) -> Option<u64> {
        None
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        let rows = 100 - self.0.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(io::Cursor::new("key\t1\n".repeat(rows))))
    }

    fn places(&self) -> Option<Arc<dyn ReadAt>> {
        None
    }
}

#[test]
fn what_changes_between_two_passes_is_refused() {
    let twice = Plan { family: Some(Family::Murmur3), ..plan(None) };
    for shape in [Shape::default(), key_by("1", "2", false)] {
        let source = Source::remote(Arc::new(Shrinking::default()));
        let driver = Driver { sources: vec![source], ..driver(Path::new(""), &shape, 1) };
        let error = try_filters(&build(twice.clone()), &driver).map(drop).unwrap_err().to_string();
        assert!(error.starts_with("the input has changed while it was read"), "{error}");
        // Once is enough for the usual hash.
        assert!(try_filters(&build(plan(None)), &driver).is_ok());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_keys(
        keys in prop::collection::vec(prop::collection::vec(any::<u8>().prop_filter("ends a line", |byte| !b"\n\r".contains(byte)), 1..20), 1..300),
        threads in 1usize..5,
    ) {
        let folder = Folder::new();
        let path = write_lines(&folder, &keys);
        for plan in [plan(None), Plan { family: Some(Family::Murmur3), ..plan(None) }] {
            let expected = by_hand(&plan, keys.iter().map(Vec::as_slice)).to_bytes().unwrap();
            let (found, _) = built(&build(plan), &driver(&path, &Shape::default(), threads));
            prop_assert!(found == expected);
        }
    }
}
