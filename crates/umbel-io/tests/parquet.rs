//! Parquet files give the same filters as the same rows in a text file.

mod common;
#[path = "common/table.rs"]
mod table;

use std::path::{Path, PathBuf};

use common::{Folder, THREADS, build, built, driver, filters, key, key_by, plan, screened};
use parquet::basic::Compression;
use table::{Values, write_table};
use umbel_io::Shape;

/// Rows of a file in row groups of the given sizes: a text key, a rating, an integer.
fn sample(path: &Path, sizes: &[usize]) -> Vec<(String, f64, i64)> {
    let rows: Vec<_> = (0..sizes.iter().sum())
        .map(|i| (format!("key{i}"), (i * 37 % 101) as f64 / 10.0, i as i64 * 7 - 1000))
        .collect();
    let mut left = &rows[..];
    let mut groups = Vec::new();
    for &size in sizes {
        let (now, rest) = left.split_at(size);
        left = rest;
        groups.push(vec![
            Values::text(now.iter().map(|row| &row.0)),
            Values::Double(now.iter().map(|row| Some(row.1)).collect()),
            Values::Int64(now.iter().map(|row| Some(row.2)).collect()),
        ]);
    }
    let columns = "optional binary key (STRING); optional double rating; optional int64 id;";
    write_table(path, columns, Compression::SNAPPY, groups);
    rows
}

fn text_of(rows: &[(String, f64, i64)]) -> String {
    let rows = rows.iter().map(|(key, rating, id)| format!("{key}\t{rating}\t{id}\n"));
    "key\trating\tid\n".to_string() + &rows.collect::<String>()
}

#[test]
fn the_same_bytes_as_from_text_for_any_number_of_threads() {
    let folder = Folder::new();
    for (i, sizes) in [&[20_000][..], &[9000, 0, 1, 8192, 8193], &[100; 40]].into_iter().enumerate()
    {
        let table = folder.path(&format!("{i}.parquet"));
        let text = folder.write(&format!("{i}.tsv"), text_of(&sample(&table, sizes)));
        for shape in [key("key"), key_by("1", "rating", true), key("id")] {
            for n in [None, Some(30_000)] {
                let build = build(plan(n));
                let mut expected = built(&build, &driver(&text, &shape, 1));
                // A table's names are no line.
                expected.1.lines -= 1;
                for threads in THREADS {
                    let found = built(&build, &driver(&table, &shape, threads));
                    assert!(found == expected, "{sizes:?} {shape:?} {n:?} {threads} threads");
                }
            }
        }
    }
}

#[test]
fn screening_prints_the_keys_in_the_order_of_the_file() {
    let folder = Folder::new();
    let table = folder.path("t.parquet");
    let rows = sample(&table, &[5000, 300, 60_000, 1, 9000]);
    let text = folder.write("keys.txt", text_of(&rows[..30_000]));
    let (filter, _) = filters(&build(plan(None)), &driver(&text, &key("key"), 1));
    let all: String = rows.iter().map(|(key, ..)| format!("{key}\n")).collect();
    let list = folder.write("all.txt", all);
    let (admitted, rejected, _) = screened(&driver(&list, &Shape::default(), 1), &filter);
    for threads in THREADS {
        let found = screened(&driver(&table, &key("key"), threads), &filter);
        assert!(found.0 == admitted && found.1 == rejected, "{threads} threads");
        assert_eq!(found.2.tally.rows, rows.len() as u64);
    }
}

/// The order holds also when far more results wait than are kept: threads that are ahead stop.
#[test]
fn many_large_row_groups_keep_their_order() {
    let folder = Folder::new();
    let table = folder.path("t.parquet");
    let keys = |group: usize| (0..200_000).map(move |i| format!("{group}-{i}-{}", "x".repeat(40)));
    let groups = (0..3).map(|group| vec![Values::text(keys(group))]).collect();
    write_table(&table, "optional binary key;", Compression::LZ4_RAW, groups);
    let expected: String = (0..3).flat_map(keys).map(|key| key + "\n").collect();
    let nothing = folder.write("none.txt", "");
    let (filter, _) = filters(&build(plan(Some(1))), &driver(&nothing, &Shape::default(), 1));
    for threads in THREADS {
        let (_, rejected, _) = screened(&driver(&table, &Shape::default(), threads), &filter);
        assert!(rejected == expected.as_bytes(), "{threads} threads");
    }
}

#[test]
fn integers_are_text_or_64_bits() {
    let folder = Folder::new();
    let values = [0, 1, -1, i64::MIN, i64::MAX, 42, 1 << 40];
    let small = [0, 1, -1, i32::MIN, i32::MAX, 42, 1 << 20];
    let table = folder.path("t.parquet");
    let columns = "optional int64 s64; optional int64 u64 (INTEGER(64, false)); \
                   optional int32 s32; optional int32 u32 (INTEGER(32, false)); optional binary text;";
    let long = || Values::Int64(values.iter().copied().map(Some).collect());
    let short = || Values::Int32(small.iter().copied().map(Some).collect());
    let text = Values::text(values.iter().map(i64::to_string));
    write_table(
        &table,
        columns,
        Compression::UNCOMPRESSED,
        vec![vec![long(), long(), short(), short(), text]],
    );
    let lines = |numbers: Vec<String>| numbers.join("\n");
    for (column, expected) in [
        ("s64", lines(values.iter().map(i64::to_string).collect())),
        ("u64", lines(values.iter().map(|v| v.cast_unsigned().to_string()).collect())),
        ("s32", lines(small.iter().map(i32::to_string).collect())),
        ("u32", lines(small.iter().map(|v| v.cast_unsigned().to_string()).collect())),
        ("text", lines(values.iter().map(i64::to_string).collect())),
    ] {
        let text = folder.write("numbers.txt", &expected);
        for integers in [false, true] {
            let build = build(umbel_io::Plan { integers, ..plan(None) });
            let shape = Shape { integers, ..Shape::default() };
            let from_text = filters(&build, &driver(&text, &shape, 1)).0;
            let shape = Shape { integers, ..key(column) };
            let reading = driver(&table, &shape, 2);
            let from_table = filters(&build, &reading).0;
            assert_eq!(common::file_bytes(&from_table), common::file_bytes(&from_text), "{column}");
            // What is printed is the number, also where the key is its bits.
            let (admitted, ..) = screened(&reading, &from_table);
            assert_eq!(String::from_utf8(admitted).unwrap().trim_end(), expected, "{column}");
        }
    }
}

#[test]
fn nulls_and_empty_keys_are_counted() {
    let folder = Folder::new();
    let table = folder.path("t.parquet");
    let text = |text: &str| Some(text.as_bytes().to_vec());
    let first = vec![text("a"), text("b"), None, text("c")];
    let second = vec![text(""), text("d"), text("x"), text("e"), text("f")];
    let of_first = vec![Some(1.0), Some(2.5), Some(1.0), Some(0.5)];
    let of_second = vec![Some(7.0), None, Some(1.0), Some(f64::NAN), Some(1.2)];
    let groups = vec![
        vec![Values::Text(first), Values::Double(of_first)],
        vec![Values::Text(second), Values::Double(of_second)],
    ];
    let columns = "optional binary key (STRING); optional double rating;";
    write_table(&table, columns, Compression::BROTLI(Default::default()), groups);
    for threads in THREADS {
        let (_, tally) = built(&build(plan(None)), &driver(&table, &key("key"), threads));
        assert_eq!((tally.rows, tally.malformed), (7, 2));
        let (place, reason) = tally.first_malformed.unwrap();
        assert_eq!((place.unit, place.number, reason), ("row", 3, "the key is null"));
        let shape = key_by("key", "rating", true);
        let (groups, tally) = build(plan(None)).groups(&driver(&table, &shape, threads)).unwrap();
        // A group whose only row has no key is none.
        assert_eq!(groups.names().collect::<Vec<_>>(), ["1", "3"]);
        assert_eq!((tally.rows, tally.malformed), (5, 4));
    }
}

#[test]
fn floats_round_their_shortest_text() {
    let folder = Folder::new();
    let table = folder.path("t.parquet");
    let values: [f32; 6] = [2.5, -2.5, 0.499_999_97, 8.499_999, 16_777_216.0, -0.0];
    let groups = vec![vec![
        Values::text(["a", "b", "c", "d", "e", "f"]),
        Values::Float(values.map(Some).to_vec()),
        Values::Double(values.map(|value| Some(value.into())).to_vec()),
    ]];
    let columns = "optional binary key; optional float short; optional double long;";
    write_table(&table, columns, Compression::ZSTD(Default::default()), groups);
    for by in ["short", "long"] {
        let reading = driver(&table, &key_by("key", by, true), 1);
        let (groups, _) = build(plan(None)).groups(&reading).unwrap();
        assert_eq!(groups.names().collect::<Vec<_>>(), ["-2", "0", "3", "8", "16777216"]);
    }
}

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/pyarrow.parquet")
}

/// A file of pyarrow's: three row groups, each column under another codec, nulls among keys and ratings.
#[test]
fn reads_what_pyarrow_wrote() {
    let folder = Folder::new();
    let column = |row: fn(usize) -> String| (0..600).map(row).collect::<String>();
    let keys = folder.write(
        "key.txt",
        column(|i| match i % 50 {
            49 => String::new(),
            _ => format!("k{i:05}\n"),
        }),
    );
    let ids = folder.write("id.txt", column(|i| format!("{}\n", i as i64 * 7 - 1000)));
    let big = folder.write("big.txt", column(|i| format!("{}\n", u64::MAX - i as u64)));
    let words = folder.write(
        "word.tsv",
        column(|i| match i % 50 {
            49 => String::new(),
            _ => format!("k{i:05}\t{}\n", ["red", "green", "blue"][i % 3]),
        }),
    );
    let ratings = folder.write(
        "rating.tsv",
        column(|i| match i % 60 {
            59 => String::new(),
            _ => format!("{}\t{}\n", i as i64 * 7 - 1000, (i * 37 % 101) as f64 / 10.0),
        }),
    );
    let build = build(plan(None));
    for (shape, text, of_text, malformed) in [
        (key("key"), keys, Shape::default(), 12),
        (key("id"), ids, Shape::default(), 0),
        (key("5"), big, Shape::default(), 0),
        (key_by("key", "word", false), words, key_by("1", "2", false), 12),
        (key_by("2", "3", true), ratings, key_by("1", "2", true), 10),
    ] {
        let (expected, _) = built(&build, &driver(&text, &of_text, 1));
        for threads in THREADS {
            let (found, tally) = built(&build, &driver(&golden(), &shape, threads));
            assert!(found == expected, "{shape:?}");
            assert_eq!(tally.malformed, malformed);
        }
    }
}
