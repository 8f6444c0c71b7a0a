//! Screening takes the filter and 64 MB at most, whatever the input.

#![allow(clippy::unwrap_used)]

mod support;

use std::io::{Read, Write};
use std::process::Child;

use support::{Folder, peak_memory, text, wait_until, words};

const ROOM: u64 = 64 << 20;

/// Feeds `megabytes` of lines and tells the most memory the command had when all but a pipe's length was read.
fn peak_over_pipe(folder: &Folder, line: &str, block: &[u8], megabytes: usize) -> u64 {
    let mut child = folder.start(line);
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || std::io::copy(&mut stdout, &mut std::io::sink()));
    for _ in 0..(megabytes << 20).div_ceil(block.len()) {
        stdin.write_all(block).unwrap();
    }
    let peak = peak_memory(&child).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.code().unwrap() < 2, "{}", String::from_utf8_lossy(&output.stderr));
    reader.join().unwrap().unwrap();
    peak
}

/// The most memory that the command had when it was last looked at before its end.
fn peak_to_the_end(child: &mut Child) -> u64 {
    let mut peak = 0;
    wait_until("it ends", || {
        peak = peak.max(peak_memory(child).unwrap_or(0));
        child.try_wait().unwrap().is_some()
    });
    peak
}

fn bounded(peak: u64, filter: u64, what: &str) {
    assert!(peak < filter + ROOM, "{what}: {} MB", peak >> 20);
}

#[test]
fn an_endless_pipe_is_screened_in_bounded_memory() {
    let folder = Folder::new();
    folder.write("ids.txt", text(&words(1000, "id")));
    folder.run("build ids.txt -o ids.umbel");
    let rows: String = words(40_000, "row").iter().map(|word| format!("{word}\t7\n")).collect();
    for line in [
        "screen ids.umbel -c",
        "screen ids.umbel -v",
        "screen ids.umbel -v --key 1 --threads 7",
        "screen ids.umbel --report --exact ids.txt",
    ] {
        bounded(peak_over_pipe(&folder, line, rows.as_bytes(), 300), 0, line);
    }
}

/// The true set takes what --memory allows, and the rest goes to a file.
#[test]
fn a_large_true_set_keeps_to_its_memory() {
    let folder = Folder::new();
    let ids = words(4_000_000, "id");
    folder.write("ids.txt", text(&ids));
    folder.run("build ids.txt -o ids.umbel");
    let filter = std::fs::metadata(folder.path("ids.umbel")).unwrap().len();
    let rows = text(&ids[..200_000]);
    let line = "screen ids.umbel --exact ids.txt -c --memory 8M";
    let peak = peak_over_pipe(&folder, line, rows.as_bytes(), 20);
    bounded(peak, filter + (8 << 20), line);
}

/// Lines of megabytes, and short ones, of which a block holds most.
#[test]
fn lines_of_any_length_are_screened_in_bounded_memory() {
    let folder = Folder::new();
    folder.write("ids.txt", "id\n");
    folder.run("build ids.txt -o ids.umbel");
    let short = "a\n".repeat(1 << 19);
    for (threads, megabytes) in [(2, 50), (7, 100), (1024, 100)] {
        let line = format!("screen ids.umbel -v --threads {threads}");
        bounded(peak_over_pipe(&folder, &line, short.as_bytes(), megabytes), 0, "short lines");
    }
    // 10 MB each; of many lengths; those that just fit.
    let line = |len: usize| "x".repeat(len - 1) + "\n";
    let mixed: Vec<String> = (0..40).map(|i| line(1 + (i * i * 7_654_321) % (16 << 20))).collect();
    for (lines, what) in
        [(line(10_000_000), "10 MB"), (mixed.concat(), "mixed"), (line(1 + (16 << 20)), "longest")]
    {
        for command in [
            "screen ids.umbel -c --threads 7",
            "screen ids.umbel -v --threads 7",
            "screen ids.umbel --key 1 --admitted /dev/null --rejected /dev/null --threads 7",
        ] {
            let peak = peak_over_pipe(&folder, command, lines.as_bytes(), 250);
            bounded(peak, 0, &format!("{what}: {command}"));
        }
    }
}

/// Long keys in quotes are in memory twice: as they stand, and as they are meant.
#[test]
fn long_quoted_keys_are_screened_in_bounded_memory() {
    let folder = Folder::new();
    folder.write("ids.txt", "id\n");
    folder.run("build ids.txt -o ids.umbel");
    folder.write("group.csv", "id,1\n");
    folder.run("build group.csv --key 1 --by 2 -o group.umbel");
    let part = "x".repeat(998) + "\"\"";
    let row = |parts: usize| format!("\"{}\",1\n", part.repeat(parts));
    let mixed: Vec<String> = (0..40).map(|i| row(1 + (i * i * 7_654) % 16_000)).collect();
    for command in [
        "screen ids.umbel -v --key 1 -d , --threads 7",
        "screen group.umbel -v --key 1 -d , --threads 7",
    ] {
        let peak = peak_over_pipe(&folder, command, mixed.concat().as_bytes(), 250);
        bounded(peak, 0, command);
    }
    // Every key is admitted by a group that is full.
    folder.write("many.csv", (0..100).map(|i| format!("id{i},1\n")).collect::<String>());
    folder.ends(0, "build many.csv --key 1 --by 2 -m 2 -n 1 -o full.umbel");
    let command = "screen full.umbel --which --key 1 -d , --threads 7";
    bounded(peak_over_pipe(&folder, command, mixed.concat().as_bytes(), 250), 0, command);
    // Beside short rows, of which each thread may have a block.
    let block = "a,\n".repeat(1 << 20) + &row(16_000);
    let command =
        "screen ids.umbel --key 1 -d , --admitted /dev/null --rejected /dev/null --threads 1024";
    bounded(peak_over_pipe(&folder, command, block.as_bytes(), 250), 0, command);
    // As long as may be, members and others in turn, so that either goes to a file of its own.
    let row = |letter: &str| format!("\"{}\",k\n", letter.repeat((16 << 20) - 4));
    assert!(
        folder.pipe("build --key 1 -d , -n 1 -o a.umbel", row("a").as_bytes()).status.success()
    );
    let command =
        "screen a.umbel --key 1 -d , --admitted /dev/null --rejected /dev/null --threads 2";
    bounded(peak_over_pipe(&folder, command, (row("a") + &row("b")).as_bytes(), 200), 0, command);
}

/// What `--which` prints may be thousands of times what it reads.
#[test]
fn many_groups_are_named_in_bounded_memory() {
    let folder = Folder::new();
    for (key, name, groups, rows) in
        [("twentybyteskey000001", "group", 2000, 20_000), ("k", &"n".repeat(200)[..], 200, 25_000)]
    {
        let table = (0..groups).map(|i| format!("{key}\t{name}-{i:05}\n")).collect::<String>();
        folder.write("table.tsv", table);
        folder.run("build table.tsv --key 1 --by 2 -o groups.umbel");
        let filter = std::fs::metadata(folder.path("groups.umbel")).unwrap().len();
        folder.write("flow.txt", format!("{key}\n").repeat(rows));
        for threads in [1, 7] {
            let command = format!("screen groups.umbel flow.txt --which --threads {threads}");
            let mut child = folder.start(&command);
            let mut stdout = child.stdout.take().unwrap();
            let reader =
                std::thread::spawn(move || std::io::copy(&mut stdout, &mut std::io::sink()));
            bounded(peak_to_the_end(&mut child), filter, &command);
            let written = reader.join().unwrap().unwrap();
            assert!(written > (rows * groups * name.len()) as u64, "{command}");
        }
    }
}

/// Whoever reads the result slowly slows down the reading of the input.
#[test]
fn a_slow_reader_costs_no_memory() {
    let folder = Folder::new();
    folder.write("ids.txt", "id\n");
    folder.write("flow.txt", text(&words(4_000_000, "stranger")));
    folder.run("build ids.txt -o ids.umbel");
    let mut child = folder.start("screen ids.umbel flow.txt -v");
    let mut stdout = child.stdout.take().unwrap();
    let mut first = vec![0; 1 << 16];
    stdout.read_exact(&mut first).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(500));
    bounded(peak_memory(&child).unwrap(), 0, "slow reader");
    let rest = std::io::copy(&mut stdout, &mut std::io::sink()).unwrap();
    let size = folder.read("flow.txt").len() as u64;
    assert_eq!(rest + (1 << 16), size);
    assert!(child.wait().unwrap().success());
}

/// A large filter is in memory once.
#[test]
fn a_large_filter_is_held_once() {
    let folder = Folder::new();
    folder.write("ids.txt", text(&words(1000, "id")));
    for parameters in ["-n 100000000 --layout classic", "-n 100000000"] {
        folder.run(&format!("build ids.txt {parameters} -o large.umbel"));
        let filter = std::fs::metadata(folder.path("large.umbel")).unwrap().len();
        assert!(filter > 100 << 20);
        let rows = text(&words(40_000, "row"));
        let peak = peak_over_pipe(&folder, "screen large.umbel -c", rows.as_bytes(), 50);
        bounded(peak, filter, parameters);
    }
}

/// Five gigabytes without a newline, of which the disk holds nothing: an error that says so, in bounded memory.
#[test]
fn a_sparse_file_is_refused_in_bounded_memory() {
    let folder = Folder::new();
    folder.write("ids.txt", "id\n");
    folder.run("build ids.txt -o ids.umbel");
    std::fs::File::create(folder.path("sparse")).unwrap().set_len(5 << 30).unwrap();
    for line in [
        "screen ids.umbel sparse -c",
        "build sparse -o x.umbel",
        "size sparse",
        "screen sparse ids.txt",
    ] {
        let mut child = folder.start(line);
        let peak = peak_to_the_end(&mut child);
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(said.starts_with("umbel: sparse") && said.lines().count() == 1, "{line}: {said}");
        bounded(peak, 0, line);
    }
}
