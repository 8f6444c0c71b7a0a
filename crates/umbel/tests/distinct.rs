//! The n that a filter is sized for: right, the same for any split, and safe to ship.

#![allow(clippy::unwrap_used)]

mod support;

use proptest::prelude::*;
use support::random::Random;
use umbel::distinct::Distinct;
use umbel::hash::{xxh3, xxh3_u64};

/// One standard error of 2^14 registers.
const ERROR: f64 = 1.04 / 128.0;

/// The hashes of `count` different keys: one set for each stream.
fn hashes(stream: u64, count: u64) -> Vec<u64> {
    (0..count).map(|key| xxh3_u64((stream << 40) + key, 0)).collect()
}

fn counted(hashes: &[u64]) -> Distinct {
    let mut distinct = Distinct::new();
    distinct.insert_hashes(hashes);
    distinct
}

#[test]
fn nothing_is_sized_for_one_key() {
    let nothing = Distinct::new();
    assert_eq!((nothing.rows(), nothing.estimate(), nothing.n()), (0, 0.0, 1));
}

#[test]
fn keys_and_hashes_count_alike() {
    let keys = support::random::texts(1, 3000);
    let (mut by_key, mut by_hash) = (Distinct::new(), Distinct::new());
    keys.iter().for_each(|key| by_key.insert(key));
    keys.iter().for_each(|key| by_hash.insert_hash(xxh3(key, 0)));
    let batch: Vec<u64> = keys.iter().map(|key| xxh3(key, 0)).collect();
    assert_eq!(by_key, by_hash);
    assert_eq!(by_key, counted(&batch));
}

#[test]
fn estimates_lie_within_four_standard_errors() {
    for (count, streams) in [
        (1, 300),
        (10, 300),
        (100, 300),
        (1000, 300),
        (10_000, 100),
        (100_000, 50),
        (1_000_000, 20),
        (10_000_000, 4),
    ] {
        for stream in 0..streams {
            let distinct = counted(&hashes(stream, count));
            let off = distinct.estimate() / count as f64 - 1.0;
            assert!(off.abs() < 4.0 * ERROR, "{count} keys, stream {stream}: {off}");
            assert_eq!(distinct.n(), count, "stream {stream}");
        }
    }
}

/// The groups of a ratings table must come out exactly.
#[test]
fn distinct_keys_are_counted_exactly() {
    for count in [2546, 6623, 17_937, 43_912, 103_292, 220_871] {
        for stream in 100..130 {
            assert_eq!(counted(&hashes(stream, count)).n(), count, "stream {stream}");
        }
    }
}

#[test]
fn duplicates_are_not_paid_for() {
    for count in [5, 100, 1000, 100_000] {
        let keys = hashes(7, count);
        let mut distinct = Distinct::new();
        (0..10).for_each(|_| distinct.insert_hashes(&keys));
        assert_eq!(distinct.rows(), 10 * count);
        assert!((count..=count + count / 12 + 1).contains(&distinct.n()), "{}", distinct.n());
    }
}

#[test]
fn a_duplicate_changes_the_rows_alone() {
    for count in [1, 500, 5000] {
        let once = counted(&hashes(8, count));
        let mut twice = once.clone();
        twice.merge(&once);
        assert_eq!(twice.rows(), 2 * once.rows());
        assert_eq!(twice.estimate(), once.estimate());
    }
}

/// Written by hand from FORMAT.md: three hashes, two of them in one register.
#[test]
fn the_bytes_are_those_of_the_format() {
    let mut bytes = b"UMHL\x01\x0E\x01\0".to_vec();
    bytes.extend(3_u64.to_le_bytes());
    bytes.extend([0, 0, 51, 0xFF, 0x3F, 1]);
    bytes.extend(xxh3(&bytes, 0).to_le_bytes());
    let distinct = counted(&[0, u64::MAX, 1]);
    assert_eq!(distinct.to_bytes(), bytes);
    assert_eq!(Distinct::from_bytes(&bytes).unwrap(), distinct);
}

#[test]
fn the_bytes_of_many_keys_are_those_of_the_format() {
    let hashes = hashes(9, 20_000);
    let mut registers = vec![0; 1 << 14];
    for hash in &hashes {
        let (index, rank) = ((hash >> 50) as usize, (hash << 14).leading_zeros() + 1);
        registers[index] = rank.max(registers[index]);
    }
    let mut bytes = b"UMHL\x01\x0E\x02\0".to_vec();
    bytes.extend(20_000_u64.to_le_bytes());
    bytes.extend(registers.iter().map(|&rank| rank as u8));
    bytes.extend(xxh3(&bytes, 0).to_le_bytes());
    assert_eq!(counted(&hashes).to_bytes(), bytes);
    assert_eq!(Distinct::from_bytes(&bytes).unwrap(), counted(&hashes));
}

/// Bytes with this header and body and a checksum that holds.
fn sealed(header: [u8; 8], rows: u64, body: &[u8]) -> Vec<u8> {
    let mut bytes = [&header[..], &rows.to_le_bytes(), body].concat();
    bytes.extend(xxh3(&bytes, 0).to_le_bytes());
    bytes
}

fn refusal(bytes: &[u8]) -> String {
    Distinct::from_bytes(bytes).unwrap_err().to_string()
}

#[test]
fn bytes_that_we_cannot_have_written_are_refused() {
    let sparse = *b"UMHL\x01\x0E\x01\0";
    let dense = *b"UMHL\x01\x0E\x02\0";
    let cases: [(Vec<u8>, &str); 14] = [
        (vec![], "no distinct count"),
        (b"UMBEL".to_vec(), "no distinct count"),
        (sparse.to_vec(), "an early end"),
        (b"UMHL\x01\x0E\x01\0\0\0\0\0\0\0\0\0\0\0\0".to_vec(), "an early end"),
        (sealed(*b"UMHL\x02\x0E\x01\0", 0, &[]), "version 2; this umbel reads version 1"),
        (sealed(*b"UMHL\x01\x0C\x01\0", 0, &[]), "2^12 registers"),
        (sealed(*b"UMHL\x01\x0E\x01\x01", 0, &[]), "flags 1"),
        (sealed(*b"UMHL\x01\x0E\x03\0", 0, &[]), "encoding 3"),
        (sealed(sparse, 9, &[1, 0, 1, 2]), "4 bytes of registers"),
        (sealed(sparse, 9, &[1, 0, 52]), "a rank outside 1 to 51"),
        (sealed(sparse, 9, &[0xFF, 0xFF, 1]), "out of order"),
        (sealed(sparse, 9, &[2, 0, 1, 2, 0, 3]), "out of order"),
        (sealed(sparse, 1, &[2, 0, 1, 3, 0, 3]), "1 rows for 2 registers"),
        (sealed(dense, 9, &[0; 1 << 14]), "0 registers in the wrong encoding"),
    ];
    for (bytes, message) in cases {
        assert!(refusal(&bytes).contains(message), "{}", refusal(&bytes));
    }
    let zero_rank = sealed(sparse, 9, &[1, 0, 0]);
    assert!(refusal(&zero_rank).contains("a rank outside"));
    let too_many: Vec<u8> = (0..1025_u16).flat_map(|i| [i as u8, (i >> 8) as u8, 1]).collect();
    assert!(refusal(&sealed(sparse, 9999, &too_many)).contains("3075 bytes of registers"));
}

#[test]
fn every_damage_to_a_byte_is_noticed() {
    for count in [0, 3, 2000] {
        let bytes = counted(&hashes(10, count)).to_bytes();
        for place in (0..bytes.len()).step_by(1 + bytes.len() / 997) {
            let mut damaged = bytes.clone();
            damaged[place] ^= 1 << (place % 8);
            assert!(Distinct::from_bytes(&damaged).is_err(), "byte {place}");
            assert!(Distinct::from_bytes(&bytes[..place]).is_err(), "cut at {place}");
        }
    }
}

/// The parts of `hashes`, counted apart and merged in a random order.
fn in_parts(hashes: &[u64], parts: usize, random: &mut Random) -> Distinct {
    let mut counts = vec![Distinct::new(); parts];
    for &hash in hashes {
        counts[random.below(parts)].insert_hash(hash);
    }
    while counts.len() > 1 {
        let taken = counts.swap_remove(random.below(counts.len()));
        let into = random.below(counts.len());
        counts[into].merge(&Distinct::from_bytes(&taken.to_bytes()).unwrap());
    }
    counts.remove(0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Around the bounds between the encodings too, in memory and on the wire.
    #[test]
    fn any_split_and_order_counts_the_same(
        distinct in prop_oneof![0..50_u64, 900..1300_u64, 1900..2300_u64, 4000..5000_u64],
        copies in 1..4_usize,
        parts in 1..12_usize,
        seed: u64,
    ) {
        let mut hashes = hashes(seed >> 40, distinct).repeat(copies);
        let whole = counted(&hashes);
        let mut random = Random(seed);
        (1..hashes.len()).for_each(|i| hashes.swap(i, random.below(i + 1)));
        let merged = in_parts(&hashes, parts, &mut random);
        prop_assert_eq!(&merged, &whole);
        prop_assert_eq!(merged.n(), whole.n());
        prop_assert_eq!(merged.estimate().to_bits(), whole.estimate().to_bits());
        prop_assert_eq!(merged.to_bytes(), whole.to_bytes());
    }

    #[test]
    fn bytes_come_back_as_they_were(count in 0..3000_u64, stream in 0..1000_u64) {
        let distinct = counted(&hashes(stream, count));
        prop_assert_eq!(Distinct::from_bytes(&distinct.to_bytes()).unwrap(), distinct);
    }

    #[test]
    fn garbage_is_an_error(mut bytes: Vec<u8>, framed: bool) {
        if framed {
            bytes = sealed(*b"UMHL\x01\x0E\x01\0", 100, &bytes);
        }
        if let Ok(distinct) = Distinct::from_bytes(&bytes) {
            prop_assert_eq!(distinct.to_bytes(), bytes);
        }
    }
}
