//! Counts over ranges: against a sorted map, merged, batched, stored; and how far sums and quantiles are off.

#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeMap;

use proptest::prelude::*;
use support::filters::unlike;
use support::random::Random;
use support::streams::{Zipf, at_most};
use umbel::{Error, Ranges, RangesParams};

/// Intervals small and large, at the edges of the integers, with sketches small and large.
fn shapes() -> Vec<RangesParams> {
    [
        (0, 0, 1, 1),
        (-3, 3, 1, 1),
        (-100, 155, 4, 2),
        (0, 1000, 7, 3),
        (-5000, 70_000, 64, 3),
        (i64::MIN, i64::MAX, 50, 4),
        (i64::MAX - 9, i64::MAX, 2, 1),
        (i64::MIN, i64::MIN + 40, 1000, 5),
    ]
    .into_iter()
    .map(|(lo, hi, width, depth)| RangesParams::with_size(lo, hi, width, depth).unwrap())
    .map(|params| params.with_seed(params.width()))
    .collect()
}

/// A key of the interval, from any number: often near its ends.
fn key(params: &RangesParams, number: u64) -> i64 {
    let span = params.hi().wrapping_sub(params.lo()) as u64;
    let number = if number.is_multiple_of(3) { number % 300 } else { number };
    let place = if span == u64::MAX { number } else { number % (span + 1) };
    if number.is_multiple_of(2) {
        params.lo().wrapping_add(place as i64)
    } else {
        params.hi().wrapping_sub(place as i64)
    }
}

type Stream = Vec<(u64, u64)>;

fn some_stream() -> impl Strategy<Value = Stream> {
    let weight = prop_oneof![4 => Just(1), 4 => 0..300_u64, 1 => 60_000..70_000_u64];
    prop::collection::vec((any::<u64>(), weight), 0..60)
}

fn with(params: &RangesParams, stream: &[(u64, u64)]) -> Ranges {
    let mut ranges = Ranges::new(*params).unwrap();
    stream.iter().for_each(|&(number, weight)| ranges.add(key(params, number), weight).unwrap());
    ranges
}

fn exact(params: &RangesParams, stream: &[(u64, u64)]) -> BTreeMap<i64, u64> {
    let mut counts = BTreeMap::new();
    stream
        .iter()
        .for_each(|&(number, weight)| *counts.entry(key(params, number)).or_insert(0) += weight);
    counts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn sums_are_never_below_the_true_ones(stream in some_stream(), asked: Vec<(u64, u64)>) {
        for params in shapes() {
            let (ranges, model) = (with(&params, &stream), exact(&params, &stream));
            prop_assert!(ranges.check().is_ok());
            prop_assert_eq!(ranges.total(), model.values().sum::<u64>());
            for &(a, b) in asked.iter().chain(&stream) {
                let (a, b) = (key(&params, a), key(&params, b));
                let (from, to) = (a.min(b), a.max(b));
                let truth: u64 = model.range(from..=to).map(|(_, weight)| weight).sum();
                let sum = ranges.sum(from..=to).unwrap();
                prop_assert!(truth <= sum.estimate && sum.estimate <= ranges.total());
                if params.sketched_levels() == 0 {
                    prop_assert_eq!((sum.estimate, sum.bound), (truth, 0));
                }
                prop_assert!(ranges.estimate(a).unwrap().estimate >= *model.get(&a).unwrap_or(&0));
            }
        }
    }

    #[test]
    fn less_than_the_share_lies_below_a_quantile(stream in some_stream(), shares in prop::collection::vec(0.0..=1.0_f64, 1..9)) {
        for params in shapes() {
            let (ranges, model) = (with(&params, &stream), exact(&params, &stream));
            for q in shares.iter().copied().chain([0.0, 1.0]) {
                let Some(quantile) = ranges.quantile(q).unwrap() else {
                    prop_assert_eq!(ranges.total(), 0);
                    continue;
                };
                let wanted = ((q * ranges.total() as f64).ceil() as u64).max(1);
                prop_assert!((params.lo()..=params.hi()).contains(&quantile.value));
                let below: u64 = model.range(..quantile.value).map(|(_, weight)| weight).sum();
                prop_assert!(below < wanted, "{} below {}", below, quantile.value);
                if params.sketched_levels() == 0 {
                    let at_or_below: u64 = model.range(..=quantile.value).map(|(_, weight)| weight).sum();
                    prop_assert!(at_or_below >= wanted && quantile.bound == 0);
                }
            }
        }
    }

    #[test]
    fn any_split_order_and_batch_gives_the_same_file(stream in some_stream(), parts in 1..5_usize, seed: u64) {
        let mut shuffled = stream.clone();
        let mut random = Random(seed);
        (1..shuffled.len()).rev().for_each(|i| shuffled.swap(i, random.below(i + 1)));
        for params in shapes() {
            let whole = with(&params, &stream).to_bytes().unwrap();
            let mut merged = Ranges::new(params).unwrap();
            for part in shuffled.chunks(stream.len().div_ceil(parts).max(1)) {
                merged.merge(&with(&params, part)).unwrap();
            }
            prop_assert_eq!(&merged.to_bytes().unwrap(), &whole);
            let (keys, weights): (Vec<i64>, Vec<u64>) =
                shuffled.iter().map(|&(number, weight)| (key(&params, number), weight)).unzip();
            let mut batch = Ranges::new(params).unwrap();
            batch.add_weighted(&keys, &weights).unwrap();
            prop_assert_eq!(&batch.to_bytes().unwrap(), &whole);
            let (mut ones, mut one_by_one) = (Ranges::new(params).unwrap(), Ranges::new(params).unwrap());
            ones.add_batch(&keys).unwrap();
            keys.iter().for_each(|&key| one_by_one.add(key, 1).unwrap());
            prop_assert_eq!(ones.to_bytes().unwrap(), one_by_one.to_bytes().unwrap());
        }
    }

    #[test]
    fn every_way_to_open_gives_the_same_counts(stream in some_stream()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ranges.umbel");
        for params in shapes() {
            let mut ranges = with(&params, &stream);
            ranges.metadata_mut().set("note", "x");
            ranges.save(&path).unwrap();
            let saved = std::fs::read(&path).unwrap();
            let opened = [
                Ranges::open(&path), Ranges::open_unverified(&path), Ranges::load(&path), Ranges::from_bytes(&saved),
            ];
            for mut opened in opened.map(Result::unwrap) {
                prop_assert_eq!(&opened.to_bytes().unwrap(), &saved);
                prop_assert_eq!(opened.quantile(0.5).unwrap(), ranges.quantile(0.5).unwrap());
                opened.add(params.lo(), 1000).unwrap();
                let mut more = ranges.clone();
                more.add(params.lo(), 1000).unwrap();
                prop_assert_eq!(opened.to_bytes().unwrap(), more.to_bytes().unwrap());
                prop_assert_eq!(&std::fs::read(&path).unwrap(), &saved);
            }
        }
    }
}

/// Keys over a wide interval: some values often, the rest anywhere.
fn wide_streams() -> Vec<(&'static str, Vec<i64>)> {
    const COUNT: usize = 100_000;
    let spread = |ranks: Vec<u64>| -> Vec<i64> {
        // Ranks at random places of the interval.
        ranks.iter().map(|&rank| (Random(rank).next().unwrap() >> 32) as i64).collect()
    };
    let zipf = |s| spread(Zipf::new(50_000, s).stream(7, COUNT));
    let mut random = Random(3);
    let bell = (0..COUNT).map(|_| (0..8).map(|_| random.below(1 << 29) as i64).sum()).collect();
    vec![("uniform", zipf(0.0)), ("Zipf 0.8", zipf(0.8)), ("Zipf 1.2", zipf(1.2)), ("bell", bell)]
}

#[test]
fn sums_and_quantiles_keep_their_bounds() {
    for (name, keys) in wide_streams() {
        for (eps, delta) in [(0.05, 0.1), (0.01, 0.02)] {
            let params = RangesParams::for_error(0, (1 << 32) - 1, eps, delta).unwrap();
            assert!(
                params.sketched_levels() > 10 && params.epsilon() <= eps && params.delta() <= delta
            );
            let mut sorted = keys.clone();
            sorted.sort_unstable();
            let rank = |key: i64| sorted.partition_point(|&other| other <= key) as u64;
            let (mut sums, mut quantiles, mut tried) = (0, 0, 0);
            for seed in 0..5 {
                let mut ranges = Ranges::new(params.with_seed(seed << 32)).unwrap();
                ranges.add_batch(&keys).unwrap();
                let mut random = Random(seed);
                for i in 0..200 {
                    let mut ends = [0, 1].map(|_| random.below(1 << 32) as i64);
                    ends.sort_unstable();
                    let sum = ranges.sum(ends[0]..=ends[1]).unwrap();
                    let truth = rank(ends[1]) - rank(ends[0] - 1);
                    assert!(truth <= sum.estimate && sum.bound <= (eps * keys.len() as f64) as u64);
                    sums += usize::from(sum.estimate > truth + sum.bound);

                    let q = f64::from(i) / 200.0;
                    let quantile = ranges.quantile(q).unwrap().unwrap();
                    let wanted = ((q * keys.len() as f64).ceil() as u64).max(1);
                    assert!(rank(quantile.value - 1) < wanted, "{name} {q}");
                    assert!(quantile.bound as f64 <= eps / 2.0 * keys.len() as f64);
                    quantiles += usize::from(rank(quantile.value) + quantile.bound < wanted);
                    tried += 1;
                }
            }
            at_most(sums, tried, params.delta(), &format!("sums, {name}, eps {eps}"));
            at_most(quantiles, tried, params.delta(), &format!("quantiles, {name}, eps {eps}"));
        }
    }
}

#[test]
fn sizes_follow_the_interval() {
    let size = |hi, eps, delta| {
        let params = RangesParams::for_error(0, hi, eps, delta).unwrap();
        assert!(params.epsilon() <= eps, "{params:?}");
        (params.width(), params.depth(), params.levels(), params.sketched_levels())
    };
    assert_eq!(size(0, 0.01, 0.01), (272, 5, 1, 0));
    assert_eq!(size(1000, 0.01, 0.01), (272, 5, 11, 0));
    assert_eq!(size(65_535, 0.001, 0.01), (10_874, 5, 17, 1));
    assert_eq!(size(i64::MAX, 0.01, 0.01), (25_552, 5, 64, 47));
    assert_eq!(size(i64::MAX, 0.5, 0.5), (588, 1, 64, 54));
}

#[test]
fn what_cannot_be_is_refused() {
    let message = |result: umbel::Result<RangesParams>| result.unwrap_err().to_string();
    assert!(message(RangesParams::for_error(1, 0, 0.01, 0.01)).contains("1 is above 0"));
    assert!(message(RangesParams::for_error(0, 1, 0.0, 0.01)).contains("not 0"));
    assert!(message(RangesParams::for_error(0, 1, 0.1, f64::NAN)).contains("not NaN"));
    assert!(message(RangesParams::for_error(0, i64::MAX, 1e-11, 0.01)).contains("2^48 bits"));
    assert!(message(RangesParams::with_size(0, i64::MAX, 1 << 38, 4)).contains("2^48 bits"));
    assert!(message(RangesParams::with_size(0, 1, 0, 4)).contains("at least 1 column"));

    let params = RangesParams::with_size(-5, 5, 10, 2).unwrap();
    let mut ranges = Ranges::new(params).unwrap();
    ranges.add(5, 1).unwrap();
    let before = ranges.to_bytes().unwrap();
    for key in [6, -6, i64::MIN, i64::MAX] {
        let refusal = ranges.add(key, 1).unwrap_err();
        assert_eq!(refusal.to_string(), format!("the key {key} lies outside -5 to 5"));
        assert!(ranges.add_batch(&[0, key]).is_err());
        assert!(ranges.estimate(key).is_err());
    }
    assert!(matches!(
        ranges.add_weighted(&[1, 2], &[1]),
        Err(Error::Weights { keys: 2, given: 1 })
    ));
    assert_eq!(ranges.to_bytes().unwrap(), before, "what is refused adds nothing");
    #[allow(clippy::reversed_empty_ranges)]
    let reversed = ranges.sum(2..=1);
    assert!(reversed.unwrap_err().to_string().contains("2 is above 1"));
    for q in [-0.1, 1.1, f64::NAN] {
        assert!(ranges.quantile(q).unwrap_err().to_string().contains(&format!("not {q}")));
    }
    // What lies outside has no weight.
    assert_eq!(ranges.sum(i64::MIN..=i64::MAX).unwrap().estimate, 1);
    assert_eq!(ranges.sum(6..=9).unwrap().estimate, 0);
    assert_eq!(Ranges::new(params).unwrap().quantile(0.5).unwrap(), None);
}

#[test]
fn unlike_counts_are_refused_by_field_and_both_values() {
    let base = RangesParams::with_size(0, 9, 10, 2).unwrap();
    let other = |lo, hi, width, depth| RangesParams::with_size(lo, hi, width, depth).unwrap();
    let mut ours = Ranges::new(base).unwrap();
    for (params, expected) in [
        (other(1, 9, 10, 2), ["the least key", "0", "1"]),
        (other(0, 8, 10, 2), ["the greatest key", "9", "8"]),
        (other(0, 9, 11, 2), ["the number of columns (w)", "10", "11"]),
        (other(0, 9, 10, 3), ["the number of rows (d)", "2", "3"]),
        (base.with_seed(4), ["the hash strategy", "xxh3", "xxh3 with seed 4"]),
    ] {
        assert_eq!(unlike(ours.merge(&Ranges::new(params).unwrap())), expected);
    }
}

#[test]
fn sums_stop_at_the_greatest_number() {
    let params = RangesParams::with_size(0, 1000, 5, 2).unwrap();
    let (mut a, mut b) = (Ranges::new(params).unwrap(), Ranges::new(params).unwrap());
    a.add(3, u64::MAX - 1).unwrap();
    b.add(900, 5).unwrap();
    a.merge(&b).unwrap();
    a.check().unwrap();
    assert!(a.is_saturated());
    assert_eq!(a.sum(0..=1000).unwrap().estimate, u64::MAX);
    assert!(a.quantile(0.5).unwrap().is_some());
}

/// Where memory is asked for ahead: levels, exact and sketched, that are not taken to be in the cache.
#[test]
fn large_levels_count_as_their_keys_one_by_one() {
    let params = RangesParams::with_size(-5, 3_000_000, 1 << 18, 4).unwrap();
    assert!(params.sketched_levels() > 0);
    let (mut one_by_one, mut batch) = (Ranges::new(params).unwrap(), Ranges::new(params).unwrap());
    let mut random = Random(9);
    let keys: Vec<i64> = (0..20_000).map(|_| random.below(3_000_000) as i64 - 5).collect();
    let weights: Vec<u64> = keys.iter().map(|_| random.below(300) as u64).collect();
    for (&key, &weight) in keys.iter().zip(&weights) {
        one_by_one.add(key, weight).unwrap();
    }
    batch.add_weighted(&keys, &weights).unwrap();
    assert!(batch.to_bytes().unwrap() == one_by_one.to_bytes().unwrap());
    batch.check().unwrap();
}
