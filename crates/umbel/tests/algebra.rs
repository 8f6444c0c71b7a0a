//! Filters as sets: the laws, for both layouts and every strategy.

#![allow(clippy::unwrap_used)]

mod support;

use proptest::prelude::*;
use support::filters::{bytes, shapes, some_keys, unlike, with_keys};
use support::random;
use umbel::hash::Strategy as Hashing;
use umbel::{Bloom, KeyType, Keys, Params, Sizing};

fn union(a: &Bloom, b: &Bloom) -> Bloom {
    let mut union = a.clone();
    union.merge(b).unwrap();
    union
}

fn intersection(a: &Bloom, b: &Bloom) -> Bloom {
    let mut intersection = a.clone();
    intersection.intersect(b).unwrap();
    intersection
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn merge_is_commutative_associative_and_idempotent(a in some_keys(), b in some_keys(), c in some_keys()) {
        for shape in shapes() {
            let [a, b, c] = [&a, &b, &c].map(|keys| with_keys(&shape, keys));
            prop_assert_eq!(bytes(&union(&a, &b)), bytes(&union(&b, &a)));
            prop_assert_eq!(bytes(&union(&union(&a, &b), &c)), bytes(&union(&a, &union(&b, &c))));
            prop_assert_eq!(&union(&a, &a), &a); // the insert calls add up, the set is the same
            prop_assert_eq!(bytes(&union(&a, &shape)), bytes(&a));
        }
    }

    #[test]
    fn any_split_and_order_gives_the_same_file(keys in some_keys(), parts in 1..5_usize, seed: u64) {
        let mut shuffled = keys.clone();
        let mut random = random::Random(seed);
        (1..shuffled.len()).rev().for_each(|i| shuffled.swap(i, random.below(i + 1)));
        for shape in shapes() {
            let mut merged = shape.clone();
            for part in shuffled.chunks(keys.len().div_ceil(parts).max(1)) {
                merged.merge(&with_keys(&shape, part)).unwrap();
            }
            prop_assert_eq!(bytes(&merged), bytes(&with_keys(&shape, &keys)));
        }
    }

    #[test]
    fn a_union_holds_all_and_an_intersection_what_is_common(a in some_keys(), b in some_keys(), common in some_keys()) {
        for shape in shapes() {
            let (a, b) = ([&a[..], &common].concat(), [&b[..], &common].concat());
            let (fa, fb) = (with_keys(&shape, &a), with_keys(&shape, &b));
            let (all, both) = (union(&fa, &fb), intersection(&fa, &fb));
            prop_assert!(a.iter().chain(&b).all(|key| all.contains(key)));
            prop_assert!(common.iter().all(|key| both.contains(key)));
            prop_assert!(both.expected_rate_now() <= fa.expected_rate_now().min(fb.expected_rate_now()));

            prop_assert_eq!(all.inserted(), Some((a.len() + b.len()) as u64));
            prop_assert_eq!(both.inserted(), None);
            prop_assert_eq!((union(&both, &fa).inserted(), union(&fa, &both).inserted()), (None, None));
            prop_assert_eq!(bytes(&both), bytes(&intersection(&fb, &fa)));
            prop_assert_eq!(&intersection(&fa, &fa), &fa);
            prop_assert_eq!(&union(&fa, &both), &fa); // absorption
            prop_assert_eq!(&intersection(&fa, &all), &fa);

            prop_assert!(all.may_contain_all(&fa).unwrap() && fa.may_contain_all(&both).unwrap());
            prop_assert!(fa.may_contain_all(&with_keys(&shape, &common)).unwrap());
            prop_assert_eq!(fa.may_contain_all(&fb).unwrap(), union(&fa, &fb) == fa);
        }
    }

    #[test]
    fn every_way_to_open_gives_the_same_filter(keys in some_keys(), stranger: [u8; 5], note: String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("filter.umbel");
        for shape in shapes().into_iter().step_by(3) {
            let mut filter = with_keys(&shape, &keys);
            filter.metadata_mut().set("note", note.as_str());
            filter.save(&path).unwrap();
            let saved = std::fs::read(&path).unwrap();
            prop_assert_eq!(&saved, &bytes(&filter));
            let opened = [
                Bloom::open(&path), Bloom::open_unverified(&path), Bloom::load(&path), Bloom::from_bytes(&saved),
            ];
            for mut opened in opened.map(Result::unwrap) {
                prop_assert_eq!(bytes(&opened), bytes(&filter));
                prop_assert!(keys.iter().all(|key| opened.contains(key)));
                prop_assert_eq!(opened.contains(&stranger), filter.contains(&stranger));
                // Filling it on copies it: the file stays as it is.
                opened.insert(&stranger);
                prop_assert!(opened.contains(&stranger));
                prop_assert_eq!(&opened, &with_keys(&filter, &[stranger.to_vec()]));
                prop_assert_eq!(&std::fs::read(&path).unwrap(), &saved);
            }
        }
    }
}

#[test]
fn unlike_filters_are_refused_by_field_and_both_values() {
    let params = |sizing: umbel::Result<Sizing>| Params::new(sizing.unwrap());
    let base = params(Sizing::with(10, 1024, 8));
    let seeded = |seed| base.clone().with_strategy(Hashing::Xxh3 { seed }).unwrap();
    let others = [
        (params(Sizing::blocked_with(10, 1024)), ["the layout", "classic", "blocked"]),
        (params(Sizing::with(10, 1000, 8)), ["the number of bits (m)", "1024", "1000"]),
        (params(Sizing::with(10, 1024, 7)), ["the number of probes (k)", "8", "7"]),
        (seeded(5), ["the hash strategy", "xxh3", "xxh3 with seed 5"]),
        (
            base.clone().with_key_type(KeyType::U64),
            ["the key type", "keys of bytes", "keys of 64-bit integers"],
        ),
    ];
    let mut ours = Bloom::with(base.clone()).unwrap();
    ours.insert(b"key");
    ours.metadata_mut().set("note", "kept");
    let before = bytes(&ours);
    for (params, expected) in others {
        let theirs = Bloom::with(params).unwrap();
        assert_eq!(unlike(ours.merge(&theirs)), expected);
        assert_eq!(unlike(ours.intersect(&theirs)), expected);
        assert_eq!(unlike(ours.may_contain_all(&theirs)), expected);
        let message = ours.merge(&theirs).unwrap_err().to_string();
        assert!(expected.iter().all(|part| message.contains(part)), "{message}");
        assert_eq!(bytes(&ours), before, "a refused merge changes nothing");
    }
    let theirs = Bloom::with(seeded(0)).unwrap();
    assert!(ours.merge(&theirs).is_ok());
}

/// The number of keys a filter was sized for is no part of where its bits lie: the larger holds.
#[test]
fn filters_of_other_capacity_merge() {
    let sized = |n| Bloom::with(Params::new(Sizing::with(n, 1000, 5).unwrap())).unwrap();
    assert_eq!(union(&sized(10), &sized(20)).sizing().capacity(), 20);
    assert_eq!(bytes(&union(&sized(10), &sized(20))), bytes(&union(&sized(20), &sized(10))));
}

#[test]
fn merging_beyond_the_capacity_warns() {
    for sizing in [Sizing::classic(1000, 0.01), Sizing::blocked(1000, 0.01)] {
        let mut filter = Bloom::with(Params::new(sizing.unwrap())).unwrap();
        filter.insert_batch(Keys::U64(&random::integers(1, 1000))).unwrap();
        assert_eq!(filter.overfull(), None);
        let mut other = filter.clone();
        assert_eq!(filter.merge(&other).unwrap(), None, "the same keys again");
        other.insert_batch(Keys::U64(&random::integers(2, 1000))).unwrap();
        let warning = filter.merge(&other).unwrap().unwrap();
        assert!((warning.estimated - 2000.0).abs() < 150.0, "{warning:?}");
        assert_eq!((warning.capacity, warning.rate_now), (1000, filter.expected_rate_now()));
        assert!(warning.to_string().contains("sized for 1000") && warning.rate_now > 0.1);
    }
}

/// Only the pairs on which both agree say something true of the union.
#[test]
fn metadata_that_both_have_survives_a_merge() {
    let mut a = Bloom::new(10, 0.01).unwrap();
    let mut b = a.clone();
    for (filter, name) in [(&mut a, "a"), (&mut b, "b")] {
        filter.metadata_mut().set("column", "3");
        filter.metadata_mut().set("source", name);
        filter.metadata_mut().set(name, "1");
    }
    for merged in [union(&a, &b), union(&b, &a), intersection(&a, &b)] {
        assert_eq!(merged.metadata().iter().collect::<Vec<_>>(), [("column", "3")]);
    }
    assert_eq!(a, b, "metadata is no part of equality");
}

/// The count of insert calls stays at the highest number there is, on every way to it.
#[test]
fn the_count_of_inserts_has_an_end() {
    for shape in shapes() {
        let mut filter = shape.clone();
        filter.add_inserted(u64::MAX - 1);
        for _ in 0..3 {
            filter.insert(b"key");
            assert_eq!(filter.inserted(), Some(u64::MAX));
        }
        filter.insert_u64(1);
        filter.merge(&shape).unwrap();
        filter.merge(&filter.clone()).unwrap();
        assert_eq!(filter.inserted(), Some(u64::MAX));
    }
}
