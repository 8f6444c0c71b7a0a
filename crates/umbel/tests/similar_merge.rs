//! Similar filters as sets: any order and any split gives the same bytes.

#![allow(clippy::unwrap_used)]

mod support;

use proptest::prelude::*;
use support::filters::unlike;
use support::items::Owned;
use support::random::Random;
use support::similar_samples::SPACES;
use umbel::similar::{Item, Params, Promise, Shape, Similar, Space};

/// Empty filters of every space: small, so that items share bits.
fn shapes() -> Vec<Similar> {
    let params = SPACES.map(|(space, close, far)| {
        let width = if let Space::Euclid { .. } = space { 3.0 } else { 0.0 };
        let shape = Shape { bands: 7, samples: 3, threshold: 2, probes: 2, bits: 37, width };
        Params::with_shape(space, 20, close, far, shape).unwrap().with_seed(99)
    });
    params.map(|params| Similar::new(params).unwrap()).to_vec()
}

fn with_items(shape: &Similar, seeds: &[u8]) -> Similar {
    let mut filter = shape.clone();
    for &seed in seeds {
        let item = Owned::random(&mut Random(seed.into()), shape.params().space());
        item.with(|item| filter.insert(item)).unwrap();
    }
    filter
}

fn union(a: &Similar, b: &Similar) -> Similar {
    let mut union = a.clone();
    union.merge(b).unwrap();
    union
}

fn bytes(filter: &Similar) -> Vec<u8> {
    filter.to_bytes().unwrap()
}

fn some_items() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn merge_is_commutative_associative_and_idempotent(a in some_items(), b in some_items(), c in some_items()) {
        for shape in shapes() {
            let [a, b, c] = [&a, &b, &c].map(|items| with_items(&shape, items));
            prop_assert_eq!(bytes(&union(&a, &b)), bytes(&union(&b, &a)));
            prop_assert_eq!(bytes(&union(&union(&a, &b), &c)), bytes(&union(&a, &union(&b, &c))));
            prop_assert_eq!(&union(&a, &a), &a); // the items given add up, the set is the same
            prop_assert_eq!(bytes(&union(&a, &shape)), bytes(&a));
        }
    }

    #[test]
    fn any_split_and_order_gives_the_same_file(items in some_items(), parts in 1..5_usize, turn in 0..12_usize) {
        let mut turned = items.clone();
        turned.rotate_left(turn.min(items.len()));
        for shape in shapes() {
            let parts = turned.chunks(items.len().div_ceil(parts).max(1));
            let merged = parts.fold(shape.clone(), |all, part| union(&all, &with_items(&shape, part)));
            prop_assert_eq!(bytes(&merged), bytes(&with_items(&shape, &items)));
        }
    }

    /// One by one, through bands found elsewhere, and many at once: the same bits and the same answers.
    #[test]
    fn batches_are_items_one_by_one(items in some_items(), strangers in some_items()) {
        for shape in shapes() {
            let space = shape.params().space();
            let owned = |seeds: &[u8]| -> Vec<Owned> {
                seeds.iter().map(|&seed| Owned::random(&mut Random(seed.into()), space)).collect()
            };
            let (items_owned, strangers) = (owned(&items), owned(&strangers));
            let mut filter = shape.clone();
            as_items(&items_owned, |items| filter.insert_batch(items)).unwrap();
            prop_assert_eq!(bytes(&filter), bytes(&with_items(&shape, &items)));
            let one_by_one: Vec<bool> =
                strangers.iter().map(|item| item.with(|item| filter.contains(item)).unwrap()).collect();
            let mut answers = vec![true; strangers.len()];
            as_items(&strangers, |items| filter.contains_batch(items, &mut answers)).unwrap();
            prop_assert_eq!(answers, one_by_one);
            prop_assert!(items_owned.iter().all(|item| item.with(|item| filter.contains(item)).unwrap()));
        }
    }

    #[test]
    fn files_open_as_they_were_saved(items in some_items(), stranger: u8) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("similar.umbel");
        for shape in shapes() {
            let filter = with_items(&shape, &items);
            let stranger = Owned::random(&mut Random(stranger.into()), shape.params().space());
            filter.save(&path).unwrap();
            let saved = std::fs::read(&path).unwrap();
            prop_assert_eq!(&saved, &bytes(&filter));
            let opened = [
                Similar::open(&path), Similar::open_unverified(&path), Similar::load(&path), Similar::from_bytes(&saved),
            ];
            for mut opened in opened.map(Result::unwrap) {
                prop_assert_eq!(&opened, &filter);
                prop_assert_eq!(bytes(&opened), bytes(&filter));
                let asked = |filter: &Similar| stranger.with(|item| filter.contains(item)).unwrap();
                prop_assert_eq!(asked(&opened), asked(&filter));
                // Filling it on copies it: the file stays as it is.
                stranger.with(|item| opened.insert(item)).unwrap();
                prop_assert!(asked(&opened));
                prop_assert_eq!(&std::fs::read(&path).unwrap(), &saved);
            }
        }
    }
}

/// All items at once, as a batch takes them.
fn as_items<T>(items: &[Owned], take: impl FnOnce(&[Item<'_>]) -> T) -> T {
    let tokens: Vec<Vec<&[u8]>> = items
        .iter()
        .map(|item| match item {
            Owned::Tokens(tokens) => tokens.iter().map(Vec::as_slice).collect(),
            _ => Vec::new(),
        })
        .collect();
    let borrowed: Vec<Item<'_>> = items
        .iter()
        .zip(&tokens)
        .map(|(item, tokens)| match item {
            Owned::Bits(bytes) => Item::Bits(bytes),
            Owned::Vector(vector) => Item::Vector(vector),
            Owned::Text(text) => Item::Text(text.as_bytes()),
            Owned::Tokens(_) => Item::Tokens(tokens),
        })
        .collect();
    take(&borrowed)
}

#[test]
fn unlike_filters_are_refused_by_field_and_both_values() {
    let shape = Shape { bands: 8, samples: 4, threshold: 2, probes: 3, bits: 100, width: 2.0 };
    let space = Space::Euclid { dimension: 3 };
    let make = |space, close, far, shape| Params::with_shape(space, 10, close, far, shape).unwrap();
    let params = make(space, 1.0, 9.0, shape);
    let mut ours = Similar::new(params).unwrap();
    ours.insert(&[1.0, 2.0, 3.0]).unwrap();
    let flat = Shape { width: 0.0, ..shape };
    let others = [
        (make(Space::Cosine { dimension: 3 }, 1.0, 2.0, flat), ["the metric", "euclid", "cosine"]),
        (
            make(Space::Euclid { dimension: 4 }, 1.0, 9.0, shape),
            ["the items", "vectors of 3 numbers", "vectors of 4 numbers"],
        ),
        (make(space, 1.5, 9.0, shape), ["the close distance", "1", "1.5"]),
        (make(space, 1.0, 8.0, shape), ["the far distance", "9", "8"]),
        (make(space, 1.0, 9.0, Shape { bands: 9, ..shape }), ["the number of bands (k)", "8", "9"]),
        (
            make(space, 1.0, 9.0, Shape { samples: 5, ..shape }),
            ["the samples a band (t)", "4", "5"],
        ),
        (make(space, 1.0, 9.0, Shape { threshold: 3, ..shape }), ["the threshold (tau)", "2", "3"]),
        (make(space, 1.0, 9.0, Shape { probes: 1, ..shape }), ["the probes a band (q)", "3", "1"]),
        (make(space, 1.0, 9.0, Shape { bits: 99, ..shape }), ["the bits a band (m)", "100", "99"]),
        (make(space, 1.0, 9.0, Shape { width: 4.0, ..shape }), ["the width of a step", "2", "4"]),
        (params.with_seed(3), ["the seed of the samples", "0", "3"]),
    ];
    let before = bytes(&ours);
    for (theirs, expected) in others {
        assert_eq!(unlike(ours.merge(&Similar::new(theirs).unwrap())), expected.map(str::to_owned));
        assert_eq!(bytes(&ours), before, "a refused merge changes nothing");
    }
    // Sized for more by a caller who wants the same bits: the larger number holds.
    let larger = Params::with_shape(space, 30, 1.0, 9.0, shape).unwrap();
    ours.merge(&Similar::new(larger).unwrap()).unwrap();
    assert_eq!(ours.params().n(), 30);
}

#[test]
fn merging_beyond_the_capacity_warns() {
    let space = Space::Hamming { bits: 256 };
    let params = Params::new(space, 2000, &Promise::new(0.05, 0.4)).unwrap();
    let fill = |seed: u64, count: usize| {
        let mut filter = Similar::new(params).unwrap();
        let mut random = Random(seed);
        for _ in 0..count {
            Owned::random(&mut random, space).with(|item| filter.insert(item)).unwrap();
        }
        filter
    };
    let mut filter = fill(1, 2000);
    assert_eq!(filter.overfull(), None);
    assert!((filter.estimated_len() - 2000.0).abs() < 60.0, "{}", filter.estimated_len());
    assert_eq!(filter.merge(&fill(1, 2000)).unwrap(), None, "the same items again");
    let warning = filter.merge(&fill(2, 2000)).unwrap().unwrap();
    assert!((warning.estimated - 4000.0).abs() < 100.0, "{warning:?}");
    assert_eq!((warning.capacity, warning.promised), (2000, params.false_positives()));
    assert!(warning.rate_now > 0.1 && warning.rate_now == filter.expected_rate_now());
    assert!(warning.to_string().contains("sized for 2000"));
}

#[test]
fn metadata_that_both_have_survives_a_merge() {
    let mut a = shapes().remove(0);
    let mut b = a.clone();
    for (filter, name) in [(&mut a, "a"), (&mut b, "b")] {
        filter.metadata_mut().set("column", "3");
        filter.metadata_mut().set("source", name);
    }
    for merged in [union(&a, &b), union(&b, &a)] {
        assert_eq!(merged.metadata().iter().collect::<Vec<_>>(), [("column", "3")]);
    }
    assert_eq!(a, b, "metadata is no part of equality");
}
