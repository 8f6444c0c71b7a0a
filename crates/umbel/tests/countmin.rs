//! Count-min sketches: the laws of merging, the model of a map, every form of key, what is refused.

#![allow(clippy::unwrap_used)]

mod support;

use std::collections::HashMap;

use proptest::prelude::*;
use support::filters::unlike;
use support::random::{self, Random};
use support::sketches::{bytes, shapes, some_stream, with_stream};
use umbel::hash::{xxh3, xxh3_u64};
use umbel::{CountMin, CountMinParams, Error, KeyType, Keys};

fn merged(a: &CountMin, b: &CountMin) -> CountMin {
    let mut merged = a.clone();
    merged.merge(b).unwrap();
    merged
}

/// What each key came to, 2^64 - 1 at most.
fn exact(stream: &[(Vec<u8>, u64)]) -> HashMap<&[u8], u64> {
    let mut counts = HashMap::new();
    for (key, weight) in stream {
        let count = counts.entry(key.as_slice()).or_insert(0_u64);
        *count = count.saturating_add(*weight);
    }
    counts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_estimate_is_below_the_count(stream in some_stream(), stranger: [u8; 4]) {
        let total = stream.iter().fold(0_u64, |sum, (_, weight)| sum.saturating_add(*weight));
        for shape in shapes() {
            let sketch = with_stream(&shape, &stream);
            for (key, count) in exact(&stream) {
                let estimate = sketch.estimate(key);
                prop_assert!(count <= estimate && estimate <= total);
            }
            prop_assert!(sketch.estimate(&stranger) <= total);
            prop_assert_eq!((sketch.total(), sketch.inserted()), (total, stream.len() as u64));
            prop_assert_eq!(sketch.is_saturated(), total == u64::MAX);
            prop_assert!(sketch.check().is_ok());
        }
    }

    #[test]
    fn merge_is_commutative_and_associative(a in some_stream(), b in some_stream(), c in some_stream()) {
        for shape in shapes() {
            let [a, b, c] = [&a, &b, &c].map(|stream| with_stream(&shape, stream));
            prop_assert_eq!(bytes(&merged(&a, &b)), bytes(&merged(&b, &a)));
            prop_assert_eq!(bytes(&merged(&merged(&a, &b), &c)), bytes(&merged(&a, &merged(&b, &c))));
            prop_assert_eq!(bytes(&merged(&a, &shape)), bytes(&a));
        }
    }

    /// Also where counters stop at 2^64 - 1.
    #[test]
    fn any_split_and_order_gives_the_same_file(stream in some_stream(), parts in 1..5_usize, seed: u64) {
        let mut shuffled = stream.clone();
        let mut random = Random(seed);
        (1..shuffled.len()).rev().for_each(|i| shuffled.swap(i, random.below(i + 1)));
        for shape in shapes() {
            let mut whole = shape.clone();
            for part in shuffled.chunks(stream.len().div_ceil(parts).max(1)) {
                whole.merge(&with_stream(&shape, part)).unwrap();
            }
            prop_assert_eq!(bytes(&whole), bytes(&with_stream(&shape, &stream)));
        }
    }

    #[test]
    fn a_batch_counts_as_its_keys_one_by_one(stream in some_stream(), integers in prop::collection::vec(0..99_u64, 0..1200)) {
        let keys: Vec<&[u8]> = stream.iter().map(|(key, _)| key.as_slice()).collect();
        let weights: Vec<u64> = stream.iter().map(|(_, weight)| *weight).collect();
        for shape in shapes() {
            let seed = shape.params().seed();
            let hashes: Vec<u64> = keys.iter().map(|key| xxh3(key, seed)).collect();
            let one_by_one = with_stream(&shape, &stream);
            for batch in [Keys::Bytes(&keys), Keys::Hashes(&hashes)] {
                let mut sketch = shape.clone();
                sketch.add_weighted(batch, &weights).unwrap();
                prop_assert_eq!(bytes(&sketch), bytes(&one_by_one));
                let mut estimates = vec![0; keys.len()];
                sketch.estimate_batch(batch, &mut estimates).unwrap();
                for (key, estimate) in keys.iter().zip(estimates) {
                    prop_assert_eq!(estimate, one_by_one.estimate(key));
                }
            }
            let (mut one_by_one, mut batch) = (shape.clone(), shape.clone());
            integers.iter().for_each(|&key| one_by_one.add_u64(key, 1));
            batch.add_batch(Keys::U64(&integers)).unwrap();
            prop_assert_eq!(bytes(&batch), bytes(&one_by_one));
            let mut estimates = vec![0; integers.len()];
            batch.estimate_batch(Keys::U64(&integers), &mut estimates).unwrap();
            for (&key, estimate) in integers.iter().zip(estimates) {
                prop_assert_eq!(estimate, one_by_one.estimate_u64(key));
                prop_assert_eq!(estimate, one_by_one.estimate(&key.to_le_bytes()));
                prop_assert_eq!(estimate, one_by_one.estimate_hash(xxh3_u64(key, seed)));
            }
        }
    }

    #[test]
    fn an_inner_product_is_never_below_the_true_one(a in some_stream(), b in some_stream()) {
        let (ours, theirs) = (exact(&a), exact(&b));
        let product = |a: &HashMap<&[u8], u64>, b: &HashMap<&[u8], u64>| {
            let one = |(key, &x): (&&[u8], &u64)| u128::from(x) * u128::from(*b.get(key).unwrap_or(&0));
            a.iter().map(one).fold(0, u128::saturating_add)
        };
        for shape in shapes() {
            let [a, b] = [&a, &b].map(|stream| with_stream(&shape, stream));
            let whole = |sketch: &CountMin| !sketch.is_saturated();
            prop_assert!(!(whole(&a) && whole(&b)) || product(&ours, &theirs) <= a.inner_product(&b).unwrap().estimate);
            prop_assert!(!whole(&a) || product(&ours, &ours) <= a.inner_product(&a).unwrap().estimate);
            prop_assert_eq!(a.inner_product(&b).unwrap(), b.inner_product(&a).unwrap());
        }
    }

    #[test]
    fn every_way_to_open_gives_the_same_sketch(stream in some_stream(), note: String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("counts.umbel");
        for shape in shapes().into_iter().step_by(2) {
            let mut sketch = with_stream(&shape, &stream);
            sketch.metadata_mut().set("note", note.as_str());
            sketch.save(&path).unwrap();
            let saved = std::fs::read(&path).unwrap();
            prop_assert_eq!(&saved, &bytes(&sketch));
            let opened = [
                CountMin::open(&path), CountMin::open_unverified(&path), CountMin::load(&path), CountMin::from_bytes(&saved),
            ];
            for mut opened in opened.map(Result::unwrap) {
                prop_assert_eq!(bytes(&opened), bytes(&sketch));
                // Counting on copies it: the file stays as it is.
                opened.add(b"more", 1000);
                let mut more = sketch.clone();
                more.add(b"more", 1000);
                prop_assert_eq!(bytes(&opened), bytes(&more));
                prop_assert_eq!(&std::fs::read(&path).unwrap(), &saved);
            }
        }
    }
}

/// A long walk of every operation beside a map.
#[test]
fn a_sketch_agrees_with_a_map() {
    let mut random = Random(5);
    for (width, depth) in [(1 << 12, 5), (3001, 3), (70_001, 4), (1 << 20, 5)] {
        let mut sketch =
            CountMin::new(CountMinParams::with_size(width, depth).unwrap().with_seed(width))
                .unwrap();
        let mut model = HashMap::new();
        let mut calls = 0;
        for _ in 0..400 {
            let keys: Vec<u64> = (0..random.below(1500)).map(|_| skewed(&mut random)).collect();
            let weights: Vec<u64> = keys.iter().map(|_| random.below(40) as u64).collect();
            let mut note = |weight: &dyn Fn(usize) -> u64| {
                for (i, &key) in keys.iter().enumerate() {
                    *model.entry(key).or_insert(0) += weight(i);
                }
            };
            calls += keys.len() as u64;
            match random.below(4) {
                0 => {
                    sketch.add_batch(Keys::U64(&keys)).unwrap();
                    note(&|_| 1);
                }
                1 => {
                    sketch.add_weighted(Keys::U64(&keys), &weights).unwrap();
                    note(&|i| weights[i]);
                }
                2 => {
                    keys.iter().for_each(|key| sketch.add(&key.to_le_bytes(), 7));
                    note(&|_| 7);
                }
                _ => {
                    let mut other = CountMin::new(*sketch.params()).unwrap();
                    other.add_weighted(Keys::U64(&keys), &weights).unwrap();
                    sketch.merge(&other).unwrap();
                    note(&|i| weights[i]);
                }
            }
        }
        assert_eq!(sketch.total(), model.values().sum::<u64>());
        assert_eq!(sketch.inserted(), calls);
        sketch.check().unwrap();
        let (mut exceeding, bound) = (0, sketch.bound());
        for (&key, &count) in &model {
            let estimate = sketch.estimate_u64(key);
            assert!(count <= estimate, "{key} was undercounted");
            exceeding += usize::from(estimate > count + bound);
        }
        assert!(exceeding as f64 <= sketch.params().delta() * model.len() as f64);
    }
}

/// Few keys often, many seldom.
fn skewed(random: &mut Random) -> u64 {
    let below = 1 << random.below(18);
    random.below(below) as u64
}

#[test]
fn sizes_follow_eps_and_delta() {
    let size = |eps, delta| {
        let params = CountMinParams::for_error(eps, delta).unwrap();
        assert!(params.epsilon() <= eps && params.delta() <= delta * 1.000_001);
        (params.width(), params.depth())
    };
    assert_eq!(size(0.0001, 0.01), (27_183, 5));
    assert_eq!(size(0.001, 0.01), (2719, 5));
    assert_eq!(size(0.1, 0.5), (28, 1));
    assert_eq!(size(0.9999, 0.9999), (3, 1));
    assert_eq!(size(0.01, 1e-19), (272, 44));
    assert_eq!(size(1e-9, (-3.0_f64).exp()), (2_718_281_829, 3));
}

#[test]
fn sizes_that_cannot_be_are_refused() {
    let refused = |result: umbel::Result<CountMinParams>, says: &str| {
        let message = result.unwrap_err().to_string();
        assert!(message.contains(says), "{says:?} is not in {message:?}");
    };
    for wrong in [0.0, -0.1, 1.0, 2.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0] {
        refused(CountMinParams::for_error(wrong, 0.01), &format!("0.001; not {wrong}"));
        refused(CountMinParams::for_error(0.01, wrong), &format!("0.01; not {wrong}"));
    }
    refused(CountMinParams::for_error(0.01, 1e-30), "at least 1e-19");
    refused(CountMinParams::for_error(0.01, f64::MIN_POSITIVE), "at least 1e-19");
    for eps in [1e-13, 1e-100, f64::MIN_POSITIVE] {
        refused(CountMinParams::for_error(eps, 0.01), "larger eps or delta");
    }
    refused(CountMinParams::with_size(0, 5), "at least 1 column");
    for depth in [0, 65, u32::MAX] {
        refused(CountMinParams::with_size(5, depth), &format!("not {depth}"));
    }
    refused(CountMinParams::with_size(u64::MAX, 64), "2^48 bits");
    refused(CountMinParams::with_size((1 << 42) + 1, 1), "2^48 bits");
    refused(CountMinParams::with_size(1 << 40, 5), "fewer columns or rows");
}

#[test]
fn unlike_sketches_are_refused_by_field_and_both_values() {
    let base = CountMinParams::with_size(100, 5).unwrap();
    let others = [
        (CountMinParams::with_size(101, 5).unwrap(), ["the number of columns (w)", "100", "101"]),
        (CountMinParams::with_size(100, 4).unwrap(), ["the number of rows (d)", "5", "4"]),
        (base.with_seed(7), ["the hash strategy", "xxh3", "xxh3 with seed 7"]),
        (
            base.with_key_type(KeyType::U64),
            ["the key type", "keys of bytes", "keys of 64-bit integers"],
        ),
    ];
    let mut ours = CountMin::new(base).unwrap();
    ours.add(b"key", 3);
    let before = bytes(&ours);
    for (params, expected) in others {
        let theirs = CountMin::new(params).unwrap();
        assert_eq!(unlike(ours.merge(&theirs)), expected);
        assert_eq!(unlike(ours.inner_product(&theirs)), expected);
        assert_eq!(bytes(&ours), before, "a refused merge changes nothing");
    }
}

/// A counter of every width, before and behind the step to the next.
#[test]
fn counters_widen_where_they_must() {
    let mut sketch = CountMin::new(CountMinParams::with_size(50, 3).unwrap()).unwrap();
    let mut empty = sketch.clone();
    for (count, width) in [
        (0, 1),
        (255, 1),
        (256, 2),
        (65_535, 2),
        (65_536, 4),
        (u64::from(u32::MAX), 4),
        (u64::from(u32::MAX) + 1, 8),
        (u64::MAX - 1, 8),
        (u64::MAX, 8),
    ] {
        let missing = count - sketch.total();
        sketch.add(b"key", missing);
        assert_eq!((sketch.estimate(b"key"), sketch.counter_bytes()), (count, width));
        let mut at_once = empty.clone();
        at_once.add(b"key", count);
        assert_eq!(at_once, sketch);
        let body = 150 * width as u64;
        assert_eq!(bytes(&sketch).len() as u64, 384 + body.next_multiple_of(64));
    }
    assert!(sketch.is_saturated());
    sketch.add(b"key", 1);
    sketch.add(b"other", u64::MAX);
    assert_eq!((sketch.estimate(b"key"), sketch.total()), (u64::MAX, u64::MAX));
    sketch.check().unwrap();
    empty.merge(&sketch).unwrap();
    assert_eq!(empty, sketch);
}

#[test]
fn batches_that_do_not_fit_are_refused() {
    let mut sketch = CountMin::new(CountMinParams::with_size(50, 3).unwrap()).unwrap();
    let before = bytes(&sketch);
    let weights = sketch.add_weighted(Keys::U64(&[1, 2]), &[1]).unwrap_err().to_string();
    assert_eq!(weights, "a batch of 2 keys needs as many weights, not 1");
    let answers = sketch.estimate_batch(Keys::U64(&[1, 2]), &mut [0; 3]).unwrap_err();
    assert!(matches!(answers, Error::Answers { keys: 2, needed: 2, given: 3 }));
    assert_eq!(bytes(&sketch), before, "a refused batch adds nothing");

    let params = sketch.params().with_key_type(KeyType::U64);
    let mut integers = CountMin::new(params).unwrap();
    let eight = 42_u64.to_le_bytes();
    integers.add_batch(Keys::Bytes(&[&eight])).unwrap();
    assert_eq!(integers.estimate_u64(42), 1);
    assert!(matches!(integers.add_batch(Keys::Bytes(&[b"42"])), Err(Error::KeyType { .. })));
    assert!(integers.estimate_batch(Keys::Bytes(&[b"42"]), &mut [0]).is_err());
    assert!(integers.check_key_type(KeyType::U64).is_ok());
    assert!(integers.check_key_type(KeyType::Bytes).is_err());
}

/// Only the pairs on which both agree say something true of the whole.
#[test]
fn metadata_that_both_have_survives_a_merge() {
    let mut a = CountMin::new(CountMinParams::with_size(5, 1).unwrap()).unwrap();
    let mut b = a.clone();
    for (sketch, name) in [(&mut a, "a"), (&mut b, "b")] {
        sketch.metadata_mut().set("column", "3");
        sketch.metadata_mut().set("source", name);
    }
    for merged in [merged(&a, &b), merged(&b, &a)] {
        assert_eq!(merged.metadata().iter().collect::<Vec<_>>(), [("column", "3")]);
    }
    assert_eq!(a, b, "metadata is no part of equality");
}

#[test]
fn the_rows_of_a_key_are_independent() {
    // Pairs of keys that meet in one row meet in another as often as chance has it: 1 in w.
    const WIDTH: u64 = 64;
    let params = CountMinParams::with_size(WIDTH, 8).unwrap();
    let rows = |key: u64| {
        let mut sketch = CountMin::new(params).unwrap();
        sketch.add_u64(key, 1);
        let file = sketch.to_bytes().unwrap();
        let body = &file[file.len() - 512..];
        let column = |row: &[u8]| row.iter().position(|&counter| counter == 1).unwrap();
        body.chunks(64).map(column).collect::<Vec<_>>()
    };
    let all: Vec<_> = random::integers(3, 2000).into_iter().map(rows).collect();
    let pairs = (all.len() * (all.len() - 1) / 2) as f64;
    for (i, j) in (0..8).flat_map(|i| (0..i).map(move |j| (i, j))) {
        let mut cells = HashMap::new();
        all.iter().for_each(|rows| *cells.entry((rows[i], rows[j])).or_insert(0_u64) += 1);
        let meeting: u64 = cells.values().map(|n| n * (n - 1) / 2).sum();
        let expected = pairs / (WIDTH * WIDTH) as f64;
        let deviation = expected.sqrt();
        assert!((meeting as f64 - expected).abs() < 5.0 * deviation, "rows {i} and {j}: {meeting}");
    }
}

/// The least of the rows' products, and no other: any row's is an upper bound, so that bounds alone would not tell.
#[test]
fn an_inner_product_is_the_least_of_the_rows() {
    const WIDTH: usize = 64;
    let params = CountMinParams::with_size(WIDTH as u64, 8).unwrap();
    for seed in 0..20 {
        let sketches = [seed, seed + 100].map(|seed| {
            let mut sketch = CountMin::new(params).unwrap();
            let keys: Vec<u64> = random::integers(seed, 300).iter().map(|key| key % 50).collect();
            sketch.add_batch(Keys::U64(&keys)).unwrap();
            assert_eq!(sketch.counter_bytes(), 1);
            sketch
        });
        let [a, b] = sketches.each_ref().map(bytes);
        let rows = |file: &[u8]| file[file.len() - 8 * WIDTH..].to_vec();
        let (a, b) = (rows(&a), rows(&b));
        let products = a.chunks(WIDTH).zip(b.chunks(WIDTH)).map(|(a, b)| -> u128 {
            a.iter().zip(b).map(|(&a, &b)| u128::from(a) * u128::from(b)).sum()
        });
        let estimate = sketches[0].inner_product(&sketches[1]).unwrap().estimate;
        assert_eq!(Some(estimate), products.min());
    }
}
