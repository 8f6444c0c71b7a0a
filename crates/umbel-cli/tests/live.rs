//! An input that comes little by little is answered line by line, long before it ends.

#![allow(clippy::unwrap_used)]

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, ChildStdout, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use support::{Folder, text, words};

/// Lines as they come out.
fn lines(stdout: ChildStdout) -> Receiver<String> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines() {
            send.send(line.unwrap()).unwrap();
        }
    });
    receive
}

/// The pipe stays open; what is written to it comes back as a line.
fn answers(stdin: &mut ChildStdin, lines: &Receiver<String>, write: &[&str], line: &str) {
    for part in write {
        stdin.write_all(part.as_bytes()).unwrap();
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(lines.recv_timeout(Duration::from_secs(30)).as_deref(), Ok(line), "{write:?}");
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("ids.txt", "a\nB\nPAR1\n");
    folder.run("build ids.txt -o ids.umbel");
    folder.write("groups.tsv", "a\tx\nB\ty\nPAR1\ty\n");
    folder.run("build groups.tsv --key 1 --by 2 -o groups.umbel");
    folder
}

#[test]
fn a_line_is_answered_before_the_pipe_ends() {
    let folder = folder();
    for line in [
        "screen ids.umbel",
        "screen ids.umbel - --threads 1",
        "screen ids.umbel --threads 7",
        "screen ids.umbel --admitted -",
        "screen ids.umbel --exact ids.txt",
        "screen ids.umbel /dev/null - /dev/null",
    ] {
        let mut child = folder.start(line);
        let (mut stdin, lines) = (child.stdin.take().unwrap(), lines(child.stdout.take().unwrap()));
        // The first byte could be that of a compressed file, and of a table.
        answers(&mut stdin, &lines, &["B\n"], "B");
        answers(&mut stdin, &lines, &["a\n"], "a");
        answers(&mut stdin, &lines, &["other", "\nPA", "R1", "\na"], "PAR1");
        answers(&mut stdin, &lines, &["\n"], "a");
        stdin.write_all(b"stranger\nB").unwrap();
        drop(stdin);
        assert_eq!(lines.recv_timeout(Duration::from_secs(30)).as_deref(), Ok("B"));
        assert!(lines.recv().is_err() && child.wait().unwrap().success(), "{line}");
    }
}

#[test]
fn columns_and_groups_are_answered_at_once() {
    let folder = folder();
    let mut child = folder.start("screen ids.umbel --key who -d ,");
    let (mut stdin, out) = (child.stdin.take().unwrap(), lines(child.stdout.take().unwrap()));
    answers(&mut stdin, &out, &["what,who\nx,a\n"], "x,a");
    // A newline within quotes ends nothing.
    answers(&mut stdin, &out, &["\"x\ny", "\n\",", "\"B\"", "\n"], "\"x");
    drop(stdin);
    assert!(child.wait().unwrap().success());
    let mut child = folder.start("screen groups.umbel --which");
    let (mut stdin, out) = (child.stdin.take().unwrap(), lines(child.stdout.take().unwrap()));
    answers(&mut stdin, &out, &["B\n"], "B\ty");
    answers(&mut stdin, &out, &["a\n"], "a\tx");
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

/// A compressed flow that is flushed now and then.
#[test]
fn a_compressed_pipe_is_answered_at_each_flush() {
    let folder = folder();
    let mut child = folder.start("screen ids.umbel");
    let lines = lines(child.stdout.take().unwrap());
    let stdin = child.stdin.take().unwrap();
    let mut gzip = flate2::write::GzEncoder::new(stdin, flate2::Compression::fast());
    for line in ["a", "B", "PAR1"] {
        gzip.write_all(format!("stranger\n{line}\n").as_bytes()).unwrap();
        gzip.flush().unwrap();
        assert_eq!(lines.recv_timeout(Duration::from_secs(30)).as_deref(), Ok(line));
    }
    drop(gzip.finish().unwrap());
    assert!(child.wait().unwrap().success());
}

/// However the lines arrive, the result is that of the whole.
#[test]
fn pieces_of_any_length_make_the_same_result() {
    let folder = Folder::new();
    let rows = text(&words(3000, "row"));
    folder.write("ids.txt", text(&words(1500, "row")));
    folder.run("build ids.txt -o ids.umbel");
    folder.write("flow.txt", &rows);
    let expected = folder.run("screen ids.umbel flow.txt");
    for size in [1, 7, 1000, 5000] {
        let mut child = folder.start("screen ids.umbel --threads 3");
        let mut stdin = child.stdin.take().unwrap();
        let rows = rows.clone();
        let writer = std::thread::spawn(move || {
            rows.as_bytes().chunks(size).for_each(|piece| stdin.write_all(piece).unwrap());
        });
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        assert!(output.stdout == expected, "pieces of {size}");
    }
}

/// A filter that is cut short in place, as `cp` does it, while it is in use.
#[test]
fn a_filter_that_changes_under_way_changes_nothing() {
    for filter in ["ids.umbel", "groups.umbel"] {
        let folder = folder();
        let mut child = folder.start(&format!("screen {filter}"));
        let (mut stdin, lines) = (child.stdin.take().unwrap(), lines(child.stdout.take().unwrap()));
        answers(&mut stdin, &lines, &["a\n"], "a");
        folder.write(filter, "");
        answers(&mut stdin, &lines, &["other\nB\n"], "B");
        drop(stdin);
        assert!(child.wait().unwrap().success());
    }
}

/// The command stops reading when nobody reads what it prints: meanwhile its input is cut.
#[test]
fn a_file_at_stdin_that_shrinks_is_an_error() {
    let folder = folder();
    folder.write("flow.txt", "a\n".repeat(10 << 20));
    let flow = folder.path("flow.txt");
    let mut umbel = folder.umbel("screen ids.umbel");
    umbel.stdin(std::fs::File::open(&flow).unwrap()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = umbel.spawn().unwrap();
    let mut first = [0; 2];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    std::fs::OpenOptions::new().write(true).open(&flow).unwrap().set_len(15 << 20).unwrap();
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    let expected = format!("it ended behind {} of {} bytes", 15 << 20, 20 << 20);
    assert!(said.starts_with("umbel: stdin: the input has changed"), "{said}");
    assert!(said.contains(&expected), "{said}");
    assert_eq!(ended.status.code(), Some(2));
}

/// Others may have read the beginning of a file before: that is no change.
#[test]
fn a_file_at_stdin_is_read_from_where_it_stands() {
    let folder = folder();
    folder.write("flow.txt", "a\nB\na\n");
    let mut flow = std::fs::File::open(folder.path("flow.txt")).unwrap();
    flow.read_exact(&mut [0; 2]).unwrap();
    let output = folder.umbel("screen ids.umbel").stdin(flow).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.stdout, b"B\na\n");
}
