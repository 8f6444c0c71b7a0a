//! Near structures in files: by the book (`support/near_book.rs`), as published, damaged, and lying.

#![allow(clippy::unwrap_used)]

mod support;

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use support::near_book::{self, Level, NearRecord};
use support::near_samples::{floats, integers, nears};
use support::numbers::built;
use support::{book, random};
use umbel::format::File;
use umbel::near::{Grid, Near, Number, Params, Structure, Values};

/// The numbers of a structure, read from its public face.
fn record(near: &Near) -> NearRecord {
    let (params, grid) = (near.params(), near.params().grid());
    NearRecord {
        structure: match near.structure() {
            Structure::ExactList => 1,
            Structure::GrafiteList => 2,
            _ => 3,
        },
        values: if grid.values() == Values::Floats { 1 } else { 2 },
        levels: match near.structure() {
            Structure::OneLevel => 1,
            Structure::TwoLevels => 2,
            _ => 0,
        },
        zero: 0,
        alpha: grid.alpha(),
        beta: grid.beta(),
        p: params.p(),
        n: params.n(),
        seed: params.seed(),
        taken: near.inserted(),
    }
}

/// The cells of values as FORMAT.md has them, in ascending order, each once.
fn cells(record: &NearRecord, values: &[Number]) -> Vec<i64> {
    let cell = |value: &Number| match *value {
        Number::Float(y) => (y / record.beta).round() as i64,
        Number::Integer(y) => {
            let beta = record.beta as i128;
            (i128::from(y) + beta / 2).div_euclid(beta) as i64
        }
    };
    let mut cells: Vec<i64> = values.iter().map(cell).collect();
    cells.sort();
    cells.dedup();
    cells
}

/// L.
fn most_cells(record: &NearRecord) -> u64 {
    if record.values == 1 {
        (2.0 * (record.alpha / record.beta) + 2f64.powi(-10)).floor() as u64 + 2
    } else {
        (2.0 * record.alpha / record.beta).ceil() as u64 + 1
    }
}

/// The sizes of the levels, which the record alone tells: they stand behind its first 56 bytes.
fn levels(near: &Near) -> Vec<Level> {
    let file = near.to_bytes().unwrap();
    let number = |at: usize, len: usize| {
        file[at..at + len].iter().rev().fold(0, |n, &byte| n << 8 | u64::from(byte))
    };
    (0..usize::from(record(near).levels))
        .map(|i| 192 + 56 + 16 * i)
        .map(|at| Level {
            s: number(at, 4) as u32,
            k: number(at + 4, 4) as u32,
            lines: number(at + 8, 8),
        })
        .collect()
}

fn by_the_book(near: &Near, values: &[Number]) -> Vec<u8> {
    let record = record(near);
    let cells = cells(&record, values);
    match near.structure() {
        Structure::ExactList => near_book::exact(&record, &cells),
        Structure::GrafiteList => {
            let most = most_cells(&record);
            let r = (cells.len() as f64 * most as f64 / record.p).ceil().max(1.0) as u64;
            near_book::grafite(&record, r, r.min(64 * most).ilog2(), &cells)
        }
        _ => near_book::growing(&record, &levels(near), &cells),
    }
}

#[test]
fn every_sample_is_written_by_the_book() {
    for (name, near) in nears().into_iter().filter(|(name, _)| !name.contains("metadata")) {
        let values = if name.contains("float") { floats() } else { integers() };
        let values = if name.contains("empty") { Vec::new() } else { values };
        assert_eq!(near.to_bytes().unwrap(), by_the_book(&near, &values), "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Any grid, rate, seed and values; in crowds too, so that buckets fill.
    #[test]
    fn any_structure_is_written_by_the_book(
        alpha in 0..3000_u64, beta in 1..50_u64, p in 0.0001..0.9, seed: u64,
        values in prop::collection::vec(any::<i32>(), 1..300), shift in 0..31_u32,
    ) {
        let values: Vec<Number> = values.iter().map(|&y: &i32| Number::from(y >> shift)).collect();
        for grid in [Grid::integers(alpha, beta), Grid::floats(alpha as f64 / 7.0, beta as f64 / 3.0)] {
            for structure in Structure::ALL {
                let mut builder = umbel::near::Builder::new(grid.as_ref().copied().unwrap()).with_seed(seed);
                builder.extend(values.iter().copied()).unwrap();
                let near = builder.build_as(structure, p).unwrap();
                let floats = |y: &Number| match *y {
                    Number::Integer(y) => Number::Float(y as f64),
                    float => float,
                };
                let values = match near.params().grid().values() {
                    Values::Integers => values.clone(),
                    Values::Floats => values.iter().map(floats).collect(),
                };
                prop_assert_eq!(near.to_bytes().unwrap(), by_the_book(&near, &values));
            }
        }
    }
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name).with_extension("umbel")
}

/// A published file never changes. `UMBEL_WRITE_GOLDEN=1 cargo test --test near_files` writes those that are missing.
#[test]
fn a_structure_built_today_has_the_published_bytes() {
    for (name, near) in nears() {
        let (path, today) = (golden(&name), near.to_bytes().unwrap());
        if std::env::var_os("UMBEL_WRITE_GOLDEN").is_some() && !path.exists() {
            std::fs::write(&path, &today).unwrap();
        }
        assert_eq!(std::fs::read(path).unwrap(), today, "{name}");
    }
}

/// How many of 100 000 strangers each golden structure admits.
const ADMITTED: [(&str, usize); 8] = [
    ("near-floats-exact-list", 0),
    ("near-floats-grafite-list", 648),
    ("near-floats-growing-filter", 300),
    ("near-floats-growing-filter-of-two-levels", 3),
    ("near-integers-exact-list", 0),
    ("near-integers-grafite-list", 872),
    ("near-integers-growing-filter", 265),
    ("near-integers-growing-filter-of-two-levels", 2),
];

#[test]
fn published_structures_answer_for_ever() {
    for (name, expected) in ADMITTED {
        let near = Near::open(golden(name)).unwrap();
        let (values, scale) =
            if name.contains("float") { (floats(), 1e-3) } else { (integers(), 1.0) };
        assert!(values.iter().all(|&y| near.contains(y).unwrap()), "{name}");
        let strangers = random::integers(9, 100_000);
        let stranger = |x: &u64| Number::from(((x >> 30) as f64 * scale).floor());
        let admitted = strangers.iter().filter(|x| near.contains(stranger(x)).unwrap()).count();
        assert_eq!(admitted, expected, "{name}");
        assert_eq!(near.inserted(), values.len() as u64);
    }
    let described = Near::open(golden("near-metadata")).unwrap();
    assert_eq!(described.metadata().get("Quelle"), Some("Blüten.tsv, Spalte 1"));
    assert!(!Near::open(golden("near-empty")).unwrap().contains(0).unwrap());
}

fn unverified(bytes: &[u8]) -> umbel::Result<Near> {
    File::from_bytes(bytes.to_vec())?.into_near()
}

/// Where the section of this place in the table begins.
fn section(file: &[u8], place: usize) -> usize {
    let at = 64 + 32 * place + 8;
    u64::from_le_bytes(file[at..at + 8].try_into().unwrap()) as usize
}

/// Also where the bits are not verified, and then a structure with a wrong bit answers something and goes on.
#[test]
fn every_flipped_bit_is_an_error() {
    for (name, near) in nears() {
        let mut file = near.to_bytes().unwrap();
        let sums = section(&file, 2);
        for bit in 0..8 * file.len() {
            file[bit / 8] ^= 1 << (bit % 8);
            assert!(Near::from_bytes(&file).is_err(), "{name}, bit {bit}");
            match unverified(&file) {
                Ok(_) if bit / 8 < sums => panic!("{name}, unverified, bit {bit}"),
                Ok(near) => ask(&near),
                Err(_) => {}
            }
            file[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

/// Asks for this and that.
fn ask(near: &Near) {
    for x in [0, 1, -725, 5, i64::MAX, i64::MIN, 1 << 40] {
        let _ = (near.contains(x), near.nearest(x));
    }
    let _ = near.contains_batch(&[1, 2, 3], &mut [false; 3]);
    assert!((0.0..=1.0).contains(&near.expected_rate_now()));
}

#[test]
fn every_truncation_and_every_addition_is_an_error() {
    for (name, near) in nears() {
        let mut file = near.to_bytes().unwrap();
        for len in 0..file.len() {
            assert!(Near::from_bytes(&file[..len]).is_err(), "{name}, {len} bytes");
            assert!(unverified(&file[..len]).is_err(), "{name}, unverified, {len} bytes");
        }
        for added in 1..130 {
            file.push(0);
            assert!(
                Near::from_bytes(&file).is_err() && unverified(&file).is_err(),
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
    let whole = nears().remove(0).1.to_bytes().unwrap();
    std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    for result in [Near::open(&path), Near::open_unverified(&path), Near::load(&path)] {
        let message = result.unwrap_err().to_string();
        assert!(message.contains("cut.umbel"), "{message}");
    }
    let bloom = umbel::Bloom::new(10, 0.01).unwrap().to_bytes().unwrap();
    let message = Near::from_bytes(&bloom).unwrap_err().to_string();
    assert!(message.contains("holds a Bloom filter, not a near structure"), "{message}");
    let message = umbel::Bloom::from_bytes(&whole).unwrap_err().to_string();
    assert!(message.contains("holds a near structure, not a Bloom filter"), "{message}");
}

fn refused(file: &[u8], says: &str) {
    let message = Near::from_bytes(file).unwrap_err().to_string();
    assert!(message.contains(says), "{says:?} is not in {message:?}");
}

fn honest(structure: u8, levels: u16) -> NearRecord {
    NearRecord {
        structure,
        values: 2,
        levels,
        zero: 0,
        alpha: 5.0,
        beta: 1.0,
        p: 0.01,
        n: 3,
        seed: 0,
        taken: 3,
    }
}

const CELLS: [i64; 3] = [-70, 12, 90];

#[test]
fn a_record_that_lies_is_refused() {
    assert!(Near::from_bytes(&near_book::exact(&honest(1, 0), &CELLS)).is_ok());
    type Lie = fn(&mut NearRecord);
    let lies: [(Lie, &str); 20] = [
        (|r| r.structure = 0, "structure 0 "),
        (|r| r.structure = 4, "structure 4 "),
        (|r| r.values = 0, "values 0 "),
        (|r| r.values = 3, "values 3 "),
        (|r| r.levels = 1, "levels 1 "),
        (|r| r.zero = 1, "field 1 "),
        (|r| r.alpha = -0.0, "from 0 on"),
        (|r| r.alpha = -1.0, "from 0 on"),
        (|r| r.alpha = f64::NAN, "from 0 on"),
        (|r| r.alpha = 1e300, "2^53"),
        (|r| r.alpha = 5.5, "whole numbers"),
        (|r| r.beta = 0.5, "whole numbers"),
        (|r| r.beta = 0.0, "above 0"),
        (|r| r.beta = f64::INFINITY, "above 0"),
        (|r| r.p = 0.0, "between 0 and 1"),
        (|r| r.p = 1.0, "between 0 and 1"),
        (|r| r.n = 0, "least and the greatest"),
        (|r| r.n = 162, "least and the greatest"),
        (|r| r.n = 2, "contradicts itself"),
        (|r| r.n = u64::MAX, "least and the greatest"),
    ];
    for (lie, says) in lies {
        let mut record = honest(1, 0);
        lie(&mut record);
        refused(&near_book::exact(&record, &CELLS), says);
    }
    // No value has such a cell.
    let wide = NearRecord { beta: 100.0, ..honest(1, 0) };
    refused(&near_book::exact(&wide, &[0, 1, i64::MAX / 100 + 2]), "no value has");
    refused(&near_book::exact(&wide, &[i64::MIN / 100 - 2, 0, 1]), "no value has");
    let floats = NearRecord { values: 1, ..honest(1, 0) };
    refused(&near_book::exact(&floats, &[0, 1, 1 << 53]), "no value has");
    assert!(Near::from_bytes(&near_book::exact(&floats, &[0, 1, (1 << 53) - 1])).is_ok());
    // More than 2^32 - 1 cells.
    let ends = [0_i64, i64::MAX].map(i64::to_le_bytes).concat();
    refused(&near_book::file(&NearRecord { n: 1 << 32, ..honest(1, 0) }, &ends, &[]), "2^32 - 1");
    // Fewer bits than they need.
    refused(
        &near_book::file(&NearRecord { n: 1 << 30, ..honest(1, 0) }, &ends, &[0; 64]),
        "fewer bits",
    );
}

#[test]
fn a_grafite_record_that_lies_is_refused() {
    let record = honest(2, 0);
    assert!(Near::from_bytes(&near_book::grafite(&record, 3600, 9, &CELLS)).is_ok());
    let lie = |record: &NearRecord, r: u64, count: u64, t: u32, zero: u32, says: &str| {
        let rest =
            [&r.to_le_bytes()[..], &count.to_le_bytes(), &t.to_le_bytes(), &zero.to_le_bytes()]
                .concat();
        refused(
            &near_book::file(record, &rest, &near_book::list(&[1, 2, 3], r.clamp(3, 1 << 63) - 1)),
            says,
        );
    };
    lie(&record, 0, 3, 0, 0, "codes do not fit");
    lie(&record, (1 << 63) + 1, 3, 9, 0, "codes do not fit");
    lie(&record, 3600, 3, 12, 0, "codes do not fit");
    lie(&record, 3600, 3, 64, 0, "codes do not fit");
    lie(&record, 3600, 3, u32::MAX, 0, "codes do not fit");
    lie(&record, 3600, 4, 9, 0, "number of codes");
    lie(&record, 3600, 0, 9, 0, "number of codes");
    lie(&record, 3600, 3, 9, 1, "field 1 ");
    // A question would be cut into very many parts.
    lie(&NearRecord { alpha: 1e12, ..record.clone() }, 3600, 3, 9, 0, "codes do not fit");
    lie(&NearRecord { n: 0, ..record }, 3600, 3, 9, 0, "number of codes");
}

#[test]
fn a_growing_record_that_lies_is_refused() {
    let fine = Level { s: 0, k: 5, lines: 2 };
    let coarse = Level { s: 4, k: 4, lines: 1 };
    let good =
        |levels: &[Level]| near_book::growing(&honest(3, levels.len() as u16), levels, &CELLS);
    assert!(
        Near::from_bytes(&good(&[fine])).is_ok()
            && Near::from_bytes(&good(&[coarse, fine])).is_ok()
    );
    refused(&good(&[Level { s: 1, ..fine }]), "levels do not fit");
    refused(&good(&[Level { s: 3, ..coarse }, fine]), "levels do not fit"); // a question has 11 cells
    refused(&good(&[Level { s: 63, ..coarse }, fine]), "levels do not fit");
    refused(&good(&[Level { k: 0, ..fine }]), "probes");
    refused(&good(&[Level { k: 65, ..fine }]), "probes");
    let file = |record: NearRecord, lines: u64| {
        let rest = [&0_u32.to_le_bytes()[..], &5_u32.to_le_bytes(), &lines.to_le_bytes()].concat();
        near_book::file(&record, &rest, &[0; 128])
    };
    assert!(Near::from_bytes(&file(honest(3, 1), 2)).is_ok());
    refused(&file(honest(3, 1), 0), "no lines");
    refused(&file(honest(3, 1), 1), "more bits");
    refused(&file(honest(3, 1), 3), "fewer bits");
    refused(&file(honest(3, 1), 1 << 39), "fewer bits");
    refused(&file(honest(3, 1), (1 << 39) + 1), "2^48");
    refused(&file(honest(3, 1), u64::MAX), "2^48");
    refused(&file(NearRecord { n: 0, ..honest(3, 1) }, 2), "levels do not fit");
    refused(&file(NearRecord { levels: 0, ..honest(3, 1) }, 2), "levels 0 ");
    refused(&file(NearRecord { levels: 3, ..honest(3, 1) }, 2), "levels 3 ");
    refused(&file(NearRecord { alpha: 1e9, ..honest(3, 1) }, 2), "too wide");
}

/// Any wrong bit of a list is found out, though every checksum is right; and while nobody looks, it does no harm.
#[test]
fn a_list_that_lies_is_refused() {
    let values: Vec<Number> =
        random::integers(5, 300).iter().map(|x| ((x >> 44) as i64 % 70_000).into()).collect();
    for structure in [Structure::ExactList, Structure::GrafiteList] {
        let near = built(Grid::integers(5, 1).unwrap(), &values, structure, 0.01);
        let file = near.to_bytes().unwrap();
        let (parm, body) = (&file[192..section(&file, 1)], file[section(&file, 3)..].to_vec());
        let parm = &parm[..if structure == Structure::ExactList { 72 } else { 80 }];
        assert_eq!(book::file(16, parm, &book::pairs(&[]), &body), file);
        for bit in 0..8 * body.len() {
            let mut lying = body.clone();
            lying[bit / 8] ^= 1 << (bit % 8);
            let lying = book::file(16, parm, &book::pairs(&[]), &lying);
            match Near::from_bytes(&lying) {
                Err(error) => assert!(
                    error.to_string().contains("contradicts itself")
                        || error.to_string().contains("not in the list"),
                    "{error}"
                ),
                // Another number in the place of one is another list, and an honest one.
                Ok(other) => assert!(other != near, "{structure}, bit {bit}"),
            }
            ask(&unverified(&lying).unwrap());
        }
    }
}

#[test]
fn saved_filters_keep_their_parameters() {
    let params =
        Params::new(Grid::floats(2.5, 0.125).unwrap(), 77, 0.03).unwrap().with_seed(u64::MAX);
    for structure in [Structure::OneLevel, Structure::TwoLevels] {
        let near = Near::with(params, structure).unwrap();
        let read = Near::from_bytes(&near.to_bytes().unwrap()).unwrap();
        assert_eq!((read.params(), read.structure(), read.inserted()), (&params, structure, 0));
    }
}
