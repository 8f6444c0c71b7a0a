//! Heavy hitters: the bounds hold for every stream, split and merge; the top k against exact counts.

#![allow(clippy::unwrap_used)]

mod support;

use std::collections::HashMap;

use proptest::prelude::*;
use support::filters::unlike;
use support::random::Random;
use support::streams::{Zipf, counts};
use umbel::{Heavy, KeyType};

type Stream = Vec<(u8, u64)>;

fn some_stream() -> impl Strategy<Value = Stream> {
    let weight = prop_oneof![6 => Just(1), 3 => 0..30_u64, 1 => 1000..1_000_000_u64];
    let key = prop_oneof![3 => 0..8_u8, 2 => any::<u8>()];
    prop::collection::vec((key, weight), 0..200)
}

fn with(places: u32, stream: &[(u8, u64)]) -> Heavy {
    let mut heavy = Heavy::new(places).unwrap();
    stream.iter().for_each(|&(key, weight)| heavy.add(&[key], weight));
    heavy
}

fn exact(stream: &[(u8, u64)]) -> HashMap<u8, u64> {
    let mut counts = HashMap::new();
    stream.iter().for_each(|&(key, weight)| *counts.entry(key).or_insert(0) += weight);
    counts
}

/// Everything that is promised.
fn keeps_its_bounds(heavy: &Heavy, counts: &HashMap<u8, u64>) {
    let total: u64 = counts.values().sum();
    let bound = total / u64::from(heavy.places());
    assert_eq!((heavy.total(), heavy.bound()), (total, bound));
    assert!(heavy.missed() <= bound);
    let count = |key: u8| *counts.get(&key).unwrap_or(&0);
    for key in 0..=u8::MAX {
        let (least, most) = heavy.bounds(&[key]);
        assert!(least <= count(key) && count(key) <= most, "{key}: {least} to {most}");
        assert!(most - least <= bound, "{key}: {least} to {most}, bound {bound}");
    }
    let keys = heavy.keys();
    assert!(keys.len() == heavy.len() && heavy.len() <= heavy.places() as usize);
    for phi in [0.001, 0.02, 0.1, 0.3, 0.9] {
        let above = heavy.above(phi).unwrap();
        let limit = phi * total as f64;
        assert!(above.complete || phi < 1.0 / f64::from(heavy.places()));
        for (&key, &count) in counts {
            let found = above.keys.iter().find(|found| *found.key == [key]);
            if count as f64 > limit {
                assert!(found.is_some() || !above.complete, "{key} is missing above {phi}");
            } else {
                assert!(found.is_none_or(|found| !found.certain), "{key} is not above {phi}");
                assert!(found.is_none_or(|found| count + bound >= found.count));
            }
        }
    }
    for k in [1, 3, 10, 300] {
        let top = heavy.top(k);
        assert!(top.len() == k.min(heavy.len()) && top.is_sorted_by(|a, b| a.count >= b.count));
        for key in top.iter().filter(|key| key.certain) {
            let higher = counts.values().filter(|&&other| other > count(key.key[0])).count();
            assert!(higher < k, "{:?} is not among the top {k}", key.key);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn every_stream_keeps_the_bounds(stream in some_stream()) {
        for places in [1, 2, 5, 20, 300] {
            keeps_its_bounds(&with(places, &stream), &exact(&stream));
        }
    }

    /// Merged in any tree, and filled on after the merge.
    #[test]
    fn merging_keeps_the_bounds(
        parts in prop::collection::vec(some_stream(), 1..6), order: u64, more in some_stream(),
    ) {
        for places in [1, 2, 5, 20, 300] {
            let mut summaries: Vec<_> = parts.iter().map(|part| with(places, part)).collect();
            let mut random = Random(order);
            while summaries.len() > 1 {
                let other = summaries.swap_remove(random.below(summaries.len()));
                let at = random.below(summaries.len());
                summaries[at].merge(&other).unwrap();
            }
            let mut merged = summaries.pop().unwrap();
            keeps_its_bounds(&merged, &exact(&parts.concat()));
            more.iter().for_each(|&(key, weight)| merged.add(&[key], weight));
            keeps_its_bounds(&merged, &exact(&[parts.concat(), more.clone()].concat()));
            Heavy::from_bytes(&merged.to_bytes().unwrap()).unwrap();
        }
    }

    #[test]
    fn merge_is_commutative(a in some_stream(), b in some_stream()) {
        for places in [1, 5, 300] {
            let (ours, theirs) = (with(places, &a), with(places, &b));
            let (mut left, mut right) = (ours.clone(), theirs.clone());
            left.merge(&theirs).unwrap();
            right.merge(&ours).unwrap();
            prop_assert_eq!(left.to_bytes().unwrap(), right.to_bytes().unwrap());
        }
    }

    /// A summary that was saved and opened goes on as if it had not been.
    #[test]
    fn an_opened_summary_goes_on_in_the_same_way(a in some_stream(), b in some_stream()) {
        for places in [1, 5, 20, 300] {
            let mut whole = with(places, &a);
            whole.metadata_mut().set("note", "x");
            let mut opened = Heavy::from_bytes(&whole.to_bytes().unwrap()).unwrap();
            prop_assert_eq!(opened.to_bytes().unwrap(), whole.to_bytes().unwrap());
            for heavy in [&mut whole, &mut opened] {
                b.iter().for_each(|&(key, weight)| heavy.add(&[key], weight));
            }
            prop_assert_eq!(opened.to_bytes().unwrap(), whole.to_bytes().unwrap());
        }
    }
}

#[test]
fn the_top_of_a_skewed_stream_is_found() {
    for s in [1.0, 1.2] {
        let stream = Zipf::new(100_000, s).stream(11, 500_000);
        let counts = counts(&stream);
        let mut heavy = Heavy::new(1000).unwrap().with_key_type(KeyType::U64);
        stream.iter().for_each(|&key| heavy.add_u64(key, 1));
        let mut exact: Vec<_> = counts.iter().map(|(&key, &count)| (count, key)).collect();
        exact.sort_unstable_by(|a, b| b.cmp(a));
        let top = heavy.top(20);
        assert!(top.iter().all(|key| key.certain), "Zipf {s}");
        let found = |(count, key): &(u64, u64)| {
            let bytes = key.to_le_bytes();
            top.iter().any(|top| *top.key == bytes && top.least <= *count && *count <= top.count)
        };
        assert!(exact[..20].iter().all(found), "Zipf {s}");
    }
}

/// Keys that never come twice drive out whatever is light, and nothing that is heavy.
#[test]
fn a_flood_of_strangers_drives_out_no_heavy_key() {
    let mut heavy = Heavy::for_share(0.01).unwrap();
    assert_eq!(heavy.places(), 100);
    for i in 0..200_000_u64 {
        let key = if i % 50 == 7 { 1 } else { 1000 + i };
        heavy.add_u64(key, 1);
    }
    let above = heavy.above(0.01).unwrap();
    assert!(above.complete);
    let key = above.keys.iter().find(|key| *key.key == 1_u64.to_le_bytes()).unwrap();
    assert!(key.least <= 4000 && 4000 <= key.count && key.count <= 4000 + heavy.bound());
}

#[test]
fn what_cannot_be_is_refused() {
    assert!(Heavy::new(0).unwrap_err().to_string().contains("at least 1"));
    for phi in [0.0, 1.0, -0.5, f64::NAN, f64::INFINITY] {
        let message = Heavy::for_share(phi).unwrap_err().to_string();
        assert!(message.contains(&format!("not {phi}")), "{message}");
        assert!(Heavy::new(5).unwrap().above(phi).is_err());
    }
    assert!(Heavy::for_share(1e-10).unwrap_err().to_string().contains("larger share"));
    let mut ours = Heavy::new(5).unwrap();
    assert_eq!(unlike(ours.merge(&Heavy::new(6).unwrap())), ["the number of places", "5", "6"]);
    let integers = Heavy::new(5).unwrap().with_key_type(KeyType::U64);
    assert_eq!(unlike(ours.merge(&integers))[0], "the key type");
}

#[test]
fn counts_stop_at_the_greatest_number() {
    let mut heavy = Heavy::new(2).unwrap();
    for key in [b"a", b"b", b"c"] {
        heavy.add(key, u64::MAX - 1);
    }
    assert!(heavy.is_saturated());
    assert_eq!(heavy.bounds(b"c"), (1, u64::MAX));
    let mut merged = heavy.clone();
    merged.merge(&heavy).unwrap();
    assert_eq!(Heavy::from_bytes(&merged.to_bytes().unwrap()).unwrap().total(), u64::MAX);
}
