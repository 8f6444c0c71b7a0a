//! Numbers from text and tables, stored and asked for: the same for any number of threads and any split.

mod common;
#[path = "common/table.rs"]
mod table;

use std::path::{Path, PathBuf};

use common::{Folder, THREADS, driver, driver_over, key};
use parquet::basic::Compression;
use table::{Values, write_table};
use umbel::near::{Grid, Near};
use umbel_io::near::{Kept, Wish, build, fill, nearest, query};
use umbel_io::screen::Wanted;
use umbel_io::{Shape, Tally};

fn grid() -> Grid {
    Grid::floats(0.5, 0.01).unwrap()
}

fn numbers(shape: Shape, grid: Grid) -> Shape {
    Shape { numbers: Some(grid), ..shape }
}

fn wish(kept: Kept) -> Wish {
    Wish { grid: grid(), p: 0.01, seed: 3, kept }
}

/// Numbers with two decimals, most of them different, some lines that are none.
fn lines(n: u64) -> Vec<String> {
    let line = |i: u64| match i % 1000 {
        17 => "nothing".into(),
        18 => "NaN".into(),
        _ => format!("{:.2}", (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as f64 / 100.0),
    };
    (0..n).map(line).collect()
}

fn text(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn bytes(built: (Near, Tally)) -> (Vec<u8>, Tally) {
    (built.0.to_bytes().unwrap(), built.1)
}

#[test]
fn the_same_bytes_for_any_threads_and_split() {
    let folder = Folder::new();
    let all = lines(60_000);
    let (a, b) = all.split_at(23_456);
    let whole = folder.write("all", text(&all));
    let parts = [folder.write("a", text(a)), folder.write("b", text(b).trim_end())];
    let shape = numbers(Shape::default(), grid());
    let growing = |n| {
        let params = umbel::near::Params::new(grid(), n, 0.01).unwrap().with_seed(3);
        Near::growing_with(params).unwrap()
    };
    for kept in [Kept::Smallest, Kept::Exactly, Kept::Growing] {
        let expected = bytes(build(&driver(&whole, &shape, 1), &wish(kept)).unwrap());
        let place = &expected.1.first_malformed.as_ref().unwrap().0;
        assert_eq!((expected.1.malformed, place.number), (120, 18));
        for threads in THREADS {
            for files in [&[whole.clone()][..], &parts] {
                let found = build(&driver_over(files, &shape, threads), &wish(kept)).unwrap();
                let (bytes, tally) = bytes(found);
                assert!(bytes == expected.0, "{kept:?} {threads} threads");
                assert_eq!((tally.rows, tally.malformed), (59_880, 120));
            }
        }
    }
    let expected = bytes(fill(&driver(&whole, &shape, 1), growing(60_000)).unwrap()).0;
    for threads in THREADS {
        for files in [&[whole.clone()][..], &parts] {
            let found = fill(&driver_over(files, &shape, threads), growing(60_000)).unwrap();
            assert!(bytes(found).0 == expected, "{threads} threads");
        }
    }
}

/// Lines with a neighbour, lines without, and what is nearest.
fn asked(path: &Path, shape: &Shape, near: &Near, threads: usize) -> [String; 3] {
    let (mut yes, mut no, mut lines) = (Vec::new(), Vec::new(), Vec::new());
    let wanted = Wanted { admitted: true, rejected: true };
    let driver = driver(path, shape, threads);
    let summary = query(&driver, near, 0.5, wanted, |screened| {
        yes.extend(&screened.admitted);
        no.extend(&screened.rejected);
        Ok(())
    });
    let count = |bytes: &[u8]| bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
    let summary = summary.unwrap();
    assert_eq!((summary.admitted, summary.rejected()), (count(&yes), count(&no)));
    let (found, _) = nearest(&driver, near, 0.5, |more| {
        lines.extend(more);
        Ok(())
    })
    .unwrap();
    assert_eq!((found, found), (count(&yes), count(&lines)));
    [yes, no, lines].map(|bytes| String::from_utf8(bytes).unwrap())
}

#[test]
fn answers_are_the_same_for_any_threads() {
    let folder = Folder::new();
    let stored = folder.write("stored", text(&lines(20_000)));
    let path = folder.write("asked", text(&lines(100_000)[15_000..]));
    let shape = numbers(Shape::default(), grid());
    let (near, _) = build(&driver(&stored, &shape, 1), &wish(Kept::Exactly)).unwrap();
    let expected = asked(&path, &shape, &near, 1);
    assert!(expected.iter().all(|lines| lines.len() > 10_000));
    for threads in THREADS {
        assert!(asked(&path, &shape, &near, threads) == expected, "{threads} threads");
    }
}

/// A table gives what its text gives: floats of both sizes, integers, decimal text; nulls and what is not finite are no
/// numbers.
#[test]
fn tables_are_read_as_their_text() {
    let folder = Folder::new();
    let count = 20_000;
    let value = |i: u32| f64::from(i.wrapping_mul(2_654_435_761)) / 64.0;
    let singles = |i: u32| (i % 100 != 7).then(|| value(i) as f32 * 1.1);
    let doubles = |i: u32| match i % 100 {
        7 => None,
        8 => Some(f64::NAN),
        9 => Some(f64::NEG_INFINITY),
        10 => Some(1e300),
        _ => Some(-1.1 * value(i)),
    };
    let wholes = |i: u32| (i % 100 != 7).then(|| i64::from(i) * 1_000_003 - 5_000_000_000);
    let table = folder.path("t.parquet");
    let values = vec![
        Values::Float((0..count).map(singles).collect()),
        Values::Double((0..count).map(doubles).collect()),
        Values::Int64((0..count).map(wholes).collect()),
        Values::text((0..count).map(|i| value(i).to_string())),
    ];
    let columns = "optional float single; optional double double; optional int64 whole; \
        optional binary text (STRING);";
    write_table(&table, columns, Compression::SNAPPY, vec![values]);
    let cell = |text: Option<String>| text.unwrap_or_default();
    let rows: String = (0..count)
        .map(|i| {
            let single = cell(singles(i).map(|x| x.to_string()));
            let double = cell(doubles(i).map(|x| x.to_string()));
            let whole = cell(wholes(i).map(|x| x.to_string()));
            format!("{single}\t{double}\t{whole}\t{}\n", value(i))
        })
        .collect();
    let list: PathBuf = folder.write("t.tsv", format!("single\tdouble\twhole\ttext\n{rows}"));
    let integers = Grid::integers(1000, 10).unwrap();
    for (column, grid, malformed) in [
        ("single", grid(), 200),
        ("double", grid(), 800),
        ("whole", grid(), 200),
        ("whole", integers, 200),
        ("text", grid(), 0),
    ] {
        let shape = numbers(key(column), grid);
        let wish = Wish { grid, ..wish(Kept::Exactly) };
        let (expected, _) = build(&driver(&list, &shape, 1), &wish).unwrap();
        for threads in THREADS {
            let (found, tally) = build(&driver(&table, &shape, threads), &wish).unwrap();
            assert!(found == expected, "{column}, {threads} threads");
            assert_eq!((tally.rows, tally.malformed), (20_000 - malformed, malformed), "{column}");
        }
    }
    // Asked, its rows are printed as they are.
    let shape = numbers(key("double"), grid());
    let (near, _) = build(&driver(&table, &shape, 2), &wish(Kept::Smallest)).unwrap();
    let [yes, no, _] = asked(&table, &shape, &near_exact(&table, &shape), 2);
    let finite = (0..count).filter_map(doubles).filter(|x| x.abs() < 1e100);
    assert_eq!((yes, no.as_str()), (finite.map(|x| format!("{x}\n")).collect(), ""));
    assert!(near.contains(-1.1 * value(1)).unwrap());
}

fn near_exact(path: &Path, shape: &Shape) -> Near {
    build(&driver(path, shape, 1), &wish(Kept::Exactly)).unwrap().0
}
