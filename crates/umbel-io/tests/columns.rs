//! Columns: by number and name, quoted or not, missing, grouped, rounded, as integers.

mod common;

use std::path::Path;

use common::{Folder, THREADS, build, driver, filters, key, key_by, plan, refused};
use proptest::prelude::*;
use umbel_io::{Driver, Error, Result, Shape, Tally};

type Rows = Vec<(Vec<u8>, Option<String>)>;

/// Keys and groups as the driver hands them out.
fn try_rows(driver: &Driver) -> Result<(Rows, Tally)> {
    let mut rows = Vec::new();
    let outcome = driver.run(
        || (),
        |(), batch| {
            let name = |i: usize| {
                batch.groups().get(i).map(|&at| batch.group_names()[at as usize].clone())
            };
            let row = |(i, row)| (batch.key(&row).to_vec(), name(i));
            Ok(batch.rows().enumerate().map(row).collect::<Vec<_>>())
        },
        |found| {
            rows.extend(found);
            Ok(())
        },
    )?;
    Ok((rows, outcome.tally))
}

fn rows(path: &Path, shape: &Shape) -> (Rows, Tally) {
    let expected = try_rows(&driver(path, shape, 1)).unwrap();
    for threads in THREADS {
        assert_eq!(try_rows(&driver(path, shape, threads)).unwrap(), expected, "{threads} threads");
    }
    expected
}

fn keys(path: &Path, shape: &Shape) -> Vec<String> {
    let text = |(key, _)| String::from_utf8(key).unwrap();
    rows(path, shape).0.into_iter().map(text).collect()
}

#[test]
fn by_number_and_by_name() {
    let folder = Folder::new();
    let tsv = folder.write("t.tsv", "id\tname\n1\tone\n2\ttwo\n");
    assert_eq!(keys(&tsv, &key("name")), ["one", "two"]);
    assert_eq!(keys(&tsv, &key("2")), ["name", "one", "two"]);
    assert_eq!(keys(&tsv, &Shape { header: true, ..key("2") }), ["one", "two"]);
    let crlf = folder.write("t.tsv", "id\tname\r\n1\tone\r\n");
    assert_eq!(keys(&crlf, &key("name")), ["one"]);
    let marked = folder.write("t.csv", "\u{FEFF}id,name\n1,one\n");
    assert_eq!(keys(&marked, &key("id")), ["1"]);
    let other = folder.write("t.txt", "a b\nc d");
    assert_eq!(keys(&other, &Shape { delimiter: Some(b' '), ..key("2") }), ["b", "d"]);
    let only_header = folder.write("t.csv", "id,name");
    assert!(keys(&only_header, &key("name")).is_empty());
}

#[test]
fn each_file_has_its_own_header() {
    let folder = Folder::new();
    let first = folder.write("a.tsv", "id\tname\n1\tone\n");
    let second = folder.write("b.csv", "name,id\ntwo,2\n");
    let reading = common::driver_over(&[first, second], &key("name"), 2);
    let (found, _) = try_rows(&reading).unwrap();
    assert_eq!(found, [(b"one".to_vec(), None), (b"two".to_vec(), None)]);
}

#[test]
fn a_column_that_is_not_there_is_an_error() {
    let folder = Folder::new();
    let path = folder.write("t.csv", "id,\"a,b\"\n1,2\n");
    let why = refused(&driver(&path, &key("name"), 2));
    assert!(why.contains("there is no column \"name\"") && why.contains("id, a,b"), "{why}");
}

#[test]
fn quoted_fields() {
    let folder = Folder::new();
    let csv = "id,\"the \"\"name\"\"\"\n1,\"a,b\"\n2,\"a\"\"b\"\n3,\"a\nb\"\n4,5\" disk\n5,3\" disk\n6,\"x\"\n";
    let path = folder.write("t.csv", csv);
    let expected = ["a,b", "a\"b", "a\nb", "5\" disk", "3\" disk", "x"];
    assert_eq!(keys(&path, &key("the \"name\"")), expected);
    // A tab-separated file has no such custom.
    let path = folder.write("t.tsv", "\"a\t\"b\"\n");
    assert_eq!(keys(&path, &key("2")), ["\"b\""]);
    // A whole line is a key as it stands.
    let path = folder.write("t.csv", "\"a\nb\",c\n");
    assert_eq!(keys(&path, &Shape::default()), ["\"a", "b\",c"]);
}

/// The mark of UTF-8 before a header whose first name stands in quotes, with a newline in them.
#[test]
fn a_mark_before_quotes() {
    let folder = Folder::new();
    for (name, text) in
        [("named.csv", "\u{FEFF}\"first\nname\",b\nx,1\n"), ("plain.csv", "\u{FEFF}\"x\",1\n")]
    {
        let path = folder.write(name, text);
        let shape = if name == "named.csv" { key("first\nname") } else { key("1") };
        let (filter, tally) = build(plan(None)).bloom(&driver(&path, &shape, 1)).unwrap();
        assert!(filter.contains(b"x") && tally.rows == 1, "{name}");
    }
}

#[test]
fn quotes_across_blocks() {
    let folder = Folder::new();
    let long = "long, \"quoted\" line\n".repeat(3000);
    let expected: Vec<String> =
        (0..200).map(|i| format!("{}{i}", &long[..i * 997 % long.len()])).collect();
    let record = |key: &String| format!("x,\"{}\"\n", key.replace('"', "\"\""));
    let text: String = expected.iter().map(record).collect();
    assert!(text.len() > 3 << 20);
    assert_eq!(keys(&folder.write("t.csv", &text), &key("2")), expected);
}

#[test]
fn missing_columns_are_counted_with_the_place_of_the_first() {
    let folder = Folder::new();
    let first = folder.write("a.csv", "k,v\na,1\nb,2\n");
    let second = folder.write("b.csv", "k,v\n\"c\nc\",1\nd\n,2\ne,3\n");
    let paths = [first, second.clone()];
    for threads in THREADS {
        let mut reading = common::driver_over(&paths, &key_by("k", "v", false), threads);
        let (_, tally) = try_rows(&reading).unwrap();
        assert_eq!((tally.rows, tally.malformed), (4, 2));
        let (place, reason) = tally.first_malformed.unwrap();
        // The record before it stands on two lines.
        let expected = format!("{}, line 4", second.display());
        assert_eq!((place.to_string(), reason), (expected.clone(), "a column is missing"));
        reading.strict = true;
        let why = try_rows(&reading).unwrap_err();
        assert!(matches!(&why, Error::Strict { .. }));
        assert!(why.to_string().starts_with(&format!("{expected}: a column is missing")));
    }
}

/// All lines that it swallows are, and the first is that of the quote, also where the record begins before it.
#[test]
fn a_quote_that_is_never_closed_is_counted() {
    let folder = Folder::new();
    for (text, line) in [("a,1\nb,2\nc,\"3\nd,4\n", 3), ("a,1\nb,2\n\"c\n\",\"3\nd,4", 4)] {
        let path = folder.write("t.csv", text);
        let (found, tally) = rows(&path, &key("1"));
        assert_eq!((found.len(), tally.malformed), (2, 2));
        let (place, reason) = tally.first_malformed.unwrap();
        assert_eq!((place.number, reason), (line, "a quote is not closed before the file ends"));
    }
}

/// What follows a closing quote belongs to nothing; also in a column that nobody asks for, for it may be the next row.
#[test]
fn something_behind_a_closing_quote_is_counted() {
    let folder = Folder::new();
    let good = "\"x\",\"1\"\r\n\"y\",\"2\"\n";
    for (bad, lost) in [
        ("\"a\"b,\"1\"\n", 1),
        ("\"a\",\"1\" \n", 1),
        ("\"a,\"1\"\n", 1),
        ("\"a\",\"1\n\"b\",\"2\"\n", 2),
    ] {
        let text = format!("{good}{bad}{good}");
        let path = folder.write("t.csv", &text);
        assert_eq!(text.lines().count() - lost, 4);
        for shape in [key("1"), key("2"), key_by("1", "2", false)] {
            for threads in THREADS {
                let mut reading = driver(&path, &shape, threads);
                let (found, tally) = try_rows(&reading).unwrap();
                assert_eq!((found.len(), tally.malformed), (4, 1), "{bad}");
                let (place, reason) = tally.first_malformed.unwrap();
                assert_eq!(place.number, 3, "{bad}");
                assert!(reason.starts_with("something follows a closing quote"), "{reason}");
                reading.strict = true;
                let why = try_rows(&reading).unwrap_err().to_string();
                assert!(why.contains(", line 3: something follows a closing quote"), "{why}");
            }
        }
    }
    let path = folder.write("t.csv", "\"id,\"name\"\n1,2\n");
    let why = refused(&driver(&path, &Shape { header: true, ..key("1") }, 1));
    assert!(why.contains(", line 1: in the header something follows a closing quote"), "{why}");
    // Without a custom of quotes they are letters.
    let path = folder.write("t.tsv", "\"a\"b\tc\n");
    assert_eq!(keys(&path, &key("1")), ["\"a\"b"]);
}

#[test]
fn a_name_that_two_columns_have_is_refused() {
    let folder = Folder::new();
    let path = folder.write("t.csv", "id,x,id\n1,2,3\n");
    for shape in [key("id"), key_by("x", "id", false)] {
        let why = refused(&driver(&path, &shape, 1));
        assert!(why.contains("columns 1 and 3 are both called \"id\""), "{why}");
    }
    assert_eq!(keys(&path, &key("x")), ["2"]);
    // Such a name is not remembered: it would lead nowhere.
    let (_, tally) = rows(&path, &Shape { header: true, ..key("1") });
    assert_eq!(tally.look.key, None);
}

#[test]
fn a_number_that_is_the_name_of_a_column() {
    let folder = Folder::new();
    let path = folder.write("t.csv", "id,2021,2\na,b,c\n");
    let why = refused(&driver(&path, &Shape { header: true, ..key("2021") }, 1));
    assert!(
        why.ends_with("it has: id, 2021, 2 (numbers are places: \"2021\" stands at 2)"),
        "{why}"
    );
    assert_eq!(keys(&path, &Shape { header: true, ..key("2") }), ["b"]);
}

#[test]
fn advice_is_about_what_is_wrong() {
    let folder = Folder::new();
    for (text, shape, expected) in [
        ("\n\n", Shape::default(), "is this the right input?"),
        ("a\nb\n", Shape { integers: true, ..Shape::default() }, "check --type and --key"),
        ("a\t\n", key_by("1", "2", false), "check --by, --round and -d"),
        ("a\n", key("2"), "check --key, --by and -d; a number is a place, counted from 1"),
    ] {
        let path = folder.write("t.tsv", text);
        let why = refused(&driver(&path, &shape, 1));
        assert!(why.ends_with(&format!("; {expected}")), "{why}");
    }
}

#[test]
fn groups_as_they_stand_and_rounded() {
    let folder = Folder::new();
    let path = folder.write("t.tsv", "a\t2.5\nb\t3.0\nc\t-2.5\nd\tx\ne\t9.49999999999999999\n");
    let (found, tally) = rows(&path, &key_by("1", "2", true));
    let groups: Vec<_> = found.iter().filter_map(|(_, group)| group.as_deref()).collect();
    assert_eq!(groups, ["3", "3", "-2", "9"]);
    assert_eq!(tally.first_malformed.unwrap().1, "the group is not a number");
    let (found, _) = rows(&path, &key_by("1", "2", false));
    assert_eq!(found[0].1.as_deref(), Some("2.5"));
    let path = folder.write("t.tsv", "a\té\nb\tx\n");
    assert_eq!(rows(&path, &key_by("1", "2", false)).1.malformed, 0);
    let path = folder.write("t.tsv", b"a\t\xC3\nb\tx\nc\t\nd\tx\n");
    let (_, tally) = rows(&path, &key_by("1", "2", false));
    assert_eq!((tally.malformed, tally.first_malformed.unwrap().1), (2, "the group is not UTF-8"));
}

/// A row that cannot be used makes no group, wherever it stands.
#[test]
fn a_group_needs_a_key() {
    let folder = Folder::new();
    for text in ["\tempty\na\tx\nb\tx\n", "a\tx\nb\tx\n\tempty\n"] {
        let path = folder.write("t.tsv", text);
        for threads in THREADS {
            let reading = driver(&path, &key_by("1", "2", false), threads);
            let (groups, _) = build(plan(None)).groups(&reading).unwrap();
            assert_eq!(groups.names().collect::<Vec<_>>(), ["x"]);
        }
    }
}

#[test]
fn integers() {
    let folder = Folder::new();
    let path = folder.write("t.csv", "\"7\",\"8\"\n-1,x\n18446744073709551615,x\n1.5,x\n007,x\n");
    let shape = Shape { integers: true, ..key_by("1", "2", false) };
    let (found, tally) = rows(&path, &shape);
    let numbers: Vec<u64> =
        found.iter().map(|(key, _)| u64::from_le_bytes(key[..].try_into().unwrap())).collect();
    assert_eq!(numbers, [7, u64::MAX, u64::MAX, 7]);
    assert_eq!(tally.first_malformed.unwrap().1, "the key is not a 64-bit integer");
    let build = build(umbel_io::Plan { integers: true, ..plan(None) });
    let (filter, _) = filters(&build, &driver(&path, &Shape { integers: true, ..key("1") }, 2));
    let umbel_io::Filters::One(filter) = filter else { panic!("no group was asked for") };
    assert!(filter.contains_u64(7) && filter.contains_u64(u64::MAX));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever the fields hold: written with quotes, they are read back.
    #[test]
    fn quoted_fields_are_read_back(fields in prop::collection::vec(("[a,\"\n\r;x]{1,9}", "[a,\"\n\r;x]{0,9}"), 1..60)) {
        let folder = Folder::new();
        let quote = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        let text: String = fields.iter().map(|(a, b)| format!("{},{}\n", quote(b), quote(a))).collect();
        let path = folder.write("t.csv", text);
        let expected: Vec<String> = fields.into_iter().map(|(a, _)| a).collect();
        prop_assert_eq!(keys(&path, &key("2")), expected);
    }
}
