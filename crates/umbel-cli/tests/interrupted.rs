//! An output is replaced when the new one is whole, and not before: whatever ends the command in between.

#![allow(clippy::unwrap_used)]

mod support;

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::Child;

use support::{Folder, signal, text, wait_until, words};

const LINES: [&str; 3] =
    ["build -o out.umbel", "build -n 1000000 -o out.umbel", "build --key 1 --by 2 -o out.umbel"];

fn parts(folder: &Folder) -> usize {
    folder.names().iter().filter(|name| name.ends_with(".part")).count()
}

/// The command in mid-work: it has read some keys, has begun as many files, and waits for more input.
fn stalled(folder: &Folder, line: &str, files: usize) -> Child {
    let mut child = folder.start(line);
    let rows: String = words(50_000, "word").iter().map(|word| format!("{word}\t1\n")).collect();
    let stdin = child.stdin.as_mut().unwrap();
    stdin.write_all(rows.as_bytes()).unwrap();
    wait_until("the files are begun", || parts(folder) == files);
    child
}

#[test]
fn killed_in_mid_build_it_leaves_the_old_file() {
    for line in LINES {
        let folder = Folder::new();
        folder.write("out.umbel", "what stood there");
        let mut child = stalled(&folder, line, 1);
        signal(&child, "KILL");
        assert_eq!(child.wait().unwrap().signal(), Some(9));
        assert_eq!(folder.read("out.umbel"), b"what stood there");
        // What it left behind goes with the next file in that folder.
        assert_eq!(parts(&folder), 1);
        folder.write("ids.txt", "a\t1\n");
        folder.run("build ids.txt -o other.umbel");
        assert_eq!(folder.names(), ["ids.txt", "other.umbel", "out.umbel"]);
    }
}

/// What somebody is writing stays, whoever begins or ends files beside it.
#[test]
fn files_that_are_being_written_are_not_swept_away() {
    let folder = Folder::new();
    folder.write("ids.txt", text(&words(1000, "id")));
    let children: Vec<Child> = (1..=4)
        .map(|i| stalled(&folder, &format!("build --key 1 -n 100000 -o out{i}.umbel"), i))
        .collect();
    folder.run("build ids.txt -n 1000 -o beside.umbel");
    // Named like one of ours, but no plain file.
    std::fs::create_dir(folder.path(".umbel-x.part")).unwrap();
    folder.run("build ids.txt -n 1000 -o beside.umbel");
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(folder.read("out1.umbel"), folder.read("out4.umbel"));
    assert_eq!(parts(&folder), 1);
}

#[test]
fn an_interrupt_leaves_no_partial_file() {
    let signals = [("HUP", 129), ("INT", 130), ("QUIT", 131), ("TERM", 143)];
    for (line, (name, code)) in LINES.iter().flat_map(|line| signals.map(|signal| (line, signal))) {
        let folder = Folder::new();
        folder.write("out.umbel", "what stood there");
        let mut child = stalled(&folder, line, 1);
        // Open until the end: without it the command might be done before the signal comes.
        let _input = child.stdin.take();
        signal(&child, name);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{line}");
        assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{line}");
        assert_eq!(folder.names(), ["out.umbel"], "{line}");
        assert_eq!(folder.read("out.umbel"), b"what stood there");
    }
}

/// The system's limit of a file's size is an error like a full disk.
#[test]
fn a_file_beyond_the_limit_leaves_no_partial_file() {
    let folder = Folder::new();
    folder.write("ids.txt", text(&words(10, "id")));
    let command = format!(
        "ulimit -f 8; exec {} build ids.txt -n 1000000 -o out.umbel",
        env!("CARGO_BIN_EXE_umbel")
    );
    let output = std::process::Command::new("sh")
        .args(["-c", &command])
        .current_dir(folder.path(""))
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert_eq!(said, "umbel: out.umbel: File too large (os error 27)\n");
    assert_eq!(folder.names(), ["ids.txt"]);
}

/// A named pipe that nobody reads.
#[test]
fn waiting_for_a_reader_can_be_interrupted() {
    let folder = Folder::new();
    let pipe = folder.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut child = folder.start("build -o pipe");
    std::thread::sleep(std::time::Duration::from_millis(200));
    signal(&child, "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(143));
}

/// What nohup and shells have made us ignore does not end us.
#[test]
fn a_signal_that_is_ignored_stays_ignored() {
    let folder = Folder::new();
    let command =
        format!("trap '' HUP INT; exec {} build -o out.umbel", env!("CARGO_BIN_EXE_umbel"));
    let mut child = std::process::Command::new("sh")
        .args(["-c", &command])
        .current_dir(folder.path(""))
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("the file is begun", || parts(&folder) == 1);
    signal(&child, "HUP");
    signal(&child, "INT");
    child.stdin.take().unwrap().write_all(b"a\nb\n").unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(folder.json("info out.umbel --json")["inserted"], 2);
}

#[test]
fn an_interrupt_of_a_screening_leaves_no_partial_file() {
    let folder = Folder::new();
    folder.write("ids.txt", text(&words(100, "word")));
    folder.run("build ids.txt -o ids.umbel");
    let mut child = stalled(&folder, "screen ids.umbel --admitted a.txt --rejected r.txt", 2);
    let _input = child.stdin.take();
    signal(&child, "INT");
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    assert_eq!(folder.names(), ["ids.txt", "ids.umbel"]);
}

/// A build that fails keeps what was there and leaves nothing else.
#[test]
fn a_failing_build_keeps_the_old_file() {
    let folder = Folder::new();
    folder.write("keys.txt", text(&words(100_000, "key")));
    folder.write("hole.txt", text(&words(100_000, "key")) + "\n");
    folder.write("long.txt", "x".repeat(17 << 20));
    folder.write("out.umbel", "what stood there");
    let names = folder.names();
    for line in [
        "build keys.txt missing.txt -o out.umbel",
        "build hole.txt --strict -o out.umbel",
        "build keys.txt --key 2 -o out.umbel",
        "build keys.txt --key name -o out.umbel",
        "build keys.txt long.txt -n 1000 -o out.umbel",
        "build keys.txt . -o out.umbel",
        "build keys.txt -p 2 -o out.umbel",
        "build keys.txt --meta umbel.x=1 -o out.umbel",
        "merge out.umbel -o out.umbel",
        "screen out.umbel keys.txt --admitted out.umbel",
    ] {
        folder.ends(2, line);
        assert_eq!(folder.read("out.umbel"), b"what stood there", "{line}");
        assert_eq!(folder.names(), names, "{line}");
    }
    folder.run("build keys.txt -o out.umbel");
    assert_eq!(folder.names(), names);
    assert_eq!(folder.run("screen out.umbel keys.txt -c"), b"100000\n");
}

/// The old file is there, whole, until the very end.
#[test]
fn the_old_file_can_be_used_while_the_new_one_is_made() {
    let folder = Folder::new();
    folder.write("old.txt", text(&words(1000, "old")));
    folder.run("build old.txt -o out.umbel");
    let mut child = stalled(&folder, "build -o out.umbel", 1);
    assert_eq!(folder.run("screen out.umbel old.txt -c"), b"1000\n");
    drop(child.stdin.take());
    assert!(child.wait_with_output().unwrap().status.success());
    assert_eq!(folder.names(), ["old.txt", "out.umbel"]);
    assert_eq!(folder.json("info out.umbel --json")["inserted"], 50_000);
}

/// A folder that takes no file, also for those who may write everywhere: what is no folder, and the kernel's.
#[test]
fn a_folder_that_takes_no_file_is_an_error_before_the_work() {
    let folder = Folder::new();
    folder.write("keys.txt", text(&words(10, "key")));
    folder.run("build keys.txt -o keys.umbel");
    for place in ["keys.txt/x", "missing/x", "/proc/self/x", "/proc/x"] {
        for line in [
            format!("build missing.txt -o {place}"),
            format!("merge keys.umbel -o {place}"),
            format!("screen keys.umbel keys.txt --admitted {place}"),
            format!("gen strings -n 10 -o {place}"),
        ] {
            let said = String::from_utf8(folder.ends(2, &line).stderr).unwrap();
            assert!(said.starts_with(&format!("umbel: {place}: ")), "{line}: {said}");
            assert!(!said.contains(".part") && said.contains("folder"), "{line}: {said}");
        }
    }
    assert_eq!(folder.names(), ["keys.txt", "keys.umbel"]);
}
