//! The same keys give the same bytes: however they are compressed, cut into files, and for any number of threads.

mod common;

use std::io::Write;
use std::path::PathBuf;

use common::{Folder, THREADS, build, built, driver, driver_over, filters, plan, screened};
use proptest::prelude::*;
use umbel_io::Shape;

/// Lines of very different lengths, several blocks of them.
fn lines(count: usize) -> Vec<u8> {
    let line = |i: usize| format!("{i}{}\n", "-".repeat(i * i % 50)).into_bytes();
    (0..count).flat_map(line).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut out = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut out = liblzma::write::XzEncoder::new(Vec::new(), 0);
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

fn lz4(bytes: &[u8]) -> Vec<u8> {
    let mut out = lz4_flex::frame::FrameEncoder::new(Vec::new());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

type Codec = fn(&[u8]) -> Vec<u8>;
const CODECS: [(&str, Codec); 6] = [
    ("plain", |bytes| bytes.to_vec()),
    ("gzip", gzip),
    ("bzip2", bzip2),
    ("xz", xz),
    ("lz4", lz4),
    ("zstd", zstd),
];

#[test]
fn every_codec_whole_and_in_pieces() {
    let folder = Folder::new();
    let plain = lines(40_000);
    let whole = folder.write("plain", &plain);
    let build = build(plan(None));
    let expected = built(&build, &driver(&whole, &Shape::default(), 1));
    for (name, codec) in CODECS {
        // The pieces end in mid-line, and one is empty.
        let pieces = [&plain[..1], &plain[1..300_007], &[], &plain[300_007..]];
        let in_pieces: Vec<u8> = pieces.into_iter().flat_map(codec).collect();
        for (form, bytes) in [("whole", codec(&plain)), ("in pieces", in_pieces)] {
            let path = folder.write(name, &bytes);
            for threads in THREADS {
                let found = built(&build, &driver(&path, &Shape::default(), threads));
                assert!(found == expected, "{name} {form}, {threads} threads");
            }
        }
    }
}

#[test]
fn screening_keeps_the_order_under_every_codec() {
    let folder = Folder::new();
    let plain = lines(60_000);
    let known = folder.write("known", lines(20_000));
    let (filter, _) = filters(&build(plan(None)), &driver(&known, &Shape::default(), 2));
    let whole = folder.write("plain", &plain);
    let expected = screened(&driver(&whole, &Shape::default(), 1), &filter);
    assert_eq!(expected.0.len() + expected.1.len(), plain.len());
    for (name, codec) in CODECS {
        let path = folder.write(name, codec(&plain));
        for threads in THREADS {
            let found = screened(&driver(&path, &Shape::default(), threads), &filter);
            assert!(found.0 == expected.0 && found.1 == expected.1, "{name}, {threads} threads");
            assert_eq!(found.2.admitted, expected.2.admitted);
        }
    }
}

/// A compressed file that ends too early is an error, never a smaller set.
#[test]
fn a_compressed_file_cut_short_is_an_error() {
    let folder = Folder::new();
    let plain = lines(30_000);
    for (name, codec) in &CODECS[1..] {
        let whole = codec(&plain);
        for len in [whole.len() / 3, whole.len() / 2, whole.len() - 5, whole.len() - 1] {
            let path = folder.write("cut", &whole[..len]);
            let reading = driver(&path, &Shape::default(), 2);
            let why = common::try_filters(&build(plan(None)), &reading).map(|(_, tally)| tally);
            let why = why.map_err(|error| error.to_string());
            let said = format!("{}: the {name} data is cut short or damaged (", path.display());
            let named = |why: &String| why.starts_with(&said);
            assert!(why.as_ref().is_err_and(named), "{name}, {len} of {}: {why:?}", whole.len());
        }
    }
}

/// Whatever a decoder says of damage: the file and the kind of data are named.
#[test]
fn damage_is_called_so() {
    let folder = Folder::new();
    let plain = lines(30_000);
    for (name, codec) in &CODECS[1..] {
        let whole = codec(&plain);
        // Without a sum, damage within the data of lz4 may be other data.
        for at in [6, whole.len() / 2].into_iter().filter(|&at| at == 6 || *name != "lz4") {
            let mut bytes = whole.clone();
            bytes[at..at + 64].fill(0xFF);
            let path = folder.write("damaged", &bytes);
            let why = common::refused(&driver(&path, &Shape::default(), 2));
            let said = format!("{}: the {name} data is cut short or damaged (", path.display());
            assert!(why.starts_with(&said), "{name}, {at}: {why}");
        }
    }
}

fn skippable(kind: u8, len: usize) -> Vec<u8> {
    let size = u32::try_from(len).unwrap().to_le_bytes();
    [&[0x50 + kind, 0x2A, 0x4D, 0x18], &size[..], &vec![b'\n'; len]].concat()
}

/// Frames without data stand before, between and behind others: pzstd writes them.
#[test]
fn skippable_frames_hold_nothing() {
    let folder = Folder::new();
    let plain = lines(40_000);
    let whole = folder.write("plain", &plain);
    let build = build(plan(None));
    let expected = built(&build, &driver(&whole, &Shape::default(), 1));
    for (name, codec) in [("zstd", zstd as Codec), ("lz4", lz4)] {
        for (kind, len) in [(0, 4), (7, 0), (15, 300_000)] {
            let frame = skippable(kind, len);
            let parts = [&codec(&plain[..300_007])[..], &codec(&plain[300_007..])].join(&frame[..]);
            let bytes = [&frame[..], &frame, &parts, &frame].concat();
            let path = folder.write(name, &bytes);
            assert!(!umbel_io::Source::new(&path).is_plain().unwrap());
            let found = built(&build, &driver(&path, &Shape::default(), 2));
            assert!(found == expected, "{name}, {kind}, {len}");
            // Cut in the first of them, and in the last.
            for cut in [6, frame.len() - 1, bytes.len() - 1].into_iter().filter(|_| len > 0) {
                let path = folder.write("cut", &bytes[..cut]);
                let why = common::refused(&driver(&path, &Shape::default(), 2));
                assert!(why.contains(" data is cut short or damaged ("), "{name}, {cut}: {why}");
            }
        }
    }
    let nothing = folder.write("nothing", skippable(3, 9));
    assert_eq!(built(&build, &driver(&nothing, &Shape::default(), 2)).1.lines, 0);
    let strange = folder.write("strange", [&skippable(3, 9)[..], b"text\n"].concat());
    let why = common::refused(&driver(&strange, &Shape::default(), 2));
    assert!(why.contains("the zstd data is cut short or damaged ("), "{why}");
    // What only begins so is text.
    let text = folder.write("text", "P*M\n");
    assert_eq!(built(&build, &driver(&text, &Shape::default(), 2)).1.rows, 1);
}

#[test]
fn lz4_in_its_legacy_format_is_refused() {
    let folder = Folder::new();
    let legacy = [&[0x02, 0x21, 0x4C, 0x18, 3, 0, 0, 0][..], b"\x20a\n"].concat();
    for before in [Vec::new(), skippable(0, 4), lz4(b"b\n")] {
        let path = folder.write("legacy.lz4", [&before[..], &legacy].concat());
        let why = common::refused(&driver(&path, &Shape::default(), 2));
        assert!(
            why.starts_with(&format!("{}: this is lz4 in its legacy", path.display())),
            "{why}"
        );
    }
}

/// A file that is cut while it is read is an error; what it has grown by is read.
#[test]
fn a_file_that_shrinks_is_an_error() {
    let folder = Folder::new();
    let plain = lines(200_000);
    for (name, codec) in CODECS {
        let bytes = codec(&plain);
        let path = folder.write(name, &bytes);
        let mut text = umbel_io::Source::new(&path).open(&Default::default()).unwrap();
        let cut = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        cut.set_len(bytes.len() as u64 - 9).unwrap();
        let why = std::io::copy(&mut text, &mut std::io::sink()).map_err(|why| why.to_string());
        let why = why.expect_err(name);
        assert!(why.starts_with("the input has changed while it was read: "), "{name}: {why}");
        let path = folder.write(name, &bytes);
        let mut text = umbel_io::Source::new(&path).open(&Default::default()).unwrap();
        let mut more = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        more.write_all(&codec(b"more\n")).unwrap();
        let read = std::io::copy(&mut text, &mut std::io::sink()).unwrap();
        assert_eq!(read, plain.len() as u64 + 5, "{name}");
    }
}

/// What was screened before the damage is delivered, and the same whatever the number of threads.
#[test]
fn output_up_to_an_error_is_the_same_for_any_number_of_threads() {
    let folder = Folder::new();
    let mut bytes = gzip(&lines(200_000));
    let middle = bytes.len() / 2;
    bytes[middle..middle + 64].fill(0xFF);
    let path = folder.write("damaged.gz", &bytes);
    let known = folder.write("known", lines(1));
    let (filter, _) = filters(&build(plan(None)), &driver(&known, &Shape::default(), 1));
    let delivered = THREADS.map(|threads| {
        let mut out: Vec<u8> = Vec::new();
        let wanted = umbel_io::screen::Wanted { admitted: false, rejected: true };
        let reading = driver(&path, &Shape::default(), threads);
        let error = umbel_io::screen::screen(&reading, &filter, None, wanted, |lines| {
            out.extend(&lines.rejected);
            Ok(())
        });
        (out, error.unwrap_err().to_string())
    });
    assert!(!delivered[0].0.is_empty());
    assert!(delivered.iter().all(|found| *found == delivered[0]));
}

#[test]
fn a_missing_file_and_a_folder_are_named() {
    let folder = Folder::new();
    let missing = folder.path("missing");
    let why = common::refused(&driver(&missing, &Shape::default(), 2));
    assert!(why.starts_with(&missing.display().to_string()), "{why}");
    let why = common::refused(&driver(&folder.path("."), &Shape::default(), 2));
    assert!(why.contains("directory"), "{why}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Files are read one after the other as if they were one; each begins a new line.
    #[test]
    fn any_split_into_files_gives_the_same_filter(
        cuts in prop::collection::vec(0usize..9000, 0..6),
        threads in 1usize..8,
        last_newline in any::<bool>(),
    ) {
        let folder = Folder::new();
        let plain = lines(9000);
        let all: Vec<&[u8]> = plain.split_inclusive(|&byte| byte == b'\n').collect();
        let mut cuts = cuts;
        cuts.extend([0, all.len()]);
        cuts.sort_unstable();
        let part = |(i, cut): (usize, &[usize])| {
            let mut bytes = all[cut[0]..cut[1]].concat();
            if !last_newline {
                bytes.pop();
            }
            folder.write(&i.to_string(), bytes)
        };
        let parts: Vec<PathBuf> = cuts.windows(2).enumerate().map(part).collect();
        let whole = folder.write("whole", &plain);
        let expected = built(&build(plan(None)), &driver(&whole, &Shape::default(), 1));
        let found = built(&build(plan(None)), &driver_over(&parts, &Shape::default(), threads));
        prop_assert!(found == expected);
    }
}

/// A panic in the work of one thread is passed on; the others do not wait for what never comes.
#[test]
fn a_panic_ends_the_run() {
    let folder = Folder::new();
    let path = folder.write("lines", lines(200_000));
    for threads in THREADS {
        let reading = driver(&path, &Shape::default(), threads);
        let work = |(): &mut (), batch: &mut umbel_io::Batch| {
            assert!(!batch.rows().any(|row| batch.key(&row).starts_with(b"4001-")), "on purpose");
            Ok(())
        };
        let run = std::panic::AssertUnwindSafe(|| reading.run(|| (), work, |()| Ok(())));
        assert!(std::panic::catch_unwind(run).is_err());
    }
}

/// gzip itself ignores zeros behind its data; other bytes may be the rest of something.
#[test]
fn zeros_behind_gzip_are_nothing_and_other_bytes_an_error() {
    let folder = Folder::new();
    let plain = lines(5_000);
    let whole = folder.write("plain", &plain);
    let expected = built(&build(plan(None)), &driver(&whole, &Shape::default(), 1));
    for zeros in [1, 511, 1 << 19] {
        let padding = vec![0; zeros];
        let bytes =
            [gzip(&plain[..7_001]), padding.clone(), gzip(&plain[7_001..]), padding].concat();
        let path = folder.write("padded", bytes);
        assert!(built(&build(plan(None)), &driver(&path, &Shape::default(), 2)) == expected);
    }
    for more in [&b"x"[..], b"\0x", b"\x1F", b"\x1F\x8B", b"\x1F\x8B\x08\0\0"] {
        let path = folder.write("more", [&gzip(&plain), more].concat());
        let why = common::refused(&driver(&path, &Shape::default(), 2));
        assert!(why.starts_with(&path.display().to_string()), "{why}");
        assert!(
            more[0] == 0x1F || why.ends_with("(what follows it is neither gzip nor zeros)"),
            "{why}"
        );
    }
}

/// Our own files hold no lines, however they are packed.
#[test]
fn our_own_files_are_no_text() {
    let folder = Folder::new();
    let keys = folder.write("keys", lines(100));
    let (bytes, _) = built(&build(plan(None)), &driver(&keys, &Shape::default(), 1));
    for (name, codec) in CODECS {
        let path = folder.write(name, codec(&bytes));
        for inputs in [vec![path.clone()], vec![keys.clone(), path.clone()]] {
            let why = common::refused(&driver_over(&inputs, &Shape::default(), 3));
            assert!(
                why.starts_with(&format!("{}: this is an umbel file", path.display())),
                "{why}"
            );
        }
    }
}

/// What would pass for text, and hide its keys: told by the ending of a name, whatever its case, or by the magic.
#[test]
fn what_is_not_read_is_refused() {
    let folder = Folder::new();
    let bytes = lines(10);
    let refused = |name: &str, bytes: &[u8]| {
        let path = folder.write(name, bytes);
        let why = common::refused(&driver(&path, &Shape::default(), 2));
        let plan = umbel_io::Source::new(&path).is_plain().unwrap_err().to_string();
        assert_eq!(plan, why, "{name}");
        why.contains(" is not read: ").then_some(why.contains("by its name")).unwrap()
    };
    let endings =
        ["deflate", "snappy", "Snappy", "lzo", "lz4", "ZIP", "orc", "avro", "7z", "Z", "z", "br"];
    for ending in endings {
        assert!(refused(&format!("part-0.{ending}"), &bytes), "{ending}");
        let nothing = folder.write(&format!("empty.{ending}"), "");
        assert!(umbel_io::Source::new(&nothing).is_plain().unwrap());
        assert_eq!(built(&build(plan(None)), &driver(&nothing, &Shape::default(), 2)).1.lines, 0);
        // The magic of a kind that is read says more than a name.
        let packed = folder.write(&format!("packed.{ending}"), gzip(&bytes));
        assert_eq!(built(&build(plan(None)), &driver(&packed, &Shape::default(), 2)).1.rows, 10);
    }
    for magic in [&b"PK\x03\x04 and more"[..], b"Obj\x01 and more"] {
        assert!(!refused("keys.txt", magic));
    }
    for (name, text) in [("a.gz", &b"a\n"[..]), ("a.zst", b"P\n"), ("lz4", b"PK\n"), ("a", b"Obj")]
    {
        let path = folder.write(name, text);
        assert_eq!(built(&build(plan(None)), &driver(&path, &Shape::default(), 2)).1.rows, 1);
    }
}
