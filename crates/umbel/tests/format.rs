//! Our files against a second writer made from FORMAT.md alone (`support/book.rs`): the same bytes.

#![allow(clippy::unwrap_used)]

mod support;

use proptest::prelude::*;
use support::book::{self, Record};
use support::samples;
use umbel::hash::Strategy;
use umbel::{Bloom, Groups, KeyType, Layout};

/// The numbers of a filter, read from its public face.
fn record(filter: &Bloom) -> Record {
    let sizing = filter.sizing();
    Record {
        strategy: filter.params().strategy().id(),
        layout: if sizing.layout() == Layout::Classic { 1 } else { 2 },
        key_type: if filter.params().key_type() == KeyType::Bytes { 1 } else { 2 },
        k: sizing.probes(),
        m: sizing.bits(),
        n: sizing.capacity(),
        inserted: filter.inserted().unwrap_or(0),
        flags: u32::from(filter.inserted().is_none()),
        seeds: match filter.params().strategy() {
            Strategy::Xxh3 { seed } => vec![*seed],
            Strategy::Seeded { seeds, .. } => seeds.iter().map(|&seed| seed.into()).collect(),
        },
    }
}

fn by_the_book(filter: &Bloom, keys: &[Vec<u8>]) -> Vec<u8> {
    let record = record(filter);
    let pairs: Vec<_> = filter.metadata().iter().collect();
    let body = record.body(keys.iter().map(Vec::as_slice));
    book::file(1, &record.bytes(), &book::pairs(&pairs), &body)
}

#[test]
fn every_sample_is_written_by_the_book() {
    for (name, filter) in samples::blooms() {
        let keys = match filter.params().key_type() {
            KeyType::Bytes => samples::keys(),
            KeyType::U64 => samples::integers().iter().map(|x| x.to_le_bytes().to_vec()).collect(),
        };
        // Of the two strangers that the intersection removed, no bit is left.
        assert_eq!(filter.to_bytes().unwrap(), by_the_book(&filter, &keys), "{name}");
    }
}

#[test]
fn groups_are_written_by_the_book() {
    let groups = samples::groups();
    let keys = samples::keys();
    let (mut parm, mut body) = (Vec::new(), Vec::new());
    for (i, (name, filter)) in groups.iter().enumerate() {
        let record = record(filter);
        parm.push([book::text(name.as_bytes()), record.bytes()].concat());
        body.extend(record.body(keys.iter().step_by(i + 1).map(Vec::as_slice)));
    }
    let meta = book::pairs(&[("spalte", "Bewertung ★")]);
    let file = book::file(2, &book::counted(7, &parm), &meta, &body);
    assert_eq!(groups.to_bytes().unwrap(), file);

    let none = book::file(2, &book::counted(0, &[]), &book::pairs(&[]), &[]);
    assert_eq!(Groups::default().to_bytes().unwrap(), none);
    assert_eq!(Groups::from_bytes(&none).unwrap(), Groups::default());
}

/// Several checksums: the last chunk is shorter, and the filters of a group share chunks.
#[test]
fn a_body_of_several_chunks_is_written_by_the_book() {
    let mut filter = Bloom::with(umbel::Params::new(
        umbel::Sizing::blocked_with(1000, (5 << 19) * 8 + 512).unwrap(),
    ))
    .unwrap();
    let keys = support::random::texts(3, 1000);
    keys.iter().for_each(|key| assert!(filter.insert(key)));
    assert_eq!(filter.to_bytes().unwrap(), by_the_book(&filter, &keys));

    let mut groups = Groups::default();
    let (mut parm, mut body) = (Vec::new(), Vec::new());
    for name in ["1", "2", "3"] {
        groups.set(name, filter.clone()).unwrap();
        parm.push([book::text(name.as_bytes()), record(&filter).bytes()].concat());
        body.extend(record(&filter).body(keys.iter().map(Vec::as_slice)));
    }
    let file = book::file(2, &book::counted(3, &parm), &book::pairs(&[]), &body);
    assert_eq!(groups.to_bytes().unwrap(), file);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Any size, seed, number of probes and keys, in both layouts.
    #[test]
    fn any_filter_is_written_by_the_book(
        m in 1..20_000_u64,
        k in 1..=64_u32,
        n in 1..=u64::MAX,
        seed: u64,
        blocked: bool,
        keys: Vec<Vec<u8>>,
    ) {
        let sizing = match blocked {
            true => umbel::Sizing::blocked_with(n, m.next_multiple_of(512)),
            false => umbel::Sizing::with(n, m, k),
        };
        let mut filter = samples::empty(sizing.unwrap(), Strategy::Xxh3 { seed });
        keys.iter().for_each(|key| { filter.insert(key); });
        prop_assert_eq!(filter.to_bytes().unwrap(), by_the_book(&filter, &keys));
    }

    #[test]
    fn any_seeded_filter_is_written_by_the_book(m in 1..5000_u64, k in 1..=20_u32, keys: Vec<Vec<u8>>) {
        for strategy in samples::strategies(k) {
            let mut filter = samples::empty(umbel::Sizing::with(1, m, k).unwrap(), strategy);
            keys.iter().for_each(|key| { filter.insert(key); });
            prop_assert_eq!(filter.to_bytes().unwrap(), by_the_book(&filter, &keys));
        }
    }
}
