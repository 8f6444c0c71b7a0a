//! Lines as they come: ends, odd bytes, lengths.

mod common;

use std::time::Instant;

use common::{Folder, THREADS, build, driver, driver_over, key, plan, refused, screened};
use umbel_io::build::census;
use umbel_io::{Filters, Shape};

/// The keys that a text holds, as the driver hands them out.
fn keys(text: &[u8], shape: &Shape, threads: usize) -> Vec<Vec<u8>> {
    let folder = Folder::new();
    let path = folder.write("input", text);
    let mut keys = Vec::new();
    let outcome = driver(&path, shape, threads).run(
        || (),
        |(), batch| Ok(batch.rows().map(|row| batch.key(&row).to_vec()).collect::<Vec<_>>()),
        |found| {
            keys.extend(found);
            Ok(())
        },
    );
    outcome.unwrap();
    keys
}

#[test]
fn ends_of_lines() {
    for (text, expected) in [
        (&b"a\nb\n"[..], vec![&b"a"[..], b"b"]),
        (b"a\nb", vec![b"a", b"b"]),
        (b"a\r\nb\r\n", vec![b"a", b"b"]),
        (b"a\r\nb\r", vec![b"a", b"b"]),
        (b"a\r\r\nb\rc\n", vec![b"a\r", b"b\rc"]),
        (b"", vec![]),
        (b"\xEF\xBB\xBF", vec![]),
        (b"a", vec![b"a"]),
        (b"\0\n\xFF\xFE\n\x80a\0b\n", vec![b"\0", b"\xFF\xFE", b"\x80a\0b"]),
        (b" a \t\n", vec![b" a \t"]),
        // The mark of UTF-8 belongs to no key; inside the text it is like any other bytes.
        (b"\xEF\xBB\xBFa\n\xEF\xBB\xBFb\n", vec![b"a", b"\xEF\xBB\xBFb"]),
    ] {
        for threads in THREADS {
            assert_eq!(keys(text, &Shape::default(), threads), expected, "{}", text.escape_ascii());
        }
    }
}

#[test]
fn an_empty_file_makes_a_filter_for_one_key() {
    let folder = Folder::new();
    for text in ["", "\u{FEFF}"] {
        let path = folder.write("empty", text);
        for shape in [Shape::default(), key("1"), key("name")] {
            let (filter, tally) = build(plan(None)).bloom(&driver(&path, &shape, 3)).unwrap();
            assert_eq!((filter.sizing().capacity(), filter.inserted()), (1, Some(0)));
            assert_eq!((tally.rows, tally.malformed), (0, 0));
        }
    }
}

/// The others keep their keys and their lines, in blocks where all lines end alike and where they do not, from the first block on.
#[test]
fn lines_without_a_key_are_left_out_and_counted() {
    let (folder, mark) = (Folder::new(), "\u{FEFF}");
    for (before, number) in
        [("", 3), ("a line, \r\nanother\n", 5), (&"many\n".repeat(50_000), 50_003)]
    {
        for (text, kept, left_out) in [
            ("k1\nk2\n\nk3\n", "k1\nk2\nk3\n", 1),
            ("k1\nk2\r\n\r\nk3\n\n\rk\n\r\nk4\r\n", "k1\nk2\r\nk3\n\rk\nk4\r\n", 3),
        ] {
            let path = folder.write("left_out", [mark, before, text].concat());
            let expected = [before, kept].concat();
            for threads in THREADS {
                let reading = driver(&path, &Shape::default(), threads);
                let mut lines = Vec::new();
                let outcome = reading.run(
                    || (),
                    |(), batch| {
                        Ok(batch.rows().flat_map(|row| batch.line(&row).to_vec()).collect())
                    },
                    |found: Vec<u8>| {
                        lines.extend(found);
                        Ok(())
                    },
                );
                let outcome = outcome.unwrap();
                assert!(lines == expected.as_bytes(), "{text:?}, {threads} threads");
                let (place, reason) = outcome.tally.first_malformed.unwrap();
                assert_eq!((place.number, reason), (number, "the key is empty"));
                assert_eq!(outcome.tally.malformed, left_out);
                assert_eq!(outcome.tally.rows, expected.matches('\n').count() as u64);
            }
        }
    }
}

#[test]
fn only_newlines_is_an_error() {
    let folder = Folder::new();
    let path = folder.write("newlines", "\n\r\n\n");
    for threads in THREADS {
        let why = refused(&driver(&path, &Shape::default(), threads));
        assert!(why.contains("most rows cannot be used: 3 of 3"), "{why}");
        assert!(why.contains(&format!("{}, line 1: the key is empty", path.display())), "{why}");
    }
}

#[test]
fn lines_longer_than_a_block() {
    let lengths = [1, 262_143, 262_144, 262_145, 700_000, 3, 5 << 20, 2];
    let line = |(i, &len): (usize, &usize)| vec![b'a' + i as u8; len];
    let expected: Vec<Vec<u8>> = lengths.iter().enumerate().map(line).collect();
    for end in [&b"\n"[..], b""] {
        let text = [&expected.join(&b'\n'), end].concat();
        for threads in THREADS {
            assert!(keys(&text, &Shape::default(), threads) == expected, "{threads} threads");
        }
    }
}

/// The limit is the same wherever in the file the line stands, and with or without a newline behind it.
#[test]
fn the_limit_of_a_line_is_exact() {
    const LIMIT: usize = 16 << 20;
    let folder = Folder::new();
    let other = folder.write("other.txt", "other\nlines\n");
    let many = "many\n".repeat(100_000);
    // The mark of UTF-8 is no part of its line.
    for before in ["", "a\n", "some lines\nbefore it\n", &many, "\u{FEFF}", "\u{FEFF}a\n"] {
        for after in ["", "\n", "\nb\n", "\r", "\r\n", "\r\nb\n"] {
            let text = |len| [before.as_bytes(), &vec![b'x'; len], after.as_bytes()].concat();
            let path = folder.write("long.txt", text(LIMIT));
            let (counted, _) = census(&driver(&path, &Shape::default(), 2)).unwrap();
            assert!(counted.all.rows() >= 1);
            let path = folder.write("long.txt", text(LIMIT + 1));
            let number = before.matches('\n').count() + 1;
            let expected = format!(
                "{}, line {number}: the line is longer than {LIMIT} bytes; is this a text file?",
                path.display()
            );
            for inputs in [vec![path.clone()], vec![other.clone(), path]] {
                let why = refused(&driver_over(&inputs, &Shape::default(), 2));
                assert!(why.starts_with(&expected), "{number} {after:?}: {why}");
            }
        }
    }
}

/// The same for a record in quotes, which are part of it.
#[test]
fn the_limit_of_a_quoted_record_is_exact() {
    const LIMIT: usize = 16 << 20;
    let folder = Folder::new();
    for (before, after) in [("", "\r\n"), ("\u{FEFF}", ""), ("\u{FEFF}", "\r\n")] {
        let text = |len: usize| format!("{before}\"{}\",k{after}", "x\n".repeat(len / 2 - 2));
        let path = folder.write("long.csv", text(LIMIT));
        let (counted, _) = census(&driver(&path, &key("1"), 2)).unwrap();
        assert_eq!(counted.all.rows(), 1);
        let path = folder.write("long.csv", text(LIMIT + 2));
        let why = refused(&driver(&path, &key("1"), 2));
        let expected = format!("{}, line 1: the line is longer than {LIMIT} bytes", path.display());
        assert!(why.starts_with(&expected), "{why}");
    }
}

/// What has been read of a long record is not looked at again for each block more.
#[test]
fn long_quoted_records_take_no_longer_than_short_ones() {
    let folder = Folder::new();
    let record = |lines: usize| format!("\"{}\",k\n", "line of text\n".repeat(lines));
    let best = |lines: usize| {
        let path = folder.write("text.csv", record(lines).repeat(2_400_000 / lines));
        let measured = || {
            let started = Instant::now();
            let (counted, _) = census(&driver(&path, &key("2"), 1)).unwrap();
            assert_eq!(counted.all.rows(), 2_400_000 / lines as u64);
            started.elapsed()
        };
        (0..3).map(|_| measured()).min().unwrap()
    };
    let (short, long) = (best(100), best(800_000));
    assert!(long < 5 * short, "{long:?}, short ones {short:?}");
}

/// Screening prints the line as it stood, with the newline it may have lacked.
#[test]
fn screened_lines_are_whole() {
    let folder = Folder::new();
    let path = folder.write("flow.tsv", "x\ta\t1\r\ny\tb\t2\nz\ta\t3");
    let known = folder.write("known", "a\n");
    let (filter, _) = build(plan(None)).bloom(&driver(&known, &Shape::default(), 1)).unwrap();
    let (admitted, rejected, summary) =
        screened(&driver(&path, &key("2"), 2), &Filters::One(filter));
    assert_eq!(admitted, b"x\ta\t1\r\nz\ta\t3\n");
    assert_eq!(rejected, b"y\tb\t2\n");
    assert_eq!((summary.admitted, summary.rejected()), (2, 1));
}

/// Whatever the threads are at when an error's turn comes, nothing more is handed out.
#[test]
fn nothing_is_delivered_behind_an_error() {
    let folder = Folder::new();
    let long = "x".repeat(1 << 20);
    for (name, lines) in
        [("short", "some line\n".repeat(600_000)), ("long", format!("{long}\n").repeat(20))]
    {
        let path = folder.write(name, lines);
        for threads in THREADS {
            let mut delivered = 0;
            let outcome = driver(&path, &Shape::default(), threads).run(
                || (),
                |(), _| Ok(()),
                |()| {
                    delivered += 1;
                    match delivered {
                        3 => Err(umbel_io::Error::Other("no more".into())),
                        _ => Ok(()),
                    }
                },
            );
            assert_eq!(outcome.unwrap_err().to_string(), "no more");
            assert_eq!(delivered, 3, "{name}, {threads} threads");
        }
    }
}

/// Long and short lines in turn come out as they went in.
#[test]
fn long_lines_keep_their_order() {
    let lengths = [10, 300 << 10, 1 << 20, 3, 5 << 20, 256 << 10, (256 << 10) - 1, 16 << 20, 1];
    let lines: Vec<Vec<u8>> =
        lengths.iter().cycle().take(27).zip(b'A'..).map(|(&len, byte)| vec![byte; len]).collect();
    let text: Vec<u8> = lines.iter().flat_map(|line| [&line[..], b"\n"].concat()).collect();
    for threads in THREADS {
        assert!(keys(&text, &Shape::default(), threads) == lines, "{threads} threads");
    }
    let shape = Shape { delimiter: Some(b','), ..key("2") };
    // The quotes would make the longest too long.
    let shorter: Vec<Vec<u8>> =
        lines.iter().filter(|line| line.len() < 16 << 20).cloned().collect();
    let quoted: Vec<u8> =
        shorter.iter().flat_map(|line| [b"1,\"", &line[..], b"\"\n"].concat()).collect();
    for threads in THREADS {
        assert!(keys(&quoted, &shape, threads) == shorter, "{threads} threads, quoted");
    }
}
