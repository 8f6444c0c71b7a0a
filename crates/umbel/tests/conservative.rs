//! Conservative update: never below the count, never above the plain sketch, and no way to merge.

#![allow(clippy::unwrap_used)]

mod support;

use proptest::prelude::*;
use support::random::{Random, integers};
use support::sketches::{shapes, some_stream, with_stream};
use umbel::format::{File, Kind};
use umbel::hash::xxh3;
use umbel::{Bloom, Conservative, CountMin, CountMinParams, Error, Keys};

fn with(params: &CountMinParams, stream: &[(Vec<u8>, u64)]) -> Conservative {
    let mut sketch = Conservative::new(*params).unwrap();
    stream.iter().for_each(|(key, weight)| sketch.add(key, *weight));
    sketch
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn an_estimate_lies_between_the_count_and_that_of_a_plain_sketch(stream in some_stream(), stranger: [u8; 3]) {
        for shape in shapes() {
            let (plain, conservative) = (with_stream(&shape, &stream), with(shape.params(), &stream));
            let mut counts = std::collections::HashMap::new();
            for (key, weight) in &stream {
                let count = counts.entry(key).or_insert(0_u64);
                *count = count.saturating_add(*weight);
            }
            for (key, count) in counts {
                let estimate = conservative.estimate(key);
                prop_assert!(count <= estimate && estimate <= plain.estimate(key));
            }
            prop_assert!(conservative.estimate(&stranger) <= plain.estimate(&stranger));
            prop_assert_eq!((conservative.total(), conservative.inserted()), (plain.total(), plain.inserted()));
            prop_assert_eq!((conservative.bound(), conservative.is_saturated()), (plain.bound(), plain.is_saturated()));
            prop_assert!(conservative.check().is_ok());
        }
    }

    #[test]
    fn a_batch_counts_in_the_order_of_its_keys(stream in some_stream(), integers in prop::collection::vec(0..99_u64, 0..700)) {
        let keys: Vec<&[u8]> = stream.iter().map(|(key, _)| key.as_slice()).collect();
        let weights: Vec<u64> = stream.iter().map(|(_, weight)| *weight).collect();
        for shape in shapes() {
            let params = shape.params();
            let one_by_one = with(params, &stream);
            let hashes: Vec<u64> = keys.iter().map(|key| xxh3(key, params.seed())).collect();
            for batch in [Keys::Bytes(&keys), Keys::Hashes(&hashes)] {
                let mut sketch = Conservative::new(*params).unwrap();
                sketch.add_weighted(batch, &weights).unwrap();
                prop_assert_eq!(sketch.to_bytes().unwrap(), one_by_one.to_bytes().unwrap());
                let mut estimates = vec![0; keys.len()];
                sketch.estimate_batch(batch, &mut estimates).unwrap();
                for ((key, &hash), estimate) in keys.iter().zip(&hashes).zip(estimates) {
                    prop_assert_eq!(estimate, one_by_one.estimate(key));
                    prop_assert_eq!(estimate, one_by_one.estimate_hash(hash));
                }
            }
            let (mut one_by_one, mut batch) = (Conservative::new(*params).unwrap(), Conservative::new(*params).unwrap());
            integers.iter().for_each(|&key| one_by_one.add_u64(key, 1));
            batch.add_batch(Keys::U64(&integers)).unwrap();
            prop_assert_eq!(batch.to_bytes().unwrap(), one_by_one.to_bytes().unwrap());
        }
    }

    #[test]
    fn every_way_to_open_gives_the_same_sketch(stream in some_stream()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("counts.umbel");
        for shape in shapes().into_iter().step_by(2) {
            let mut sketch = with(shape.params(), &stream);
            sketch.metadata_mut().set("note", "x");
            sketch.save(&path).unwrap();
            let saved = std::fs::read(&path).unwrap();
            let opened = [
                Conservative::open(&path), Conservative::open_unverified(&path),
                Conservative::load(&path), Conservative::from_bytes(&saved),
            ];
            for mut opened in opened.map(Result::unwrap) {
                prop_assert_eq!(&opened.to_bytes().unwrap(), &saved);
                opened.add(b"more", 1000);
                prop_assert_eq!(&std::fs::read(&path).unwrap(), &saved);
            }
        }
    }
}

/// Why there is no merge: the same keys in another order give other counters.
#[test]
fn the_counters_depend_on_the_order() {
    let params = CountMinParams::with_size(4, 2).unwrap();
    let mut keys: Vec<u64> = integers(1, 40);
    let mut forward = Conservative::new(params).unwrap();
    forward.add_batch(Keys::U64(&keys)).unwrap();
    keys.reverse();
    let mut backward = Conservative::new(params).unwrap();
    backward.add_batch(Keys::U64(&keys)).unwrap();
    assert_ne!(forward, backward);
}

#[test]
fn a_file_of_it_is_refused_where_order_must_not_matter() {
    let params = CountMinParams::with_size(4, 2).unwrap();
    let file = Conservative::new(params).unwrap().to_bytes().unwrap();
    let refusal = CountMin::from_bytes(&file).unwrap_err();
    let named =
        matches!(&refusal, Error::File { source, .. } if matches!(**source, Error::OrderMatters));
    assert!(named, "{refusal}");
    assert!(refusal.to_string().contains("depend on the order of the keys"));
    let kind = File::from_bytes(file.clone()).unwrap().kind();
    assert!(matches!(kind.check_mergeable(), Err(Error::OrderMatters)));
    let refusal = Bloom::from_bytes(&file).unwrap_err().to_string();
    assert_eq!(
        refusal,
        "memory: this file holds a conservative count-min sketch, not a Bloom filter"
    );

    let plain = CountMin::new(params).unwrap().to_bytes().unwrap();
    assert!(
        Conservative::from_bytes(&plain).unwrap_err().to_string().contains("holds a count-min")
    );
    assert!(Kind::CountMin.check_mergeable().is_ok());
}

/// On a skewed stream its errors are a fraction of those of a plain sketch.
#[test]
fn estimates_are_better_than_those_of_a_plain_sketch() {
    let params = CountMinParams::with_size(2000, 4).unwrap();
    let (mut plain, mut conservative) =
        (CountMin::new(params).unwrap(), Conservative::new(params).unwrap());
    let mut random = Random(8);
    let mut counts = std::collections::HashMap::new();
    let keys: Vec<u64> = (0..300_000)
        .map(|_| {
            let below = 1 << random.below(17);
            random.below(below) as u64
        })
        .collect();
    keys.iter().for_each(|&key| *counts.entry(key).or_insert(0_u64) += 1);
    plain.add_batch(Keys::U64(&keys)).unwrap();
    conservative.add_batch(Keys::U64(&keys)).unwrap();
    let error = |estimate: &dyn Fn(u64) -> u64| -> u64 {
        counts.iter().map(|(&key, &count)| estimate(key) - count).sum()
    };
    let plain = error(&|key| plain.estimate_u64(key));
    let conservative = error(&|key| conservative.estimate_u64(key));
    assert!(3 * conservative < 2 * plain, "{conservative} against {plain}");
}

/// Where memory is asked for ahead: a table that is not taken to be in the cache.
#[test]
fn a_large_sketch_counts_as_its_keys_one_by_one() {
    let params = CountMinParams::with_size(1 << 18, 4).unwrap();
    let (mut one_by_one, mut batch) =
        (Conservative::new(params).unwrap(), Conservative::new(params).unwrap());
    let keys: Vec<u64> = integers(3, 50_000).iter().map(|key| key % 20_000).collect();
    let weights: Vec<u64> = keys.iter().map(|key| key % 100).collect();
    for (&key, &weight) in keys.iter().zip(&weights) {
        one_by_one.add_u64(key, weight);
    }
    batch.add_weighted(Keys::U64(&keys), &weights).unwrap();
    assert!(batch.to_bytes().unwrap() == one_by_one.to_bytes().unwrap());
}
