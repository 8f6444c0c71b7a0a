//! Filters beside a `HashSet`: no key is ever lost, in at least 10^7 operations over all layouts, strategies and
//! instruction sets; and every instruction set gives the bits and answers of the portable one.

#![allow(clippy::unwrap_used)]

mod support;

use std::collections::HashSet;

use support::random::{Random, integers};
use support::samples;
use umbel::hash::{Strategy, xxh3_u64};
use umbel::simd::Level;
use umbel::{Bloom, Keys, Params, Sizing};

/// An empty filter of every sort and level, for `n` keys.
fn every_sort(n: u64) -> Vec<Bloom> {
    let classic = Sizing::classic_with_probes(n, 0.01, 7).unwrap();
    let blocked = Sizing::blocked(n, 0.01).unwrap();
    let mut all: Vec<_> =
        samples::strategies(7).into_iter().map(|s| samples::empty(classic, s)).collect();
    for level in Level::available() {
        for strategy in [Strategy::default(), Strategy::Xxh3 { seed: 77 }] {
            all.push(samples::empty(blocked, strategy.clone()).with_level(level));
            all.push(samples::empty(classic, strategy).with_level(level));
        }
    }
    all
}

/// A random walk of single and batch operations. Keys come from twice the capacity, so half of the lookups miss.
/// Returns the number of operations.
fn walk(filter: &mut Bloom, n: u64, steps: usize, random: &mut Random) -> usize {
    let mut model = HashSet::new();
    let mut calls = 0;
    let mut operations = 0;
    for _ in 0..steps {
        let keys: Vec<u64> =
            (0..random.below(200)).map(|_| random.below(2 * n as usize) as u64).collect();
        operations += keys.len();
        let mut words = vec![0; keys.len().div_ceil(64)];
        let mask = |words: &[u64], i: usize| words[i / 64] >> (i % 64) & 1 == 1;
        match random.below(6) {
            0 => {
                filter.insert_mask(Keys::U64(&keys), &mut words).unwrap();
                for (i, key) in keys.iter().enumerate() {
                    let new = model.insert(*key);
                    assert!(new || !mask(&words, i), "{key} is in, yet was called new");
                }
                calls += keys.len();
            }
            1 => {
                for key in &keys {
                    let new = filter.insert_u64(*key);
                    assert!(model.insert(*key) || !new, "{key} is in, yet was called new");
                }
                calls += keys.len();
            }
            2 => {
                let bytes: Vec<_> = keys.iter().map(|key| key.to_le_bytes()).collect();
                let slices: Vec<&[u8]> = bytes.iter().map(|key| &key[..]).collect();
                filter.insert_batch(Keys::Bytes(&slices)).unwrap();
                model.extend(&keys);
                calls += keys.len();
            }
            3 => {
                filter.contains_mask(Keys::U64(&keys), &mut words).unwrap();
                for (i, key) in keys.iter().enumerate() {
                    assert!(mask(&words, i) || !model.contains(key), "{key} was lost");
                }
            }
            4 => {
                let mut answers = vec![false; keys.len()];
                filter.contains_batch(Keys::U64(&keys), &mut answers).unwrap();
                for (answer, key) in answers.iter().zip(&keys) {
                    assert!(*answer || !model.contains(key), "{key} was lost");
                }
            }
            _ => {
                for key in &keys {
                    let found = filter.contains_u64(*key);
                    assert!(found || !model.contains(key), "{key} was lost");
                    assert_eq!(found, filter.contains(&key.to_le_bytes()));
                }
            }
        }
    }
    assert_eq!(filter.inserted(), Some(calls as u64));
    let keys: Vec<u64> = model.into_iter().collect();
    let mut answers = vec![false; keys.len()];
    filter.contains_batch(Keys::U64(&keys), &mut answers).unwrap();
    assert!(answers.iter().all(|&answer| answer), "a key was lost");
    operations + keys.len()
}

#[test]
fn no_key_is_ever_lost() {
    let mut random = Random(42);
    let mut operations = 0;
    for n in [10, 1000, 20_000] {
        for mut filter in every_sort(n) {
            operations += walk(&mut filter, n, 2500, &mut random);
        }
    }
    assert!(operations >= 10_000_000, "only {operations}");
}

/// The blocked filter of this many lines, worked on with each instruction set.
fn levels(lines: u64) -> Vec<Bloom> {
    let params = Params::new(Sizing::blocked_with(1000, 512 * lines).unwrap());
    let with = |level| Bloom::with(params.clone()).unwrap().with_level(level);
    Level::available().into_iter().map(with).collect()
}

/// Inserts the keys in all forms, asks for others; every level must give what the first (portable) gave.
fn check_alike(filters: &mut [Bloom], keys: &[u64], others: &[u64]) {
    let mut expected = None;
    for filter in filters {
        let (batch, single) = keys.split_at(keys.len() * 3 / 4);
        let mut new = vec![0; batch.len().div_ceil(64)];
        let (mut plain, mut hashed) = (filter.clone(), filter.clone());
        filter.insert_mask(Keys::U64(batch), &mut new).unwrap();
        plain.insert_batch(Keys::U64(batch)).unwrap();
        assert!(plain == *filter);
        let hashes: Vec<u64> = batch.iter().map(|&key| xxh3_u64(key, 0)).collect();
        hashed.insert_batch(Keys::Hashes(&hashes)).unwrap();
        assert!(hashed == *filter);
        let news: Vec<bool> = single.iter().map(|&key| filter.insert_u64(key)).collect();
        let mut found = vec![0; others.len().div_ceil(64)];
        filter.contains_mask(Keys::U64(others), &mut found).unwrap();
        let finds: Vec<bool> = others.iter().map(|&key| filter.contains_u64(key)).collect();
        let in_mask: Vec<bool> =
            (0..others.len()).map(|i| found[i / 64] >> (i % 64) & 1 == 1).collect();
        assert_eq!(in_mask, finds);
        let mut hashes = vec![0; others.len().div_ceil(64)];
        filter.contains_mask(Keys::Hashes(others), &mut hashes).unwrap();
        let all = (new, news, found, hashes, filter.ones());
        assert_eq!(*expected.get_or_insert_with(|| all.clone()), all);
    }
}

fn all_equal(filters: &[Bloom]) {
    assert!(filters.iter().all(|filter| *filter == filters[0]));
}

/// Every machine has the portable level; this one should have more, or the tests below compare nothing.
#[test]
fn there_are_levels_to_compare() {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        assert!(Level::available().len() > 1);
    }
    assert_eq!(Level::available().last(), Some(&Level::best()));
}

#[test]
fn every_level_is_equal_in_and_out_of_the_cache() {
    // Prefetching starts above 2^13 lines; 2^16 and more lines come from the system as pages.
    for lines in [1, 2, 3, 7, 64, 1000, 1 << 13, (1 << 13) + 1, 70_001] {
        let mut filters = levels(lines);
        let count = (lines as usize * 20).clamp(2000, 200_000);
        for round in 0..3 {
            let others = [integers(round, count / 2), integers(round + 100, count)].concat();
            check_alike(&mut filters, &integers(round, count), &others);
        }
        all_equal(&filters);
    }
}

#[test]
fn every_level_is_equal_for_batches_of_every_length() {
    let keys = integers(5, 3000);
    for lines in [5, (1 << 15) + 3] {
        let mut filters = levels(lines);
        for len in 0..1100 {
            let start = len % 97;
            check_alike(&mut filters, &keys[start..start + len], &keys[len..2 * len]);
        }
        all_equal(&filters);
    }
}

/// Hashes at the edges of the range: the first line, the last, and every bit of a word.
#[test]
fn every_level_is_equal_at_the_edges() {
    let mut edges =
        vec![0, 1, u64::MAX, u64::MAX - 1, 1 << 63, (1 << 63) - 1, 1 << 32, (1 << 32) - 1];
    edges.extend((0..64).flat_map(|bit| [1_u64 << bit, !(1 << bit), u64::MAX >> bit]));
    for lines in [1, 2, 3, 512, 40_000] {
        let mut filters = levels(lines);
        for filter in &mut filters {
            let mut new = vec![0; edges.len().div_ceil(64)];
            filter.insert_mask(Keys::Hashes(&edges), &mut new).unwrap();
            assert!(edges.iter().all(|&hash| filter.contains_hash(hash).unwrap()));
        }
        all_equal(&filters);
        let mut one_by_one = levels(lines);
        for filter in &mut one_by_one {
            edges.iter().for_each(|&hash| assert!(filter.insert_hash(hash).is_ok()));
        }
        all_equal(&one_by_one);
        assert!(one_by_one[0] == filters[0]);
    }
}

/// Texts of every length, eight or sixteen of one length in a row and mixed, each in memory of its own, so that a sanitizer sees a read beyond
/// its end; in batches of odd lengths. Every level must give what the portable one gives key by key.
#[test]
fn every_level_is_equal_for_texts() {
    let mut random = Random(7);
    let mut texts: Vec<Box<[u8]>> = Vec::new();
    let mut push = |len: usize| {
        let text: Vec<u8> = random.by_ref().map(|x| x as u8).take(len).collect();
        texts.push(text.into_boxed_slice());
    };
    (0..300).for_each(|len| (0..19).for_each(|_| push(len)));
    (16..34).for_each(|len| (0..31).for_each(|_| push(len)));
    (0..3000).for_each(|i| push(i * 7919 % 140));
    (0..3000).for_each(|_| push(20));
    let texts: Vec<&[u8]> = texts.iter().map(|text| &**text).collect();
    for lines in [1000, 10_000] {
        let mut filters = levels(lines);
        let (oracle, others) = filters.split_first_mut().unwrap();
        let others: Vec<(Bloom, Bloom)> = others.iter().map(|f| (f.clone(), f.clone())).collect();
        let mut filters = [vec![(oracle.clone(), oracle.clone())], others].concat();
        let mut rest = &texts[..];
        for len in [1, 7, 8, 9, 63, 64, 65, 127, 128, 129, 500, 1000].into_iter().cycle() {
            let (batch, later) = rest.split_at(len.min(rest.len()));
            rest = later;
            let before: Vec<bool> = texts.iter().map(|text| oracle.contains(text)).collect();
            let new: Vec<bool> = batch.iter().map(|text| oracle.insert(text)).collect();
            for (masked, plain) in &mut filters {
                let mut words = vec![0; texts.len().div_ceil(64)];
                masked.contains_mask(Keys::Bytes(&texts), &mut words).unwrap();
                assert!(
                    (0..texts.len()).all(|i| words[i / 64] >> (i % 64) & 1 == before[i].into())
                );
                let words = &mut words[..batch.len().div_ceil(64)];
                masked.insert_mask(Keys::Bytes(batch), words).unwrap();
                assert!((0..batch.len()).all(|i| words[i / 64] >> (i % 64) & 1 == new[i].into()));
                plain.insert_batch(Keys::Bytes(batch)).unwrap();
                assert!(*masked == *oracle && *plain == *oracle);
            }
            if rest.is_empty() {
                break;
            }
        }
    }
}
