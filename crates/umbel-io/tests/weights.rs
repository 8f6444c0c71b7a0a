//! The weight column: in text, quoted or not, and in Parquet.

mod common;
#[path = "common/table.rs"]
mod table;

use std::path::Path;

use common::{Folder, THREADS, driver, key_by};
use parquet::basic::Compression;
use table::{Values, write_table};
use umbel_io::{Driver, Shape, Tally};

type Rows = Vec<(String, String, u64)>;

fn weighted(column: &str) -> Shape {
    Shape { weight: Some(column.parse().unwrap()), ..key_by("key", "by", false) }
}

/// Keys, groups and weights as the driver hands them out.
fn rows_of(driver: &Driver) -> (Rows, Tally) {
    let mut rows = Vec::new();
    let outcome = driver.run(
        || (),
        |(), batch| {
            let name = |at: u32| batch.group_names()[at as usize].clone();
            let text = |row| String::from_utf8(batch.key(&row).to_vec()).unwrap();
            let parts = batch.rows().zip(batch.groups()).zip(batch.weights());
            Ok(parts
                .map(|((row, &group), &weight)| (text(row), name(group), weight))
                .collect::<Vec<_>>())
        },
        |found| {
            rows.extend(found);
            Ok(())
        },
    );
    (rows, outcome.unwrap().tally)
}

fn rows(path: &Path) -> (Rows, Tally) {
    let expected = rows_of(&driver(path, &weighted("weight"), 1));
    for threads in THREADS {
        assert_eq!(rows_of(&driver(path, &weighted("weight"), threads)), expected);
    }
    expected
}

fn row(key: &str, by: &str, weight: u64) -> (String, String, u64) {
    (key.into(), by.into(), weight)
}

#[test]
fn of_text() {
    let folder = Folder::new();
    let expected = [row("a", "x", 3), row("b", "y", 0), row("c", "x", u64::MAX)];
    let tsv =
        folder.write("t.tsv", "by\tweight\tkey\nx\t3\ta\r\ny\t0\tb\nx\t18446744073709551615\tc\n");
    assert_eq!(rows(&tsv).0, expected);
    let csv =
        folder.write("t.csv", "weight,key,by\n\"3\",\"a\",x\n0,b,y\n18446744073709551615,c,x\n");
    assert_eq!(rows(&csv).0, expected);
}

#[test]
fn that_is_none_is_counted_with_its_line() {
    let folder = Folder::new();
    let lines = "x\t1\ta\nx\t-1\tb\nx\t1.5\tc\nx\t\td\nx\t18446744073709551616\te\nx\t2\tf\nx\n";
    let good = "x\t7\tg\n".repeat(10);
    let tsv = folder.write("t.tsv", format!("by\tweight\tkey\n{lines}{good}"));
    let (found, tally) = rows(&tsv);
    assert_eq!(found.len(), 12);
    assert_eq!(found.iter().map(|row| row.2).sum::<u64>(), 73);
    assert_eq!(tally.malformed, 5);
    let (place, reason) = tally.first_malformed.unwrap();
    assert_eq!(place.number, 3);
    assert!(reason.contains("weight is not a whole number"), "{reason}");
}

#[test]
fn of_parquet() {
    let folder = Folder::new();
    let path = folder.path("t.parquet");
    let values = vec![
        Values::text(["a", "b", "c", "d"].iter()),
        Values::text(["x", "y", "x", "x"].iter()),
        Values::Int64(vec![Some(3), Some(0), Some(-1), None]),
    ];
    let columns =
        "optional binary key (STRING); optional binary by (STRING); optional int64 weight;";
    write_table(&path, columns, Compression::SNAPPY, vec![values]);
    let (found, tally) = rows(&path);
    assert_eq!(found, [row("a", "x", 3), row("b", "y", 0)]);
    assert_eq!(tally.malformed, 2);
}
