//! Files of format version 1 that every later umbel must read and write, byte for byte.
//!
//! A published file never changes. `UMBEL_WRITE_GOLDEN=1 cargo test --test golden` writes those that are missing.

#![allow(clippy::unwrap_used)]

mod support;

use std::path::{Path, PathBuf};

use support::random::{integers, slices, texts};
use support::{count_samples, samples};
use umbel::ranges::RangeSum;
use umbel::{Bloom, CountGroups, Counts, Groups, KeyType, Keys, Sizing, Sketch};

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

/// What the estimates of the sample keys and of 1000 strangers add up to.
const COUNTED: [(&str, u64, u64); 16] = [
    ("count-min", 72_558, 255_992),
    ("count-min-seed", 50_606, 8310),
    ("count-min-integers", 88_294, 421_191),
    ("count-min-wide", 237_146, 4_398_048_397_038),
    ("count-min-saturated", 243_681, u64::MAX),
    ("count-min-metadata", 51_784, 11_566),
    ("conservative", 61_008, 217_894),
    ("conservative-integers", 74_903, 357_222),
    ("ranges", 100_523, 477_547),
    ("heavy", 223_210, 2_177_000),
    ("heavy-free", 49_050, 0),
    ("counts-heavy", 68_865, 288_103),
    ("conservative-heavy", 58_797, 247_299),
    ("ranges-heavy", 100_523, 477_547),
    ("count-min-empty", 0, 0),
    ("heavy-empty", 0, 0),
];

fn estimated(counts: &Counts) -> (u64, u64) {
    let strangers: Vec<_> = match counts.key_type() {
        KeyType::Bytes => texts(9, 1000),
        KeyType::U64 => {
            integers(9, 1000).iter().map(|key| (key % 3000).to_le_bytes().to_vec()).collect()
        }
    };
    let sum = |keys: &[Vec<u8>]| {
        let mut estimates = vec![0; keys.len()];
        counts.estimate_batch(&slices(keys), &mut estimates).unwrap();
        estimates.into_iter().fold(0, u64::saturating_add)
    };
    (sum(&count_samples::stream(counts.key_type())), sum(&strangers))
}

#[test]
fn counts_made_today_have_the_published_bytes() {
    for (name, counts) in count_samples::all() {
        let today = counts.to_bytes().unwrap();
        assert!(std::fs::read(published(name, &today)).unwrap() == today, "{name}");
    }
    let today = count_samples::groups().to_bytes().unwrap();
    assert!(std::fs::read(published("count-groups", &today)).unwrap() == today);
}

#[test]
fn published_counts_answer_for_ever() {
    let mut found = Vec::new();
    for (name, _) in count_samples::all() {
        let counts = Counts::open(golden(name)).unwrap();
        let (members, strangers) = estimated(&counts);
        found.push((name, members, strangers));
    }
    assert_eq!(found, COUNTED);
    let counts = Counts::open(golden("ranges-heavy")).unwrap();
    let Some(Sketch::Ranges(ranges)) = counts.sketch() else { panic!("ranges") };
    let quantiles = [0.0, 0.1, 0.5, 1.0].map(|q| ranges.quantile(q).unwrap().unwrap().value);
    assert_eq!(quantiles, [-100, 74, 1321, 2789]);
    assert_eq!(ranges.sum(0..=1000).unwrap(), RangeSum { estimate: 18196, bound: 19999 });
    let top = counts.heavy().unwrap().top(3);
    let top: Vec<_> = top.iter().map(|key| (key.count, key.least, key.certain)).collect();
    assert_eq!(top, [(5665, 981, false), (5008, 953, false), (4936, 872, false)]);
}

#[test]
fn published_groups_of_counts_answer_for_ever() {
    let groups = CountGroups::open(golden("count-groups")).unwrap();
    let names: Vec<_> = groups.names().collect();
    assert_eq!(names, ["-1", "2", "2.5", "10", "", "b", "Ä"]);
    let found: Vec<_> = groups.iter().map(|(_, counts)| estimated(counts)).collect();
    let expected = [
        (194_977, 1_350_060),
        (157_747, 1_099_040),
        (121_424, 822_846),
        (102_041, 639_159),
        (80_294, 588_175),
        (66_162, 390_208),
        (44_476, 227_754),
    ];
    assert_eq!(found, expected);
    assert_eq!(groups.metadata().get("spalte"), Some("Bewertung ★"));
}
