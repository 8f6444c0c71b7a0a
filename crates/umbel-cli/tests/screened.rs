//! What a screening selects, against sets that are known.

#![allow(clippy::unwrap_used)]

mod support;

use std::collections::HashSet;

use support::{Folder, text, words};

/// A flow of members and strangers in turn, with duplicates, any bytes, and lines that end in CR.
fn flow() -> Vec<u8> {
    let (members, strangers) = (words(2000, "member"), words(60_000, "stranger"));
    let mut flow = Vec::new();
    for (i, stranger) in strangers.iter().enumerate() {
        flow.extend_from_slice(stranger.as_bytes());
        flow.extend_from_slice([&b"\n"[..], b"\r\n", b"\xFF\0\n"][i % 3]);
        if i % 7 == 0 {
            flow.extend_from_slice(members[i % 2000].as_bytes());
            flow.extend_from_slice([&b"\n"[..], b"\r\n"][i % 2]);
        }
    }
    flow
}

fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|&byte| byte == b'\n').collect()
}

fn key(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("ids.txt", text(&words(2000, "member")));
    folder.write("flow.txt", flow());
    folder.run("build ids.txt -p 0.2 -o ids.umbel");
    folder
}

#[test]
fn admitted_and_rejected_are_the_input_in_its_order() {
    let folder = folder();
    for exact in ["", "--exact ids.txt"] {
        let line = format!("screen ids.umbel flow.txt --admitted a.txt --rejected r.txt {exact}");
        assert!(folder.run(&line).is_empty());
        let (input, admitted, rejected) = (flow(), folder.read("a.txt"), folder.read("r.txt"));
        assert!(!admitted.is_empty() && !rejected.is_empty());
        let (mut admitted, mut rejected) =
            (lines(&admitted).into_iter().peekable(), lines(&rejected).into_iter().peekable());
        // Equal lines meet the same fate, so whichever file has the line next has it rightly.
        for line in lines(&input) {
            let found = admitted.next_if_eq(&line).or_else(|| rejected.next_if_eq(&line));
            assert!(found.is_some(), "{}", String::from_utf8_lossy(line));
        }
        assert!(admitted.next().is_none() && rejected.next().is_none());
        assert_eq!(folder.run(&format!("screen ids.umbel flow.txt {exact}")), folder.read("a.txt"));
        assert_eq!(
            folder.run(&format!("screen ids.umbel flow.txt -v {exact}")),
            folder.read("r.txt")
        );
    }
}

#[test]
fn every_member_is_admitted_and_about_the_promised_share_of_others() {
    let folder = folder();
    let members: HashSet<String> = words(2000, "member").into_iter().collect();
    let is_member =
        |line: &&&[u8]| std::str::from_utf8(key(line)).is_ok_and(|key| members.contains(key));
    let (flow, admitted) = (flow(), folder.run("screen ids.umbel flow.txt"));
    let (flow, admitted) = (lines(&flow), lines(&admitted));
    let of_members = flow.iter().filter(is_member).count();
    assert_eq!(admitted.iter().filter(is_member).count(), of_members);
    let rate = (admitted.len() - of_members) as f64 / (flow.len() - of_members) as f64;
    assert!((0.15..0.25).contains(&rate), "{rate}");
}

#[test]
fn exact_leaves_members_only() {
    let folder = folder();
    let members: HashSet<String> = words(2000, "member").into_iter().collect();
    let flow = flow();
    let is_member =
        |line: &&&[u8]| std::str::from_utf8(key(line)).is_ok_and(|key| members.contains(key));
    let expected: Vec<&[u8]> = lines(&flow).iter().filter(is_member).copied().collect();
    for more in ["", "--threads 1", "--threads 7", "--memory 8K", "--memory 1 --threads 3"] {
        let found = folder.run(&format!("screen ids.umbel flow.txt --exact ids.txt {more}"));
        assert!(lines(&found) == expected, "{more}");
    }
    let count = folder.run("screen ids.umbel flow.txt --exact ids.txt -c");
    assert_eq!(count, format!("{}\n", expected.len()).as_bytes());
    // A set that lacks a member lacks it in the result too: it is the set that is true.
    folder.write("fewer.txt", text(&words(1000, "member")));
    let fewer = folder.run("screen ids.umbel flow.txt --exact fewer.txt");
    assert!(!fewer.is_empty() && lines(&fewer).len() < expected.len());
}

/// An input that ends in mid-line ends with a line.
#[test]
fn the_last_line_needs_no_newline() {
    let folder = folder();
    let last = "member-0000000000000000";
    let output =
        folder.pipe("screen ids.umbel --exact ids.txt", format!("first\n{last}").as_bytes());
    assert_eq!(output.stdout, format!("{last}\n").as_bytes());
}

/// A column decides, the whole line is printed.
#[test]
fn lines_are_kept_whole() {
    let folder = folder();
    folder.write("log.csv", "who,what\n\"member-0000000000000000\",\"a, b\"\r\nnobody-at-all,c\n");
    assert_eq!(
        folder.run("screen ids.umbel log.csv --key who --exact ids.txt"),
        b"\"member-0000000000000000\",\"a, b\"\r\n"
    );
}

/// With columns by number, --header is said of both tables.
#[test]
fn the_header_of_a_true_set_is_no_key() {
    let folder = Folder::new();
    folder.write("ids.csv", "user,age\nann,7\n");
    folder.write("log.csv", "time,user\n1,user\n2,ann\n3,bob\n");
    folder.run("build ids.csv --key 1 -o ids.umbel");
    let line = "screen ids.umbel log.csv --key 2 --header --exact ids.csv --exact-key";
    for column in ["1", "user"] {
        assert_eq!(folder.run(&format!("{line} {column}")), b"2,ann\n");
    }
    // A list has none.
    folder.write("ids.txt", "user\nann\n");
    let line = "screen ids.umbel log.csv --key 2 --header --exact ids.txt";
    assert_eq!(folder.run(line), b"1,user\n2,ann\n");
}

/// Nobody who has read enough is told of an error.
#[test]
fn a_closed_pipe_is_no_error() {
    let folder = folder();
    for line in ["screen ids.umbel flow.txt -v", "screen ids.umbel flow.txt --rejected -"] {
        let mut child = folder.start(line);
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{line}");
        assert!(output.stderr.is_empty(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
