//! Counts of any sort under one face, and by group.

#![allow(clippy::unwrap_used)]

mod support;

use proptest::prelude::*;
use support::count_samples;
use support::filters::unlike;
use umbel::format::{File, Kind};
use umbel::{
    Conservative, CountGroups, CountMin, CountMinParams, Counts, Error, Heavy, KeyType, Ranges,
    RangesParams, Sketch,
};

/// New counts of every sort for integers.
fn empty() -> Vec<Counts> {
    let params = CountMinParams::with_size(40, 3).unwrap().with_key_type(KeyType::U64);
    let ranges = RangesParams::with_size(-1000, 1000, 20, 3).unwrap();
    let heavy = || Heavy::new(8).unwrap().with_key_type(KeyType::U64);
    let sketches: [Counts; 3] = [
        CountMin::new(params).unwrap().into(),
        Conservative::new(params).unwrap().into(),
        Ranges::new(ranges).unwrap().into(),
    ];
    let with_heavy = sketches.clone().map(|counts| counts.with_heavy(heavy()).unwrap());
    sketches.into_iter().chain(with_heavy).chain([heavy().into()]).collect()
}

fn is_conservative(counts: &Counts) -> bool {
    matches!(counts.sketch(), Some(Sketch::Conservative(_)))
}

type Stream = Vec<(i64, u64)>;

fn some_stream() -> impl Strategy<Value = Stream> {
    prop::collection::vec((-1000..=1000_i64, 0..300_u64), 0..80)
}

fn with(empty: &Counts, stream: &[(i64, u64)]) -> Counts {
    let mut counts = empty.clone();
    let keys: Vec<_> = stream.iter().map(|(key, _)| key.to_le_bytes()).collect();
    let slices: Vec<&[u8]> = keys.iter().map(|key| &key[..]).collect();
    let weights: Vec<u64> = stream.iter().map(|(_, weight)| *weight).collect();
    counts.add_weighted(&slices, &weights).unwrap();
    counts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_estimate_is_below_the_count(stream in some_stream(), other in some_stream()) {
        for empty in empty() {
            let mut counts = with(&empty, &stream);
            let mut all = stream.clone();
            if is_conservative(&counts) {
                let before = counts.to_bytes().unwrap();
                prop_assert!(matches!(counts.merge(&with(&empty, &other)), Err(Error::OrderMatters)));
                prop_assert_eq!(counts.to_bytes().unwrap(), before);
            } else {
                counts.merge(&with(&empty, &other)).unwrap();
                all.extend(&other);
            }
            prop_assert_eq!(counts.inserted(), all.len() as u64);
            prop_assert_eq!(counts.total(), all.iter().map(|(_, weight)| weight).sum::<u64>());
            for (key, _) in &all {
                let count = all.iter().filter(|(other, _)| other == key).map(|(_, weight)| weight).sum();
                let estimate = counts.estimate(&key.to_le_bytes()).unwrap();
                prop_assert!(estimate >= count);
                if let Some(heavy) = counts.heavy() {
                    prop_assert!(estimate <= count + heavy.bound());
                }
            }
            prop_assert!(counts.check().is_ok());
        }
    }

    /// A batch, one by one, saved and opened: the same bytes.
    #[test]
    fn every_way_gives_the_same_bytes(stream in some_stream()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("counts.umbel");
        for empty in empty() {
            let mut counts = with(&empty, &stream);
            let mut one_by_one = empty.clone();
            stream.iter().for_each(|(key, weight)| one_by_one.add(&key.to_le_bytes(), *weight).unwrap());
            prop_assert_eq!(one_by_one.to_bytes().unwrap(), counts.to_bytes().unwrap());
            counts.metadata_mut().set("note", "x");
            counts.save(&path).unwrap();
            let saved = std::fs::read(&path).unwrap();
            let opened = [
                Counts::open(&path), Counts::open_unverified(&path), Counts::load(&path), Counts::from_bytes(&saved),
            ];
            for mut opened in opened.map(Result::unwrap) {
                prop_assert_eq!(&opened.to_bytes().unwrap(), &saved);
                let mut more = counts.clone();
                for counts in [&mut opened, &mut more] {
                    counts.add_batch(&[&7_i64.to_le_bytes(), &(-7_i64).to_le_bytes()]).unwrap();
                }
                prop_assert_eq!(opened.to_bytes().unwrap(), more.to_bytes().unwrap());
                prop_assert_eq!(&std::fs::read(&path).unwrap(), &saved);
            }
        }
    }

    #[test]
    fn groups_merge_as_their_counts_do(
        a in prop::collection::vec((0..4_usize, -1000..=1000_i64), 0..60),
        b in prop::collection::vec((0..4_usize, -1000..=1000_i64), 0..60),
        c in prop::collection::vec((0..4_usize, -1000..=1000_i64), 0..60),
    ) {
        for empty in empty().into_iter().filter(|counts| counts.heavy().is_none() && !is_conservative(counts)) {
            let filled = |rows: &[(usize, i64)]| {
                let mut groups = CountGroups::default();
                for (group, key) in rows {
                    let name = ["9", "10", "x", ""][*group];
                    if groups.get(name).is_err() {
                        groups.set(name, empty.clone()).unwrap();
                    }
                    groups.add(name, &key.to_le_bytes(), 1).unwrap();
                }
                groups
            };
            let merged = |a: &CountGroups, b: &CountGroups| {
                let mut merged = a.clone();
                merged.merge(b).unwrap();
                merged
            };
            let bytes = |groups: &CountGroups| groups.to_bytes().unwrap();
            let whole = filled(&[a.clone(), b.clone(), c.clone()].concat());
            let [a, b, c] = [&a, &b, &c].map(|rows| filled(rows));
            prop_assert_eq!(bytes(&merged(&a, &merged(&b, &c))), bytes(&whole));
            prop_assert_eq!(bytes(&merged(&merged(&c, &a), &b)), bytes(&whole));
            prop_assert_eq!(bytes(&CountGroups::from_bytes(&bytes(&whole)).unwrap()), bytes(&whole));
        }
    }
}

#[test]
fn a_file_of_one_part_is_that_parts_own() {
    let params = CountMinParams::with_size(40, 3).unwrap();
    let mut sketch = CountMin::new(params).unwrap();
    sketch.add(b"key", 3);
    sketch.metadata_mut().set("note", "kept");
    assert_eq!(Counts::from(sketch.clone()).to_bytes().unwrap(), sketch.to_bytes().unwrap());
    let mut heavy = Heavy::new(4).unwrap();
    heavy.add(b"key", 3);
    assert_eq!(Counts::from(heavy.clone()).to_bytes().unwrap(), heavy.to_bytes().unwrap());

    let both = Counts::from(sketch).with_heavy(heavy).unwrap();
    assert_eq!((both.kind(), both.metadata().get("note")), (Kind::Counts, Some("kept")));
    assert_eq!(both.bound(), 0);
    let file = File::from_bytes(both.to_bytes().unwrap()).unwrap();
    assert_eq!((file.kind(), file.kind().is_counts()), (Kind::Counts, true));
    assert!(file.into_count_min().unwrap_err().to_string().contains("counts with heavy hitters"));
}

#[test]
fn parts_of_different_streams_are_refused() {
    let params = CountMinParams::with_size(40, 3).unwrap();
    let sketch = || Counts::from(CountMin::new(params).unwrap());
    let heavy = || Heavy::new(4).unwrap();
    let mut other = heavy();
    other.add(b"key", 0);
    let refused = |heavy| unlike(sketch().with_heavy(heavy));
    assert_eq!(refused(other.clone()), ["the number of add calls", "0", "1"]);
    other.add(b"key", 5);
    assert_eq!(refused(other), ["the total weight", "0", "5"]);
    assert_eq!(refused(heavy().with_key_type(KeyType::U64))[0], "the key type");
    assert!(sketch().with_heavy(heavy()).unwrap().with_heavy(heavy()).is_err());
    assert!(Counts::from(heavy()).with_heavy(heavy()).is_err());
}

#[test]
fn unlike_counts_do_not_merge() {
    for (i, ours) in empty().iter().enumerate() {
        for (j, theirs) in empty().iter().enumerate().filter(|(j, _)| *j != i) {
            let refusal = ours.clone().merge(theirs).unwrap_err();
            let by_order = matches!(refusal, Error::OrderMatters);
            let by_kind = matches!(&refusal, Error::Unlike { field: "the kind", .. });
            assert!(by_order || by_kind, "{i} {j}: {refusal}");
        }
    }
    // The sketches are alike, the heavy hitters are not: nothing changes.
    let params = CountMinParams::with_size(40, 3).unwrap();
    let counts = |places| {
        let sketch = Counts::from(CountMin::new(params).unwrap());
        let mut counts = sketch.with_heavy(Heavy::new(places).unwrap()).unwrap();
        counts.add(b"key", 1).unwrap();
        counts
    };
    let mut ours = counts(4);
    assert_eq!(unlike(ours.merge(&counts(5)))[0], "the number of places");
    assert_eq!(ours.to_bytes().unwrap(), counts(4).to_bytes().unwrap());
}

#[test]
fn keys_that_do_not_fit_are_refused_and_change_nothing() {
    for mut counts in empty() {
        let before = counts.to_bytes().unwrap();
        let eight = 5_i64.to_le_bytes();
        assert!(matches!(counts.add(b"5", 1), Err(Error::KeyType { .. })));
        assert!(counts.add_batch(&[&eight, b"5"]).is_err());
        assert!(counts.add_weighted(&[&eight], &[1, 2]).is_err());
        assert!(counts.estimate(b"5").is_err());
        assert!(counts.estimate_batch(&[&eight], &mut [0; 2]).is_err());
        let outside = 1001_i64.to_le_bytes();
        if matches!(counts.sketch(), Some(Sketch::Ranges(_))) {
            assert!(matches!(counts.add_batch(&[&eight, &outside]), Err(Error::Range(_))));
            assert_eq!(counts.estimate(&outside).unwrap(), 0);
        }
        assert_eq!(counts.to_bytes().unwrap(), before);
    }
}

#[test]
fn groups_are_of_one_family() {
    let mut groups = CountGroups::default();
    let params = CountMinParams::with_size(40, 3).unwrap();
    let plain = |params| Counts::from(CountMin::new(params).unwrap());
    groups.set("1", plain(params)).unwrap();
    groups.set("2", plain(CountMinParams::with_size(7, 1).unwrap())).unwrap();
    assert_eq!(unlike(groups.set("3", plain(params.with_seed(4))))[0], "the hash strategy");
    assert_eq!(
        unlike(groups.set("3", plain(params.with_key_type(KeyType::U64))))[0],
        "the key type"
    );
    assert_eq!(unlike(groups.set("3", Heavy::new(3).unwrap().into()))[0], "the kind");
    let conservative = Conservative::new(params).unwrap();
    assert_eq!(unlike(groups.set("3", conservative.clone().into()))[0], "the kind");
    assert!(matches!(groups.get("3"), Err(Error::NoGroup(_))));
    // What is replaced has no say.
    let mut one = CountGroups::default();
    one.set("1", plain(params)).unwrap();
    one.set("1", plain(params.with_seed(4))).unwrap();
    assert!(matches!(groups.add("3", b"key", 1), Err(Error::NoGroup(_))));
    assert_eq!((groups.len(), groups.key_type()), (2, Some(KeyType::Bytes)));

    // On an error nothing has changed: the first group could be merged, the second cannot.
    groups.add("1", b"key", 1).unwrap();
    let mut other = groups.clone();
    other.set("2", plain(CountMinParams::with_size(8, 1).unwrap())).unwrap();
    let before = groups.to_bytes().unwrap();
    let message = groups.merge(&other).unwrap_err().to_string();
    assert!(
        message.starts_with("group 2: ") && message.contains("7 here and 8 there"),
        "{message}"
    );
    assert_eq!(groups.to_bytes().unwrap(), before);

    // The same by order: conservative groups of different names stand beside each other, those of one name do not merge.
    let (mut a, mut b) = (CountGroups::default(), CountGroups::default());
    a.set("a", conservative.clone().into()).unwrap();
    b.set("b", conservative.into()).unwrap();
    a.merge(&b).unwrap();
    assert_eq!(a.names().collect::<Vec<_>>(), ["a", "b"]);
    assert!(a.merge(&b).unwrap_err().to_string().contains("order of the keys"));
}

#[test]
fn groups_open_in_every_way() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("groups.umbel");
    let groups = count_samples::groups();
    groups.save(&path).unwrap();
    let saved = std::fs::read(&path).unwrap();
    for opened in [CountGroups::open(&path), CountGroups::open_unverified(&path)] {
        let mut opened = opened.unwrap();
        assert_eq!(opened.to_bytes().unwrap(), saved);
        opened.add("10", b"more", 1 << 20).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), saved);
    }
    assert!(Counts::open(&path).unwrap_err().to_string().contains("holds counts by group"));
}
