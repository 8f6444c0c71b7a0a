//! Each strategy against an implementation that is not ours. The tables in `vectors/` name the package and version
//! they came from; the programs beside them (`vectors.py`, `Vectors.java`) write them anew.

use umbel::hash::{Family, xxh3, xxh3_u64};

/// The rows of a table: numbers, but for a first column that may be a key in hexadecimal.
fn rows(table: &str) -> impl Iterator<Item = (&str, Vec<u64>)> {
    table.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
        (first, rest.split(' ').filter_map(|number| number.parse().ok()).collect())
    })
}

/// The same bytes as `key(length)` of the programs.
fn key(length: &str) -> Vec<u8> {
    (0..length.parse::<u32>().unwrap_or(0)).map(|i| (131 * i + 7) as u8).collect()
}

fn hex(digits: &str) -> Vec<u8> {
    let digits = digits.trim_start_matches('-');
    let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap_or(0);
    (0..digits.len()).step_by(2).map(byte).collect()
}

fn check_family(family: Family, table: &str, enough: usize) {
    let mut checked = 0;
    for (length, row) in rows(table) {
        let [seed, m, index] = row[..] else { panic!("{length} {row:?}") };
        assert_eq!(family.index(&key(length), seed as u32, m), index, "{length} {row:?}");
        checked += 1;
    }
    assert_eq!(checked, enough);
}

fn check_polynomials(table: &str, enough: usize) {
    let mut checked = 0;
    for (key, row) in rows(table) {
        let [seed, m, by_mod, by_wrap] = row[..] else { panic!("{key} {row:?}") };
        let index = |family: Family| family.index(&hex(key), seed as u32, m);
        assert_eq!(index(Family::PolynomialMod), by_mod, "mod, {key} {row:?}");
        assert_eq!(index(Family::PolynomialWrap), by_wrap, "wrap, {key} {row:?}");
        checked += 1;
    }
    assert_eq!(checked, enough);
}

#[test]
fn xxh3_is_that_of_the_python_package_xxhash() {
    let table = include_str!("vectors/xxh3.txt");
    for (length, row) in rows(table) {
        let [seed, hash] = row[..] else { panic!("{length} {row:?}") };
        assert_eq!(xxh3(&key(length), seed), hash, "{length} {row:?}");
        if let Ok(eight) = <[u8; 8]>::try_from(key(length)) {
            assert_eq!(xxh3_u64(u64::from_le_bytes(eight), seed), hash, "u64, {row:?}");
        }
    }
    assert_eq!(rows(table).count(), 110);
}

#[test]
fn an_integer_hashes_as_its_eight_little_endian_bytes() {
    let mut x = 1_u64;
    for _ in 0..100_000 {
        x = x.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        for seed in [0, 1, x.rotate_left(17), u64::MAX] {
            for key in [x, x >> 40, 1 << (x >> 58)] {
                assert_eq!(xxh3_u64(key, seed), xxh3(&key.to_le_bytes(), seed), "{key} {seed}");
            }
        }
    }
}

#[test]
fn murmur2_is_that_of_hadoop() {
    check_family(Family::Murmur2, include_str!("vectors/murmur2.txt"), 260);
}

#[test]
fn murmur3_is_that_of_the_python_package_mmh3() {
    check_family(Family::Murmur3, include_str!("vectors/murmur3.txt"), 440);
}

#[test]
fn polynomials_run_over_the_characters_of_java() {
    check_polynomials(include_str!("vectors/polynomial.txt"), 176);
}

#[test]
fn what_is_not_utf8_reads_as_u_fffd() {
    check_polynomials(include_str!("vectors/not_utf8.txt"), 48);
}

/// `"polygenelubricants".hashCode()` is `Integer.MIN_VALUE`, which has no positive counterpart in 32 bits.
#[test]
fn the_most_negative_code_is_2_to_the_31() {
    let index = |m| Family::PolynomialWrap.index(b"polygenelubricants", 31, m);
    assert_eq!((index(1 << 31), index(1000), index(u64::MAX)), (0, 648, 1 << 31));
}
