//! Similar filters in files: by the book (`support/similar_book.rs`), as published, damaged, and lying.

#![allow(clippy::unwrap_used)]

mod support;

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use support::items::Owned;
use support::random::Random;
use support::similar_book::SimilarRecord;
use support::similar_samples::{SPACES, items, name, similars};
use umbel::format::File;
use umbel::similar::{Item, Params, Shape, Similar, Space};

/// The numbers of a filter, read from its public face.
fn record(filter: &Similar) -> SimilarRecord {
    let (params, shape) = (filter.params(), filter.params().shape());
    let (metric, items, l) = match params.space() {
        Space::Hamming { bits } => (1, 1, bits),
        Space::Cosine { dimension } => (2, 2, dimension),
        Space::Euclid { dimension } => (3, 2, dimension),
        Space::Texts { shingle } => (4, 3, shingle),
        _ => (4, 4, 0),
    };
    SimilarRecord {
        metric,
        items,
        zero: 0,
        l,
        k: shape.bands,
        t: shape.samples,
        tau: shape.threshold,
        q: shape.probes,
        m: shape.bits,
        n: params.n(),
        close: params.close(),
        far: params.far(),
        width: shape.width,
        seed: params.seed(),
        taken: filter.inserted(),
    }
}

#[test]
fn every_sample_is_written_by_the_book() {
    for (name, filter) in similars().into_iter().filter(|(name, _)| !name.contains("metadata")) {
        let items =
            if filter.inserted() == 0 { Vec::new() } else { items(filter.params().space()) };
        assert_eq!(filter.to_bytes().unwrap(), record(&filter).file(&items), "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Any length, shape and seed.
    #[test]
    fn any_filter_is_written_by_the_book(
        length in 1..40_u32, bands in 1..6_u32, samples in 1..20_u32, probes in 1..5_u32, bits in 1..1500_u64,
        width in 0.01..100.0, seed: u64, count in 0..4_usize,
    ) {
        let spaces = [
            Space::Hamming { bits: length }, Space::Cosine { dimension: length }, Space::Euclid { dimension: length },
            Space::Texts { shingle: length }, Space::Sets,
        ];
        for space in spaces {
            let width = if let Space::Euclid { .. } = space { width } else { 0.0 };
            let samples = if let Space::Hamming { bits } = space { samples.min(bits) } else { samples };
            let shape = Shape { bands, samples, threshold: 1, probes, bits, width };
            let params = Params::with_shape(space, 3, 0.1, 0.9, shape).unwrap().with_seed(seed);
            let mut filter = Similar::new(params).unwrap();
            let mut random = Random(seed);
            let items: Vec<Owned> = (0..count).map(|_| Owned::random(&mut random, space)).collect();
            items.iter().for_each(|item| item.with(|item| filter.insert(item)).unwrap());
            prop_assert_eq!(filter.to_bytes().unwrap(), record(&filter).file(&items));
        }
    }
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name).with_extension("umbel")
}

/// A published file never changes. `UMBEL_WRITE_GOLDEN=1 cargo test --test similar_files` writes those that are missing.
///
/// The shapes are taken from the published files: sizing counts with the system's logarithms, and may find others elsewhere.
#[test]
fn a_filter_built_today_has_the_published_bytes() {
    for (name, filter) in similars() {
        let path = golden(&name);
        if std::env::var_os("UMBEL_WRITE_GOLDEN").is_some() && !path.exists() {
            std::fs::write(&path, filter.to_bytes().unwrap()).unwrap();
        }
        let published = std::fs::read(path).unwrap();
        let mut today = Similar::new(*Similar::from_bytes(&published).unwrap().params()).unwrap();
        if filter.inserted() > 1 {
            let items = items(filter.params().space());
            items.iter().for_each(|item| item.with(|item| today.insert(item)).unwrap());
        } else {
            today = filter;
        }
        assert_eq!(published, today.to_bytes().unwrap(), "{name}");
    }
}

/// How many of 2000 strangers each golden filter admits.
const ADMITTED: [(&str, usize); 6] = [
    ("similar-hamming", 49),
    ("similar-cosine", 377),
    ("similar-euclid", 1072),
    ("similar-texts-3", 16),
    ("similar-texts-1", 29),
    ("similar-sets", 10),
];

#[test]
fn published_filters_answer_for_ever() {
    let mut found = Vec::new();
    for (space, ..) in SPACES {
        let filter = Similar::open(golden(&format!("similar-{}", name(space)))).unwrap();
        let has = |item: &Owned| item.with(|item| filter.contains(item)).unwrap();
        assert!(items(space).iter().all(has), "{space}");
        let mut random = Random(9);
        let admitted = (0..2000).filter(|_| has(&Owned::random(&mut random, space))).count();
        found.push((format!("similar-{}", name(space)), admitted));
    }
    let expected = ADMITTED.map(|(name, admitted)| (name.to_owned(), admitted));
    assert_eq!(found, expected);
    let described = Similar::open(golden("similar-metadata")).unwrap();
    assert_eq!(described.metadata().get("Quelle"), Some("Blüten.tsv, Spalte 1"));
    let empty = Similar::open(golden("similar-empty")).unwrap();
    assert!(!empty.contains(Item::Tokens(&[b"a"])).unwrap());
}

fn unverified(bytes: &[u8]) -> umbel::Result<Similar> {
    File::from_bytes(bytes.to_vec())?.into_similar()
}

/// Where the section of this place in the table begins.
fn section(file: &[u8], place: usize) -> usize {
    let at = 64 + 32 * place + 8;
    u64::from_le_bytes(file[at..at + 8].try_into().unwrap()) as usize
}

/// Also where the bits are not verified, and then a filter with a wrong bit answers something and goes on.
#[test]
fn every_flipped_bit_is_an_error() {
    for (name, filter) in similars() {
        let mut file = filter.to_bytes().unwrap();
        let sums = section(&file, 2);
        for bit in 0..8 * file.len() {
            file[bit / 8] ^= 1 << (bit % 8);
            assert!(Similar::from_bytes(&file).is_err(), "{name}, bit {bit}");
            match unverified(&file) {
                Ok(_) if bit / 8 < sums => panic!("{name}, unverified, bit {bit}"),
                Ok(filter) => assert!((0.0..=1.0).contains(&filter.expected_rate_now())),
                Err(_) => {}
            }
            file[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

#[test]
fn every_truncation_and_every_addition_is_an_error() {
    for (name, filter) in similars() {
        let mut file = filter.to_bytes().unwrap();
        for len in 0..file.len() {
            assert!(Similar::from_bytes(&file[..len]).is_err(), "{name}, {len} bytes");
            assert!(unverified(&file[..len]).is_err(), "{name}, unverified, {len} bytes");
        }
        for added in 1..130 {
            file.push(0);
            assert!(
                Similar::from_bytes(&file).is_err() && unverified(&file).is_err(),
                "{name}, {added} more"
            );
        }
    }
}

/// Through a mapped file the message names the file; a file of another kind is refused by name.
#[test]
fn a_file_that_is_none_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.umbel");
    let whole = similars().remove(0).1.to_bytes().unwrap();
    std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    for result in [Similar::open(&path), Similar::open_unverified(&path), Similar::load(&path)] {
        let message = result.unwrap_err().to_string();
        assert!(message.contains("cut.umbel"), "{message}");
    }
    let bloom = umbel::Bloom::new(10, 0.01).unwrap().to_bytes().unwrap();
    let message = Similar::from_bytes(&bloom).unwrap_err().to_string();
    assert!(message.contains("holds a Bloom filter, not items to compare"), "{message}");
    let message = umbel::Bloom::from_bytes(&whole).unwrap_err().to_string();
    assert!(message.contains("holds items to compare, not a Bloom filter"), "{message}");
}

fn honest() -> SimilarRecord {
    SimilarRecord {
        metric: 1,
        items: 1,
        zero: 0,
        l: 40,
        k: 5,
        t: 7,
        tau: 2,
        q: 3,
        m: 90,
        n: 10,
        close: 0.1,
        far: 0.9,
        width: 0.0,
        seed: 3,
        taken: 0,
    }
}

fn refused(file: &[u8], says: &str) {
    let message = Similar::from_bytes(file).unwrap_err().to_string();
    assert!(message.contains(says), "{says:?} is not in {message:?}");
}

#[test]
fn a_record_that_lies_is_refused() {
    assert!(Similar::from_bytes(&honest().file(&[])).is_ok());
    type Lie = fn(&mut SimilarRecord);
    let lies: [(Lie, &str); 33] = [
        (|r| r.metric = 0, "metric 0 "),
        (|r| r.metric = 5, "metric 5 "),
        (|r| r.items = 2, "items 2 "),
        (|r| r.items = 5, "items 5 "),
        (|r| (r.metric, r.items) = (4, 4), "items 4 (40)"),
        (|r| r.zero = 1, "field 1 "),
        (|r| r.l = 0, "1 to 2^24"),
        (|r| r.l = (1 << 24) + 1, "1 to 2^24"),
        (|r| r.l = 6, "cannot be sampled"),
        (|r| r.k = 0, "bands are 1"),
        (|r| r.k = (1 << 16) + 1, "bands are 1"),
        (|r| r.t = 0, "samples are 1"),
        (|r| r.t = (1 << 16) + 1, "samples are 1"),
        (|r| (r.k, r.t) = (1 << 11, 1 << 10), "2^20 in all"),
        (|r| r.tau = 0, "threshold"),
        (|r| r.tau = 6, "threshold"),
        (|r| r.q = 0, "probes"),
        (|r| r.q = 65, "probes"),
        (|r| r.m = 0, "bits are at least 1"),
        (|r| r.m = u64::MAX, "2^48"),
        (|r| r.m = (1 << 48) / 5 + 1, "2^48"),
        (|r| r.n = 0, "at least 1"),
        (|r| r.close = -0.0, "from 0 on"),
        (|r| r.close = -1.0, "from 0 on"),
        (|r| r.close = f64::NAN, "from 0 on"),
        (|r| r.far = 0.1, "below the far"),
        (|r| r.far = 1.1, "at most 1"),
        (|r| r.far = f64::INFINITY, "at most 1"),
        (|r| r.width = 1.0, "only Euclid"),
        (|r| r.width = -0.0, "only Euclid"),
        (|r| (r.metric, r.items) = (3, 2), "width"),
        (|r| (r.metric, r.items, r.width, r.far) = (3, 2, 1.0, f64::INFINITY), "below the far"),
        (|r| (r.metric, r.items, r.l) = (2, 2, 1 << 24), "2^27"),
    ];
    for (i, (lie, says)) in lies.into_iter().enumerate() {
        let mut record = honest();
        lie(&mut record);
        // As many bits as the honest one has, whatever it says.
        let file = support::book::file(17, &record.bytes(), &support::book::pairs(&[]), &[0; 64]);
        println!("{i}: {says}");
        refused(&file, says);
    }
    let file =
        |body: &[u8]| support::book::file(17, &honest().bytes(), &support::book::pairs(&[]), body);
    refused(&file(&[]), "fewer bits");
    refused(&file(&[0; 128]), "more bits");
    let mut dirty = [0; 64];
    dirty[450 / 8] = 1 << (450 % 8);
    refused(&file(&dirty), "behind the filter's last");
    dirty[450 / 8] = 1 << (449 % 8);
    assert!(Similar::from_bytes(&file(&dirty)).is_ok());
}

#[test]
fn saved_filters_keep_their_parameters() {
    for (_, filter) in similars() {
        let read = Similar::from_bytes(&filter.to_bytes().unwrap()).unwrap();
        assert_eq!((read.params(), read.inserted()), (filter.params(), filter.inserted()));
        assert_eq!(read, filter);
    }
}
