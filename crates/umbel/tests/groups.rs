//! Groups: merged, ordered and asked like their filters one by one.

#![allow(clippy::unwrap_used)]

mod support;

use proptest::prelude::*;
use support::filters::unlike;
use support::{random, samples};
use umbel::hash::Strategy as Hashing;
use umbel::{Bloom, Error, Groups, KeyType, Keys, Params, Sizing};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn groups_merge_as_their_filters_do(
        a in prop::collection::vec((0..6_usize, any::<[u8; 2]>()), 0..60),
        b in prop::collection::vec((0..6_usize, any::<[u8; 2]>()), 0..60),
        c in prop::collection::vec((0..6_usize, any::<[u8; 2]>()), 0..60),
        asked: [u8; 2],
    ) {
        for strategy in samples::strategies(5) {
            let filled = |rows: &[(usize, [u8; 2])]| {
                let mut groups = Groups::default();
                for (group, key) in rows {
                    let name = ["9", "10", "-3", "x", "", "100.5"][*group];
                    if groups.get(name).is_err() {
                        let sizing = Sizing::with(40, 100 + *group as u64, 5).unwrap();
                        groups.set(name, samples::empty(sizing, strategy.clone())).unwrap();
                    }
                    groups.insert(name, key).unwrap();
                }
                groups
            };
            let union = |a: &Groups, b: &Groups| {
                let mut union = a.clone();
                union.merge(b).unwrap();
                union
            };
            let all = filled(&[&a[..], &b, &c].concat());
            let [fa, fb, fc] = [&a, &b, &c].map(|rows| filled(rows));
            let merged = union(&union(&fa, &fb), &fc);
            prop_assert_eq!(merged.to_bytes().unwrap(), all.to_bytes().unwrap());
            prop_assert_eq!(union(&fc, &union(&fb, &fa)).to_bytes().unwrap(), all.to_bytes().unwrap());
            prop_assert_eq!(&union(&all, &all), &all);
            prop_assert_eq!(&Groups::from_bytes(&all.to_bytes().unwrap()).unwrap(), &all);

            let names: Vec<_> = all.names().collect();
            let order = ["-3", "9", "10", "100.5", "", "x"];
            prop_assert!(names.iter().eq(order.iter().filter(|&name| names.contains(name))));
            let found: Vec<_> = all.which(&asked).collect();
            let one_by_one: Vec<_> = all.iter().filter(|(_, filter)| filter.contains(&asked)).map(|(name, _)| name).collect();
            prop_assert_eq!(all.contains(&asked), !found.is_empty());
            prop_assert_eq!(found, one_by_one);
            for (group, key) in a.iter().chain(&b).chain(&c) {
                prop_assert!(all.get(["9", "10", "-3", "x", "", "100.5"][*group]).unwrap().contains(key));
            }
        }
    }
}

#[test]
fn groups_refuse_what_one_hash_cannot_serve() {
    let mut groups = Groups::default();
    let mut other = Groups::default();
    assert_eq!((groups.key_type(), groups.contains(b"key")), (None, false));
    let sizing = Sizing::classic(100, 0.01).unwrap();
    let sort = |seed| Params::new(sizing).with_strategy(Hashing::Xxh3 { seed }).unwrap();
    groups.set("1", Bloom::with(sort(1)).unwrap()).unwrap();
    let expected = ["the hash strategy", "xxh3 with seed 1", "xxh3 with seed 2"];
    assert_eq!(unlike(groups.set("2", Bloom::with(sort(2)).unwrap())), expected);
    let integers = Bloom::with(sort(1).with_key_type(KeyType::U64)).unwrap();
    assert_eq!(unlike(groups.set("2", integers))[0], "the key type");
    assert_eq!(groups.len(), 1);
    // What is replaced has no say.
    groups.set("1", Bloom::with(sort(2)).unwrap()).unwrap();
    groups.set("1", Bloom::with(sort(1)).unwrap()).unwrap();

    // The second group is the one that does not fit: the first must not have been merged.
    let mut known = Bloom::with(sort(1)).unwrap();
    known.insert(b"key");
    other.set("1", known).unwrap();
    let smaller = Params::new(Sizing::classic(50, 0.01).unwrap());
    let smaller = smaller.with_strategy(Hashing::Xxh3 { seed: 1 }).unwrap();
    groups.set("2", Bloom::with(smaller).unwrap()).unwrap();
    other.set("2", Bloom::with(sort(1)).unwrap()).unwrap();
    let Err(Error::Group { group, source }) = groups.merge(&other) else { panic!("merged") };
    assert_eq!(
        (group.as_str(), unlike::<()>(Err(*source))[0].as_str()),
        ("2", "the number of bits (m)")
    );
    assert!(!groups.contains(b"key"), "a refused merge changes nothing");
    let missing = groups.get("3").unwrap_err().to_string();
    assert!(missing.contains("\"3\""), "{missing}");
}

/// Numbers are compared as they are written, not as floats, which cannot tell the two longest apart.
#[test]
fn groups_stand_in_the_order_of_their_numbers() {
    let sorted = [
        "-100000000000000001",
        "-100000000000000000",
        "-2.5",
        "-2",
        "-0",
        "0",
        "00",
        "0.25",
        "0.5",
        "1",
        "01",
        "1.0",
        "2",
        "10",
        "99999999999999999",
        "100000000000000000",
        "100000000000000001",
        "",
        " 5",
        "+5",
        "5.",
        "1e2",
        "1_0",
        "inf",
        "nan",
        "x",
    ];
    let mut names = sorted;
    names.sort_by(|a, b| umbel::groups::compare_names(b, a));
    names.sort_by(|a, b| umbel::groups::compare_names(a, b));
    let by_rule = |text: &[&str]| text.join(",");
    assert_eq!(
        by_rule(&names[..17]),
        "-100000000000000001,-100000000000000000,-2.5,-2,-0,0,00,0.25,0.5,01,1,1.0,2,10,\
        99999999999999999,100000000000000000,100000000000000001"
    );
    let mut others = sorted[17..].to_vec();
    others.sort_unstable();
    assert_eq!(&names[17..], others);
}

/// Metadata belongs to the groups; nothing merged with something is that something.
#[test]
fn metadata_belongs_to_the_groups_as_a_whole() {
    let mut filter = Bloom::new(10, 0.01).unwrap();
    filter.metadata_mut().set("lost", "with the filter");
    let mut groups = Groups::default();
    groups.set("1", filter).unwrap();
    assert_eq!(groups.get("1").unwrap().metadata().iter().len(), 0);
    groups.metadata_mut().set("kept", "here");
    let mut merged = Groups::default();
    merged.merge(&groups).unwrap();
    merged.merge(&Groups::default()).unwrap();
    assert_eq!(merged.to_bytes().unwrap(), groups.to_bytes().unwrap());
}

/// Also of groups that have no filter yet: the order of merging is nowhere to be seen.
#[test]
fn metadata_of_empty_groups_commutes() {
    let empty = |value: &str| {
        let mut groups = Groups::default();
        groups.metadata_mut().set("column", "3");
        groups.metadata_mut().set("source", value);
        groups
    };
    let (mut ab, mut ba) = (empty("a"), empty("b"));
    ab.merge(&empty("b")).unwrap();
    ba.merge(&empty("a")).unwrap();
    assert_eq!(ab.to_bytes().unwrap(), ba.to_bytes().unwrap());
    assert_eq!(ab.metadata().iter().collect::<Vec<_>>(), [("column", "3")]);
}

/// Hashes look alike, whatever they were made of: integer groups asked with text would answer "no" to keys that are there.
#[test]
fn text_is_refused_where_groups_hold_integers() {
    for strategy in samples::strategies(7) {
        let params = Params::new(Sizing::classic(10, 0.01).unwrap());
        let params = params.with_strategy(strategy).unwrap().with_key_type(KeyType::U64);
        let mut groups = Groups::default();
        for (name, key) in [("a", 42), ("b", 43)] {
            let mut filter = Bloom::with(params.clone()).unwrap();
            filter.insert_u64(key);
            groups.set(name, filter).unwrap();
        }
        let mut found = [0];
        groups.contains_mask(&[&42u64.to_le_bytes(), &43u64.to_le_bytes()], &mut found).unwrap();
        assert_eq!(found, [0b11], "the same keys as their eight bytes");
        let refused = groups.contains_mask(&[&42u64.to_le_bytes(), b"42"], &mut found).unwrap_err();
        assert!(matches!(refused, Error::KeyType { .. }), "{refused}");
    }
}

#[test]
fn groups_warn_by_name() {
    let mut groups = Groups::default();
    for (name, count) in [("calm", 100), ("full", 1000)] {
        let mut filter = Bloom::new(100, 0.01).unwrap();
        filter.insert_batch(Keys::U64(&random::integers(1, count))).unwrap();
        groups.set(name, filter).unwrap();
    }
    // Merged with its like, or taken over whole.
    for mut into in [groups.clone(), Groups::default()] {
        let warnings = into.merge(&groups).unwrap();
        assert_eq!(warnings.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["full"]);
    }
}
