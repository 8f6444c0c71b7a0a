//! The fuzz targets' work as a plain test: the saved corpus, and some thousand mutations of the golden files.

#![allow(clippy::unwrap_used)]

#[path = "support/parsers.rs"]
mod parsers;
#[path = "support/random.rs"]
#[allow(dead_code)]
mod random;

use std::path::Path;

use random::Random;

/// The files of a folder of the repository, in order.
fn files(folder: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

#[test]
fn the_saved_corpus_is_harmless() {
    for (folder, parser) in [
        ("bloom_from_bytes", parsers::bloom as fn(&[u8])),
        ("groups_from_bytes", parsers::groups),
        ("counts_from_bytes", parsers::counts),
        ("count_groups_from_bytes", parsers::count_groups),
        ("near_from_bytes", parsers::near),
        ("similar_from_bytes", parsers::similar),
    ] {
        let corpus = files(&format!("../../fuzz/corpus/{folder}"));
        assert!(!corpus.is_empty());
        corpus.iter().for_each(|bytes| parsers::all_ways(bytes, parser));
    }
}

/// What goes between processes has its checksum behind it, and no header to repair.
#[test]
fn what_goes_between_processes_is_harmless() {
    for (folder, parser) in [
        ("distinct_from_bytes", parsers::distinct as fn(&[u8])),
        ("partial_from_bytes", parsers::partial),
    ] {
        let mut random = Random(2);
        let corpus = files(&format!("../../fuzz/corpus/{folder}"));
        assert!(corpus.len() > 2);
        for saved in corpus {
            parser(&saved);
            for _ in 0..2000 {
                let mut bytes = saved.clone();
                let at = random.below(bytes.len());
                bytes[at] = random.below(256) as u8;
                bytes.truncate(bytes.len() - random.below(2) * 8);
                parser(&bytes);
            }
        }
    }
}

/// One of the changes that fuzzers make.
fn mutate(file: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(file.len());
    match random.below(6) {
        0 => file[at] ^= 1 << random.below(8),
        1 => file[at] = random.below(256) as u8,
        2 => file[at] = [0, 1, 0x7F, 0x80, 0xFF][random.below(5)],
        3 => {
            let number = [0, 1, u64::MAX, 1 << 48, 1 << 31, 64][random.below(6)];
            let at = at.min(file.len() - 8) & !7;
            file[at..at + 8].copy_from_slice(&number.to_le_bytes());
        }
        4 => {
            // A piece of the file over another.
            let from = random.below(file.len());
            let len = random.below(64).min(file.len() - at.max(from));
            file.copy_within(from..from + len, at);
        }
        _ => file.resize((at & !63).max(192), 0),
    }
}

#[test]
fn mutated_golden_files_are_harmless() {
    let mut random = Random(1);
    for golden in files("tests/golden") {
        for _ in 0..3000 {
            let mut file = golden.clone();
            for _ in 0..=random.below(4) {
                mutate(&mut file, &mut random);
            }
            parsers::all_ways(&file, parsers::bloom);
            parsers::all_ways(&file, parsers::groups);
            parsers::all_ways(&file, parsers::counts);
            parsers::all_ways(&file, parsers::count_groups);
            parsers::all_ways(&file, parsers::near);
            parsers::all_ways(&file, parsers::similar);
        }
    }
}
