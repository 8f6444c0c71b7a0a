//! Files of format version 1 that every later umbel must read and write, byte for byte.
//!
//! A published file never changes. `UMBEL_WRITE_GOLDEN=1 cargo test --test golden` writes those that are missing.

#![allow(clippy::unwrap_used)]

mod support;

use std::path::{Path, PathBuf};

use support::random::{integers, slices, texts};
use support::samples;
use umbel::{Bloom, Groups, KeyType, Keys, Sizing};

/// How many of 100 000 strangers each golden filter admits.
const ADMITTED: [(&str, usize); 10] = [
    ("blocked", 1266),
    ("classic-xxh3", 939),
    ("classic-xxh3-seed", 1072),
    ("classic-murmur2", 917),
    ("classic-murmur3", 1246),
    ("classic-polynomial-mod", 1097),
    ("classic-polynomial-wrap", 606),
    ("integers", 699),
    ("intersection", 1266),
    ("metadata", 939),
];

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name).with_extension("umbel")
}

/// The golden file; written first if it is missing and that was asked for.
fn published(name: &str, today: &[u8]) -> PathBuf {
    let path = golden(name);
    if std::env::var_os("UMBEL_WRITE_GOLDEN").is_some() && !path.exists() {
        std::fs::write(&path, today).unwrap();
    }
    assert!(path.exists(), "{} is missing", path.display());
    path
}

fn admitted(filter: &Bloom) -> usize {
    let mut answers = vec![false; 100_000];
    let (strangers, numbers) = (texts(9, answers.len()), integers(9, answers.len()));
    let strangers = slices(&strangers);
    let keys = match filter.params().key_type() {
        KeyType::Bytes => Keys::Bytes(&strangers),
        KeyType::U64 => Keys::U64(&numbers),
    };
    filter.contains_batch(keys, &mut answers).unwrap();
    answers.iter().filter(|&&answer| answer).count()
}

#[test]
fn a_filter_built_today_has_the_published_bytes() {
    for (name, filter) in samples::blooms() {
        let today = filter.to_bytes().unwrap();
        assert_eq!(std::fs::read(published(&name, &today)).unwrap(), today, "{name}");
    }
    let today = samples::groups().to_bytes().unwrap();
    assert_eq!(std::fs::read(published("groups", &today)).unwrap(), today);
}

#[test]
fn published_filters_answer_for_ever() {
    for (name, expected) in ADMITTED {
        let filter = Bloom::open(golden(name)).unwrap();
        match filter.params().key_type() {
            KeyType::Bytes => assert!(samples::keys().iter().all(|key| filter.contains(key))),
            KeyType::U64 => {
                assert!(samples::integers().iter().all(|&key| filter.contains_u64(key)))
            }
        }
        assert_eq!(admitted(&filter), expected, "{name}");
        assert_eq!(filter.inserted(), (name != "intersection").then_some(100), "{name}");
    }
    let described = Bloom::open(golden("metadata")).unwrap();
    let pairs: Vec<_> = described.metadata().iter().collect();
    assert_eq!(pairs, [("", ""), ("Quelle", "Blüten.tsv, Spalte 1"), ("出典", "花 🌸\n\0")]);
}

#[test]
fn published_groups_answer_for_ever() {
    let groups = Groups::open(golden("groups")).unwrap();
    let names: Vec<_> = groups.names().collect();
    assert_eq!(names, ["-1", "2", "2.5", "10", "", "b", "Ä"]);
    for (place, key) in samples::keys().iter().enumerate() {
        let found: Vec<_> = groups.which(key).collect();
        let member = |i: usize| place % (i + 1) == 0;
        assert!((0..7).filter(|&i| member(i)).all(|i| found.contains(&names[i])), "{place}");
    }
    let admitted: Vec<_> = groups.iter().map(|(_, filter)| admitted(filter)).collect();
    assert_eq!(admitted, [1030, 921, 67, 894, 4, 1582, 0]);
    assert_eq!(groups.metadata().get("spalte"), Some("Bewertung ★"));
}

/// Any change of a hash, a layout or a size shows here.
#[test]
fn the_false_positives_are_exactly_these() {
    let count = |sizing: umbel::Result<Sizing>| {
        let mut filter = Bloom::with(umbel::Params::new(sizing.unwrap())).unwrap();
        filter.insert_batch(Keys::U64(&integers(1, 100_000))).unwrap();
        let strangers = integers(2, 1_000_000);
        strangers.iter().filter(|&&key| filter.contains_u64(key)).count()
    };
    assert_eq!(count(Sizing::classic(100_000, 0.01)), 9_955);
    assert_eq!(count(Sizing::blocked(100_000, 0.01)), 10_143);
    assert_eq!(count(Sizing::classic(100_000, 0.0001)), 100);
    assert_eq!(count(Sizing::blocked(100_000, 0.0001)), 92);
}
