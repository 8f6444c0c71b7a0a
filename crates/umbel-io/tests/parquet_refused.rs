//! What of Parquet is refused, and how.

mod common;
#[path = "common/table.rs"]
mod table;

use common::{Folder, driver, key, key_by, refused};
use parquet::basic::Compression;
use table::{Values, write_table};
use umbel_io::Shape;

const COLUMNS: &str = "optional binary key (STRING); optional double rating; \
    optional int32 day (DATE); optional int64 time (TIMESTAMP(MILLIS, true)); \
    optional int32 price (DECIMAL(9, 2)); repeated int32 list;";

fn sample(folder: &Folder) -> std::path::PathBuf {
    let path = folder.path("t.parquet");
    let group = vec![
        Values::text(["a", "b"]),
        Values::Double(vec![Some(1.0), Some(2.0)]),
        Values::Int32(vec![Some(1), Some(2)]),
        Values::Int64(vec![Some(1), Some(2)]),
        Values::Int32(vec![Some(1), Some(2)]),
    ];
    let columns = COLUMNS.replace(" repeated int32 list;", "");
    write_table(&path, &columns, Compression::SNAPPY, vec![group]);
    path
}

#[test]
fn columns_that_cannot_be_used_are_named() {
    let folder = Folder::new();
    let path = sample(&folder);
    let name = path.display();
    let why = |shape: &Shape| refused(&driver(&path, shape, 2)).replace(&format!("{name}: "), "");
    let kinds = "a key or group is text, bytes or an integer (a group with --round a float too)";
    assert_eq!(why(&key("day")), format!("column day is DATE; {kinds}"));
    assert_eq!(why(&key("4")), format!("column time is TIMESTAMP; {kinds}"));
    assert_eq!(why(&key_by("key", "price", false)), format!("column price is DECIMAL; {kinds}"));
    let all = "key, rating, day, time, price";
    assert_eq!(why(&key("kay")), format!("there is no column \"kay\"; it has: {all}"));
    assert_eq!(why(&key("6")), format!("there is no column \"6\"; it has: {all}"));
    assert_eq!(
        why(&Shape::default()),
        format!(
            "it has several columns, name the key's with --key (of a file for --exact, with --exact-key); they are {all}"
        )
    );
    assert!(
        why(&key("rating")).starts_with("a column of floating-point numbers cannot be the key")
    );
    assert!(why(&key_by("key", "rating", false)).ends_with("only with --round"));
}

#[test]
fn lists_are_refused_by_name() {
    let folder = Folder::new();
    let path = folder.path("t.parquet");
    write_table(&path, COLUMNS, Compression::SNAPPY, vec![]);
    let why = refused(&driver(&path, &key("list"), 1));
    assert!(why.contains("column list is a list, map or struct"), "{why}");
}

#[test]
fn within_a_compressed_file_it_is_refused() {
    let folder = Folder::new();
    let plain = std::fs::read(sample(&folder)).unwrap();
    let path = folder.write("t.parquet.zst", zstd::encode_all(&plain[..], 1).unwrap());
    let why = refused(&driver(&path, &key("key"), 2));
    assert!(why.ends_with("name a plain file"), "{why}");
}

#[test]
fn a_file_cut_short_is_refused_wherever_it_ends() {
    let folder = Folder::new();
    let whole = std::fs::read(sample(&folder)).unwrap();
    for len in 5..whole.len() {
        let path = folder.write("cut.parquet", &whole[..len]);
        let why = refused(&driver(&path, &key("key"), 1));
        assert!(why.contains("cannot be read as Parquet"), "{len}: {why}");
    }
}

/// Whatever byte is changed: an error or other rows, and no panic.
#[test]
fn damaged_bytes_never_panic() {
    let folder = Folder::new();
    let whole = std::fs::read("tests/data/pyarrow.parquet").unwrap();
    let mut refusals = 0;
    for at in (4..whole.len()).step_by(5) {
        let mut bytes = whole.clone();
        bytes[at] ^= [0x01, 0x80, 0xFF][at % 3];
        let path = folder.write("damaged.parquet", &bytes);
        let reading = driver(&path, &key_by("key", "rating", true), 1);
        refusals += usize::from(umbel_io::build::census(&reading).is_err());
    }
    assert!(refusals > whole.len() / 50, "{refusals}");
}

/// Text may begin with the magic: it is Parquet only with the magic at both ends, or the page that follows.
#[test]
fn a_text_that_begins_like_parquet_is_text() {
    let folder = Folder::new();
    for text in ["PAR1\n", "PAR1", "PAR10\nPAR11\nPAR12\nPAR13\n", "PAR1\nPAR1"] {
        let path = folder.write("keys.txt", text);
        let (census, _) = umbel_io::build::census(&driver(&path, &Shape::default(), 1)).unwrap();
        assert_eq!(census.all.rows(), text.lines().count() as u64, "{text:?}");
    }
}
