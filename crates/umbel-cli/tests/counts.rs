//! Exact counts: of a real table, and of a made one with rows that cannot be used.

#![allow(clippy::unwrap_used)]

mod support;

use std::collections::{BTreeMap, HashSet};
use std::io::Read;

use serde_json::Value;
use support::{Folder, fixture};
use umbel::Groups;

/// The rows of each group, as awk counts them: '{ n[int($2 + 0.5)]++ }'.
const SAMPLE: [u64; 10] = [107, 881, 2979, 7064, 14_082, 23_832, 23_361, 6882, 753, 30];
const MADE: [u64; 10] =
    [2546, 6623, 17_937, 43_912, 103_292, 220_871, 373_321, 355_416, 113_980, 16_286];
const COLUMNS: &str = "--key tconst --by averageRating --round";

fn sample() -> String {
    let file = std::fs::File::open(fixture("data/ratings-sample.tsv.gz")).unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    text
}

/// The group of a row in another way than the command's: in tenths, which is all that ratings have.
fn group(row: &str) -> Option<u64> {
    let fields: Vec<&str> = row.split('\t').collect();
    let [title, rating, ..] = fields[..] else { return None };
    let (whole, tenth) = rating.split_once('.')?;
    let tenths = 10 * whole.parse::<u64>().ok()? + tenth.parse::<u64>().ok()?;
    (!title.is_empty()).then_some((tenths + 5) / 10)
}

/// A number of each group, from the objects of a JSON array.
fn by_group(objects: &Value, key: &str) -> Vec<u64> {
    let objects = objects.as_array().unwrap();
    let names: Vec<&str> = objects.iter().map(|object| object["group"].as_str().unwrap()).collect();
    assert_eq!(names, ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]);
    objects.iter().map(|object| object[key].as_u64().unwrap()).collect()
}

#[test]
fn the_sample_has_its_counts() {
    let text = sample();
    assert_eq!(text.lines().count(), 1 + 79_971);
    let folder = Folder::new();
    let sample = fixture("data/ratings-sample.tsv.gz");
    let sample = sample.to_str().unwrap();
    for layout in ["classic", "blocked"] {
        let sizes = folder.json(&format!("size {sample} {COLUMNS} --layout {layout} --json"));
        assert_eq!(by_group(&sizes, "rows"), SAMPLE);
        assert_eq!(by_group(&sizes, "n"), SAMPLE, "titles are distinct: n is exact");
        folder.run(&format!("build {sample} {COLUMNS} --layout {layout} -o ratings.umbel"));
        let groups = folder.json("info ratings.umbel --check --json")["groups"].take();
        for key in ["n", "inserted"] {
            assert_eq!(by_group(&groups, key), SAMPLE);
        }
        for key in ["m", "k"] {
            assert_eq!(by_group(&groups, key), by_group(&sizes, key), "what size says is built");
        }
    }
}

/// The audit against a count of our own: every distinct title asked of every group, one by one.
#[test]
fn the_audit_of_the_sample_is_exact() {
    let text = sample();
    let mut titles: BTreeMap<u64, HashSet<&str>> = BTreeMap::new();
    for row in text.lines().skip(1) {
        let title = row.split('\t').next().unwrap();
        titles.entry(group(row).unwrap()).or_default().insert(title);
    }
    let folder = Folder::new();
    folder.write("ratings.tsv", &text);
    for filter in ["-p 0.01", "-p 0.001 --layout classic", "--hash murmur3", "-p 0.2 --seed 5"] {
        folder.run(&format!("build ratings.tsv {COLUMNS} {filter} -o ratings.umbel"));
        let groups = Groups::open(folder.path("ratings.umbel")).unwrap();
        let asked = |group: u64| {
            let filter = groups.get(&group.to_string()).unwrap();
            let others = titles.iter().filter(|(other, _)| **other != group);
            let mut strangers = others.flat_map(|(_, titles)| titles);
            assert!(titles[&group].iter().all(|title| filter.contains(title.as_bytes())));
            let strangers_count: usize = titles.values().map(HashSet::len).sum();
            let strangers_count = (strangers_count - titles[&group].len()) as u64;
            let positives =
                strangers.by_ref().filter(|t| filter.contains(t.as_bytes())).count() as u64;
            (positives, strangers_count - positives)
        };
        let expected: Vec<(u64, u64)> = (1..=10).map(asked).collect();
        for memory in ["2G", "64K"] {
            let audit =
                folder.json(&format!("audit ratings.umbel ratings.tsv --memory {memory} --json"));
            assert_eq!(audit["holds"], true, "{filter}");
            let filters = &audit["filters"];
            assert_eq!(by_group(filters, "true_positives"), SAMPLE);
            assert_eq!(by_group(filters, "false_negatives"), [0; 10]);
            let positives = by_group(filters, "false_positives");
            let negatives = by_group(filters, "true_negatives");
            let found: Vec<(u64, u64)> = positives.into_iter().zip(negatives).collect();
            assert_eq!(found, expected, "{filter}, {memory}");
        }
    }
}

/// One filter: members and a flow that overlap, both with duplicates.
#[test]
fn the_audit_of_one_filter_is_exact() {
    let folder = Folder::new();
    let members = support::words(20_000, "member");
    let strangers = support::words(50_000, "stranger");
    folder.write("members.txt", support::text(&members).repeat(2));
    folder.write(
        "flow.txt",
        support::text(&[&strangers[..], &members[..7000], &strangers[..9000]].concat()),
    );
    folder.run("build members.txt -n 20000 -p 0.05 -o members.umbel");
    let filter = umbel::Bloom::open(folder.path("members.umbel")).unwrap();
    let positives = strangers.iter().filter(|key| filter.contains(key.as_bytes())).count();
    let audit = folder.json("audit members.umbel flow.txt --members members.txt --json");
    let counts = &audit["filters"][0];
    assert_eq!(counts["true_positives"], 20_000);
    assert_eq!(counts["false_negatives"], 0);
    assert_eq!(counts["false_positives"], positives);
    assert_eq!(counts["true_negatives"], 50_000 - positives);
}

#[test]
fn malformed_rows_are_counted_and_placed() {
    let folder = Folder::new();
    folder.run("gen ratings --seed 3 --malformed 1000 -o ratings.tsv");
    let text = String::from_utf8(folder.read("ratings.tsv")).unwrap();
    let malformed = text.lines().skip(1).position(|row| group(row).is_none()).unwrap() + 2;
    let warning = format!(
        "umbel: warning: 1 000 rows were not used; the first: ratings.tsv, line {malformed}: "
    );
    let warns = |line: &str| {
        let output = folder.ends(0, line);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.starts_with(&warning) && said.lines().count() == 1, "{line}: {said}");
        output.stdout
    };
    let sizes = warns(&format!("size ratings.tsv {COLUMNS} --layout classic --json"));
    assert_eq!(by_group(&serde_json::from_slice(&sizes).unwrap(), "rows"), MADE);
    warns(&format!("build ratings.tsv {COLUMNS} -o ratings.umbel"));
    let info = folder.json("info ratings.umbel --json");
    assert_eq!(by_group(&info["groups"], "inserted"), MADE);
    let audit: Value =
        serde_json::from_slice(&warns("audit ratings.umbel ratings.tsv --json")).unwrap();
    assert_eq!(by_group(&audit["filters"], "true_positives"), MADE);

    let line = format!("build ratings.tsv {COLUMNS} --strict -o other.umbel");
    let said = String::from_utf8(folder.ends(2, &line).stderr).unwrap();
    assert!(said.starts_with(&format!("umbel: ratings.tsv, line {malformed}: ")), "{said}");
    assert_eq!(folder.names(), ["ratings.tsv", "ratings.umbel"]);
}

/// Rows that cannot be used are an error when they are more than the others, not when they are as many.
#[test]
fn most_rows_malformed_is_an_error() {
    let folder = Folder::new();
    folder.write("half.tsv", "a\t1\nb\t2\nc\nd\n");
    folder.write("most.tsv", "a\t1\nb\t2\nc\nd\ne\n");
    folder.ends(0, "build half.tsv --key 2 -o x.umbel");
    let said =
        String::from_utf8(folder.ends(2, "build most.tsv --key 2 -o x.umbel").stderr).unwrap();
    assert!(said.contains("3 of 5, the first is most.tsv, line 3"), "{said}");
}
