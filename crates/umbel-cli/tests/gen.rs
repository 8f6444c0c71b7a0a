//! `umbel gen` at full length: counts, validity, speed of a pipe's end; the same bytes twice and for ever.

#![allow(clippy::unwrap_used)]

use std::collections::{HashMap, HashSet};
use std::io::{Read, Write};
use std::net::Ipv4Addr;
use std::process::{Command, Stdio};

use umbel::distinct::Distinct;
use umbel::hash::xxh3;

const TITLES: [u64; 10] =
    [2546, 6623, 17_937, 43_912, 103_292, 220_871, 373_321, 355_416, 113_980, 16_286];

fn umbel(line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_umbel"));
    command.args(line.split_whitespace());
    command
}

fn run(line: &str) -> Vec<u8> {
    let done = umbel(line).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(done.stderr.is_empty());
    done.stdout
}

fn lines(line: &str) -> Vec<String> {
    String::from_utf8(run(line)).unwrap().lines().map(String::from).collect()
}

/// What `line` makes of this input.
fn filter(line: &str, input: &[u8]) -> Vec<u8> {
    let mut child = umbel(line).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(input));
        let mut output = Vec::new();
        child.stdout.take().unwrap().read_to_end(&mut output).unwrap();
        assert!(child.wait().unwrap().success());
        output
    })
}

/// The whole output for a seed, by its hash: whoever changes one of these breaks other people's tests.
#[test]
fn the_bytes_are_frozen() {
    let frozen = [
        ("gen strings -n 100000 --length 30 --seed 1", 0x4083_7b98_7448_9ebb),
        ("gen ratings --seed 1", 0x74d1_41c4_ae85_f7ae),
        ("gen ratings --seed 2 --malformed 1000", 0x3738_0390_dacc_1b45),
        ("gen addresses -n 100000 --distinct 10000 --zipf 1.1 --seed 1", 0xd949_a620_ca10_49b3),
        ("gen addresses -n 100000 --distinct 10000 --plain --seed 1", 0xb73a_4fba_b111_9fef),
        ("gen names -n 329 --seed 1", 0x75db_c7e7_6c68_1475),
    ];
    let found = frozen.map(|(line, _)| (line, xxh3(&run(line), 0)));
    assert_eq!(found, frozen, "{found:#018x?}");
}

#[test]
fn strings_differ_and_can_be_pronounced() {
    let words = lines("gen strings -n 200000 --length 30 --seed 7");
    assert_eq!(words.iter().collect::<HashSet<_>>().len(), 200_000);
    let vowel = |letter| b"aeiou".contains(&letter);
    for word in &words {
        let turns = word.bytes().enumerate().all(|(i, letter)| vowel(letter) == (i % 2 == 1));
        assert!(word.len() == 30 && turns, "{word}");
    }
}

/// Some of 2 000 000 words with a limit of 500: 2 in 501.
#[test]
fn a_sample_is_as_large_as_its_limit_says() {
    let words = run("gen strings -n 2000000 --length 30 --seed 1");
    let sample = filter("gen sample --limit 500", &words);
    let sample: Vec<&[u8]> = sample.split(|&b| b == b'\n').collect();
    assert!(sample.len().abs_diff(2_000_000 * 2 / 501) < 300, "{}", sample.len());
    assert_eq!(filter("gen sample --limit 1", &words), words);
}

#[test]
fn a_sample_keeps_any_bytes_and_ends_its_lines() {
    assert_eq!(filter("gen sample --limit 1", b"a\r\n\xFF\0\n\nlast"), b"a\r\n\xFF\0\n\nlast\n");
    assert_eq!(filter("gen sample --limit 1", b""), b"");
}

/// The group of a row, or nothing where the row is malformed.
fn group(row: &str) -> Option<usize> {
    let [title, rating, votes] = *row.split('\t').collect::<Vec<_>>() else { return None };
    let (whole, tenth) = rating.split_once('.')?;
    let (whole, tenth): (usize, usize) = (whole.parse().ok()?, tenth.parse().ok()?);
    assert!(tenth < 10 && (10..=100).contains(&(10 * whole + tenth)), "{row}");
    assert!(votes.parse::<u64>().unwrap() >= 5);
    (!title.is_empty()).then_some(whole + usize::from(tenth >= 5))
}

#[test]
fn ratings_have_exactly_their_counts() {
    for (seed, malformed) in [(1, 0), (2, 17), (3, 100_000)] {
        let rows = lines(&format!("gen ratings --seed {seed} --malformed {malformed}"));
        assert_eq!(rows[0], "tconst\taverageRating\tnumVotes");
        let mut groups: Vec<Distinct> = vec![Distinct::new(); 11];
        let mut titles = HashSet::new();
        let mut refused = 0;
        for row in &rows[1..] {
            let Some(group) = group(row) else {
                refused += 1;
                continue;
            };
            let title = row.split('\t').next().unwrap();
            assert!(title.starts_with("tt") && title.len() >= 9 && titles.insert(title));
            groups[group].insert(title.as_bytes());
        }
        assert_eq!(refused, malformed);
        let rows: Vec<u64> = groups[1..].iter().map(Distinct::rows).collect();
        let n: Vec<u64> = groups[1..].iter().map(Distinct::n).collect();
        assert_eq!(rows, TITLES);
        assert_eq!(n, TITLES, "the rule for n finds what was made");
    }
}

/// With and without malformed rows it is the same table.
#[test]
fn malformed_rows_change_no_others() {
    let table = lines("gen ratings --seed 5");
    for malformed in [1, 6, 50_000, 3_000_000] {
        let rows = lines(&format!("gen ratings --seed 5 --malformed {malformed}"));
        assert_eq!(rows.len() as u64, table.len() as u64 + malformed);
        let good: Vec<&String> = rows[1..].iter().filter(|row| group(row).is_some()).collect();
        assert!(good.into_iter().eq(&table[1..]));
    }
    // They stand everywhere: a tenth of them in each tenth, give or take.
    let rows = lines("gen ratings --seed 5 --malformed 100000");
    for tenth in rows[1..].chunks(rows.len() / 10).take(10) {
        let bad = tenth.iter().filter(|row| group(row).is_none()).count();
        assert!((9_500..10_500).contains(&bad), "{bad}");
    }
}

#[test]
fn malformed_rows_are_of_several_kinds() {
    let rows = lines("gen ratings --malformed 60");
    let mut kinds = HashMap::new();
    for row in rows[1..].iter().filter(|row| group(row).is_none()) {
        let kind = row.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).to_string();
        let named = !row.starts_with('\t');
        *kinds.entry((named, kind)).or_insert(0) += 1;
    }
    assert_eq!(kinds.len(), 6, "{kinds:?}");
    assert!(kinds.values().all(|&count| count == 10), "{kinds:?}");
}

#[test]
fn addresses_are_valid_and_as_many_as_asked() {
    for line in ["--distinct 5000", "--distinct 1000 --zipf 1.1"] {
        let drawn = lines(&format!("gen addresses -n 500000 {line}"));
        assert_eq!(drawn.len(), 500_000);
        let different: HashSet<Ipv4Addr> = drawn.iter().map(|text| text.parse().unwrap()).collect();
        let distinct: usize = line.split_whitespace().nth(1).unwrap().parse().unwrap();
        assert_eq!(different.len(), distinct);
        let host = |a: &Ipv4Addr| matches!(a.octets()[0], 1..=126 | 128..=223);
        assert!(different.iter().all(host));
    }
}

/// Without dots it is the same stream, and no two addresses become one.
#[test]
fn plain_addresses_are_the_same_addresses() {
    let dotted = lines("gen addresses -n 20000 --zipf 0.5");
    let plain = lines("gen addresses -n 20000 --zipf 0.5 --plain");
    for (dotted, plain) in dotted.iter().zip(&plain) {
        let [a, b, c, d] = dotted.parse::<Ipv4Addr>().unwrap().octets();
        assert_eq!(*plain, format!("{a:03}{b:03}{c:03}{d:03}"));
    }
}

#[test]
fn names_differ_and_are_short() {
    let class = lines("gen names -n 329");
    assert_eq!(class.concat().chars().count(), 927);
    let names = lines("gen names -n 300000 --seed 3");
    assert_eq!(names.iter().collect::<HashSet<_>>().len(), 300_000);
    assert!(names.iter().all(|name| (2..=3).contains(&name.chars().count())));
}

#[test]
fn a_file_gets_what_standard_output_gets() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("words.txt");
    let line = format!("gen strings -n 1000 -o {}", path.display());
    assert!(run(&line).is_empty());
    assert_eq!(std::fs::read(&path).unwrap(), run("gen strings -n 1000"));
    assert!(run(&line).is_empty(), "replaced");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = umbel("gen strings -n 100000000")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 31];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success());
    assert!(done.stderr.is_empty());
}
