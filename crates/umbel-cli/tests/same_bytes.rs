//! The same bytes for any number of threads, for any compression, for any split of the input, for any memory.

#![allow(clippy::unwrap_used)]

mod support;

use std::io::Write;

use support::{Folder, text, words};

const THREADS: [u32; 4] = [1, 2, 3, 7];

/// A table of some blocks: a key, a group, some rows that cannot be used, duplicates.
fn table() -> Vec<String> {
    let keys = words(90_000, "key");
    let row = |(i, key): (usize, &String)| match i % 1000 {
        17 => "nothing".into(),
        _ => format!("{key}\t{}.{}", 1 + i * i % 10, i % 7),
    };
    keys.iter().chain(&keys[..9000]).enumerate().map(row).collect()
}

const BUILDS: [&str; 9] = [
    "",
    "-n 90000",
    "--layout classic",
    "-n 1000 -m 5000011 -k 3",
    "--hash murmur2",
    "--hash polynomial-wrap --seeds 31,131",
    "--seed 77",
    "--by 2 --round",
    "--by 2 --round --hash murmur3",
];

#[test]
fn filters_are_the_same_for_any_threads_and_memory() {
    let folder = Folder::new();
    folder.write("table.tsv", text(&table()));
    for build in BUILDS {
        let mut first = None;
        for threads in THREADS {
            for memory in ["2G", "100K"] {
                let line = format!(
                    "build table.tsv --key 1 {build} --threads {threads} --memory {memory} -o x.umbel"
                );
                folder.ends(0, &line);
                let bytes = folder.read("x.umbel");
                let first = first.get_or_insert_with(|| bytes.clone());
                assert!(*first == bytes, "{line}");
            }
        }
    }
}

#[test]
fn filters_are_the_same_for_any_compression_and_split() {
    let folder = Folder::new();
    let rows = table();
    let plain = text(&rows);
    folder.write("plain", &plain);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(plain.as_bytes()).unwrap();
    folder.write("gzip", gzip.finish().unwrap());
    folder.write("zstd", zstd::encode_all(plain.as_bytes(), 1).unwrap());
    let (a, b) = rows.split_at(12_345);
    folder.write("a", text(a));
    // A last line without its newline ends all the same.
    folder.write("b", text(b).trim_end());
    folder.write("c", zstd::encode_all(text(b).as_bytes(), 1).unwrap());
    // Two members of gzip, one behind the other.
    let member = |rows: &[String]| {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(text(rows).as_bytes()).unwrap();
        gzip.finish().unwrap()
    };
    folder.write("members", [member(a), member(b)].concat());
    folder.write("empty", "");
    folder.write("windows", plain.replace('\n', "\r\n"));
    for build in BUILDS {
        folder.ends(0, &format!("build plain --key 1 {build} -o plain.umbel"));
        let expected = folder.read("plain.umbel");
        for files in ["gzip", "zstd", "a b", "a c", "b a", "members", "windows", "empty plain"] {
            folder.ends(0, &format!("build {files} --key 1 {build} -o x.umbel"));
            assert!(folder.read("x.umbel") == expected, "{build}, {files}");
        }
        if !build.contains("--hash") {
            let pipe =
                folder.pipe(&format!("build a - --key 1 {build} -o x.umbel"), text(b).as_bytes());
            assert!(pipe.status.success() && folder.read("x.umbel") == expected, "{build}, pipe");
        }
    }
}

#[test]
fn results_are_the_same_for_any_threads() {
    let folder = Folder::new();
    folder.write("table.tsv", text(&table()));
    folder.write("keys.txt", text(&words(3000, "key")));
    folder.write("flow.txt", text(&words(60_000, "key")).replace("00\n", "00\r\n"));
    folder.ends(0, "build table.tsv --key 1 --by 2 --round -p 0.1 -o groups.umbel");
    folder.run("build keys.txt -p 0.1 -o keys.umbel");
    for line in [
        "screen keys.umbel flow.txt",
        "screen keys.umbel flow.txt -v",
        "screen keys.umbel table.tsv --key 1 -c",
        "screen keys.umbel flow.txt --exact keys.txt",
        "screen groups.umbel flow.txt --which",
        "screen groups.umbel flow.txt --group 3",
        "audit groups.umbel table.tsv --json",
        "audit groups.umbel table.tsv --memory 100K",
        "audit keys.umbel flow.txt --members keys.txt",
        "size table.tsv --key 1 --by 2 --json",
        "size flow.txt table.tsv flow.txt",
    ] {
        let run = |threads| {
            let output = folder.umbel(line).args(["--threads", threads]).output().unwrap();
            assert!(output.status.code().unwrap() < 2, "{line}");
            (output.status.code(), output.stdout, output.stderr)
        };
        let first = run("1");
        assert!(!first.1.is_empty(), "{line}");
        for threads in ["2", "3", "7"] {
            assert!(run(threads) == first, "{line}, {threads} threads");
        }
    }
}

/// Built like one another and merged, filters are what one build of everything gives.
#[test]
fn merged_is_built_together() {
    let folder = Folder::new();
    let rows: Vec<String> = table().into_iter().filter(|row| row != "nothing").collect();
    let (a, rest) = rows.split_at(30_000);
    let (b, c) = rest.split_at(40_000);
    folder.write("a", text(a));
    folder.write("b", text(b));
    folder.write("c", text(c));
    for build in BUILDS {
        let columns = if build.contains("--by") { "--key 1 --by 2 --round" } else { "--key 1" };
        folder.ends(0, &format!("build a b c --key 1 {build} -o together.umbel"));
        for name in ["a", "b", "c"] {
            folder
                .ends(0, &format!("build {name} {columns} --like together.umbel -o {name}.umbel"));
        }
        folder.ends(0, "merge a.umbel b.umbel c.umbel -o merged.umbel");
        assert!(folder.read("merged.umbel") == folder.read("together.umbel"), "{build}");
        folder.ends(0, "merge c.umbel a.umbel b.umbel -o merged.umbel");
        assert!(folder.read("merged.umbel") == folder.read("together.umbel"), "{build}");
    }
}

/// A group that the model lacks is hashed like the others, whether it comes with some of them or alone.
#[test]
fn a_new_group_is_hashed_like_the_others() {
    let folder = Folder::new();
    folder.write("old.tsv", "ada\t1\n");
    folder.write("both.tsv", "ada\t1\nken\t2\n");
    folder.write("new.tsv", "ken\t2\nlinus\t3\n");
    for hash in [
        "",
        "--seed 5",
        "--layout classic",
        "--hash murmur2",
        "--hash polynomial-mod --seeds 31,131",
    ] {
        folder.run(&format!("build old.tsv --key 1 --by 2 {hash} -o old.umbel"));
        for name in ["both", "new"] {
            let line = format!("build {name}.tsv --key 1 --by 2 --like old.umbel -o {name}.umbel");
            let said = String::from_utf8(folder.ends(0, &line).stderr).unwrap();
            assert!(said.contains("not in old.umbel"), "{hash}: {said}");
            let line = format!("screen {name}.umbel {name}.tsv --key 1 -c");
            assert_eq!(folder.run(&line), b"2\n", "{hash}");
            folder.run(&format!("merge old.umbel {name}.umbel -o merged.umbel"));
            assert_eq!(folder.run("screen merged.umbel both.tsv --key 1 -c"), b"2\n", "{hash}");
        }
    }
}
