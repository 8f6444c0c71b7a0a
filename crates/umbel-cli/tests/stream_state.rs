//! `umbel stream`: the state survives, whatever ends the process, and every line counts once.

#![allow(clippy::unwrap_used)]

#[path = "support/service.rs"]
mod service;
mod support;

use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use service::{Service, ask, connect, read_line};
use umbel::{CountMin, CountMinParams};

use support::{Folder, signal, text, words};

const BOTH: &str = "--train 127.0.0.1:0 --query 127.0.0.1:0 --filter -n 1000 --state seen";
const NAMED: &str = "--train 127.0.0.1:0 --filter -n 1000 --state seen --acks --every 0.05";

/// The sketch of the snapshot that counts.
fn current(folder: &Folder) -> Vec<u8> {
    let current = String::from_utf8(folder.read("seen/CURRENT")).unwrap();
    folder.read(&format!("seen/{}/sketch.umbel", current.trim_end()))
}

/// A filter of these lines, built without a stream.
fn offline(folder: &Folder, files: &str, n: u64) -> Vec<u8> {
    folder.ends(0, &format!("build {files} -n {n} -o offline.umbel"));
    folder.read("offline.umbel")
}

/// Numbers that look random, the same ones in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }
}

#[test]
fn it_goes_on_from_where_it_was() {
    let folder = Folder::new();
    for (round, name) in ["TERM", "INT", "HUP"].into_iter().enumerate() {
        let service = Service::start(&folder, BOTH);
        let client = service.connect(1);
        for earlier in 0..round {
            assert_eq!(ask(&client, &format!("key {earlier}")), format!("key {earlier}\t1"));
        }
        service.send(0, format!("key {round}\n"));
        assert_eq!(service.end(name), (Some(0), vec![], vec![]));
    }
    folder.write("keys.txt", "key 0\nkey 1\nkey 2\n");
    assert_eq!(current(&folder), offline(&folder, "keys.txt", 1000));
    // Snapshots: an empty one at first, one at each end; the last two are kept.
    assert_eq!(folder.read("seen/CURRENT"), b"v-4\n");
    let mut names: Vec<_> = std::fs::read_dir(folder.path("seen")).unwrap().collect();
    assert_eq!(names.drain(..).count(), 4);
    // The sketch need not be said again.
    let service = Service::start(&folder, "--query 127.0.0.1:0 --state seen");
    assert_eq!(service.send(0, "key 0\nkey 9\n"), b"key 0\t1\nkey 9\t0\n");
    service.stop();
}

#[test]
fn a_state_has_one_process_and_one_kind_of_sketch() {
    let folder = Folder::new();
    let service = Service::start(&folder, BOTH);
    let refused = |line: &str, why: &str| {
        let said = folder.ends(2, &format!("stream --train 127.0.0.1:0 {line}")).stderr;
        assert_eq!(String::from_utf8(said).unwrap(), format!("umbel: {why}\n"));
    };
    refused(
        "--state seen",
        "seen: another process works with this state; stop it, or choose another folder",
    );
    let address = service.at[0];
    let why =
        "the address is in use: another program listens there; stop it or choose another port";
    refused(&format!("--query {address} --filter -n 9"), &format!("{address}: {why}"));
    refused(
        "--query 192.0.2.1:7002 --filter -n 9",
        "192.0.2.1:7002: it is not an address of this machine; 0.0.0.0 stands for all of them",
    );
    service.stop();
    for (line, what) in [
        ("--filter -n 2000", "n is 1000 in the state, but 2000 is asked for"),
        (
            "--filter -n 1000 -p 0.1",
            "the number of bits (m) is 10240 in the state, but 6144 is asked for",
        ),
        (
            "--filter -n 1000 --seed 7",
            "the hash is xxh3 in the state, but xxh3 with seed 7 is asked for",
        ),
    ] {
        let what = format!(
            "seen: {what}; leave it out to go on with the state, or begin a new one in another folder"
        );
        refused(&format!("--state seen {line}"), &what);
    }
}

#[test]
fn a_damaged_snapshot_is_refused_and_the_one_before_offered() {
    let folder = Folder::new();
    for key in ["first\n", "second\n"] {
        let service = Service::start(&folder, BOTH);
        service.send(0, key);
        service.stop();
    }
    let serve = "stream --query queries.txt --state seen";
    folder.write("queries.txt", "first\nsecond\n");
    let refused = |line: &str, parts: &[&str]| {
        let said = String::from_utf8(folder.ends(2, line).stderr).unwrap();
        parts.iter().for_each(|part| assert!(said.contains(part), "{said}"));
    };
    for file in ["sketch.umbel", "positions"] {
        let path = format!("seen/v-3/{file}");
        let whole = folder.read(&path);
        let mut damaged = whole.clone();
        *damaged.last_mut().unwrap() ^= 1;
        folder.write(&path, damaged);
        refused(serve, &[&path, "the snapshot before, v-2, is whole: --previous"]);
        folder.write(&path, whole);
    }
    folder.write("seen/CURRENT", "v-x\n");
    refused(serve, &["seen/CURRENT: \"v-x\" is not the name of one", "there are: v-2, v-3"]);
    std::fs::remove_file(folder.path("seen/CURRENT")).unwrap();
    refused(serve, &["seen/CURRENT: No such file", "there are: v-2, v-3"]);
    folder.write("seen/CURRENT", "v-3\n");
    folder.write("seen/v-3/positions", "");
    assert_eq!(folder.run(&format!("{serve} --previous")), b"first\t1\nsecond\t0\n");
    // From now on it is the one that counts.
    assert_eq!(folder.run(serve), b"first\t1\nsecond\t0\n");
    assert_eq!(folder.read("seen/CURRENT"), b"v-4\n");
    folder.write("seen/v-4/positions", "");
    folder.write("seen/v-2/positions", "");
    refused(
        serve,
        &["seen/v-4/positions: the file is damaged; there is no whole snapshot before it"],
    );
}

#[test]
fn what_was_left_unfinished_is_swept_away() {
    let folder = Folder::new();
    Service::start(&folder, BOTH).stop();
    std::fs::create_dir(folder.path("seen/v-9.part")).unwrap();
    folder.write("seen/v-9.part/sketch.umbel", "half");
    folder.write("seen/.umbel-x.part", "v-");
    Service::start(&folder, BOTH).stop();
    let names = std::fs::read_dir(folder.path("seen")).unwrap();
    let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["CURRENT", "LOCK", "v-1"]);
}

#[test]
fn a_file_is_read_on_where_it_was_left() {
    let folder = Folder::new();
    let run = |code| folder.ends(code, "stream --train keys.txt --state seen --filter -n 1000");
    for keys in ["a\nb\nc", "a\nb\nc\nd\n", "a\nb\nc\nd\n"] {
        folder.write("keys.txt", keys);
        run(0);
    }
    // The newline behind c is an empty line to who has read c.
    assert_eq!(current(&folder), offline(&folder, "keys.txt", 1000));
    for (keys, why) in [
        ("a\nb\n", "8 bytes of it have been read, but it has only 4 now"),
        ("x\nb\nc\nd\ne\n", "its beginning has changed"),
    ] {
        folder.write("keys.txt", keys);
        let said = String::from_utf8(run(2).stderr).unwrap();
        assert!(said.contains(why), "{said}");
    }
}

/// Half a line has been counted as a line: what it becomes would be another key.
#[test]
fn a_counted_line_that_goes_on_is_refused() {
    let folder = Folder::new();
    let line = "stream --train keys.txt --state seen --filter -n 1000";
    for (before, after, code) in
        [("a\nhal", "a\nhalf\n", 2), ("a\nhal", "a\nhal\r\nb\n", 0), ("a\nhal", "a\nhal", 0)]
    {
        folder.write("keys.txt", before);
        folder.ends(0, line);
        folder.write("keys.txt", after);
        let said = String::from_utf8(folder.ends(code, line).stderr).unwrap();
        assert_eq!(said.contains("ended at byte 5, without a newline"), code == 2, "{said}");
        std::fs::remove_dir_all(folder.path("seen")).unwrap();
    }
}

#[test]
fn a_trainer_is_told_what_is_on_disk() {
    let folder = Folder::new();
    let service = Service::start(&folder, NAMED);
    let trainer = named(&service, "a\n\nc\nhal", "ack 0");
    assert_eq!(read_line(&trainer), "ack 3");
    // A name is for one at a time, and no line is what is not one.
    assert_eq!(
        service.send(0, "sensor\nx\n"),
        b"error: a trainer named sensor is connected already\n"
    );
    for name in ["\n", "a\tb\n", "", "half"] {
        assert!(service.send(0, name).starts_with(b"error: the first line is the trainer's name"));
    }
    let long = service.send(0, "x".repeat(300));
    assert_eq!(long, b"error: the first line is the trainer's name, of at most 256 bytes\n");
    drop(trainer);
    // Half a line is sent again as a whole, and another name has lines of its own.
    let again = named(&service, "half\ne\n", "ack 3");
    again.shutdown(Shutdown::Write).unwrap();
    assert_eq!(read_line(&again), "ack 5");
    assert_eq!(service.send(0, "other\na\n"), b"ack 0\nack 1\n");
    service.stop_with_unused();
    folder.write("keys.txt", "a\nc\nhalf\ne\na\n");
    assert_eq!(current(&folder), offline(&folder, "keys.txt", 1000));
}

/// No snapshot, no ack; it is said, and said again at the end.
#[test]
fn a_snapshot_that_fails_is_no_secret() {
    let folder = Folder::new();
    let mut service = Service::start(&folder, NAMED);
    let away = || std::fs::rename(folder.path("seen"), folder.path("away")).unwrap();
    let fails = |line: &str| line.starts_with("umbel: warning: no snapshot: seen/v-");
    away();
    let trainer = named(&service, "a\n", "ack 0");
    service.hear(fails);
    std::fs::rename(folder.path("away"), folder.path("seen")).unwrap();
    assert_eq!(read_line(&trainer), "ack 1");
    away();
    (&trainer).write_all(b"b\n").unwrap();
    service.hear(fails);
    let (code, _, said) = service.end("TERM");
    let last = said.last().unwrap();
    assert!(last.starts_with("umbel: seen/v-") && last.contains("No such file"), "{last}");
    assert_eq!((code, read_line(&trainer)), (Some(2), String::new()));
}

/// Connects as `sensor`, once that name is free, is told this, and sends lines.
fn named(service: &Service, lines: &str, told: &str) -> TcpStream {
    loop {
        let trainer = service.connect(0);
        (&trainer).write_all(b"sensor\n").unwrap();
        match read_line(&trainer) {
            refused if refused.starts_with("error: a trainer named sensor") => {}
            first => {
                assert_eq!(first, told);
                (&trainer).write_all(lines.as_bytes()).unwrap();
                return trainer;
            }
        }
    }
}

/// The connection breaks, the process lives: lines that are in memory, but not on disk, come again and count once.
#[test]
fn lines_that_come_again_are_passed_over() {
    let folder = Folder::new();
    let service = Service::start(&folder, &NAMED.replace("0.05", "100"));
    // One waits for its ack, one is gone, one breaks in mid-line: the name is free at once.
    let waiting = named(&service, "a\nb\nc\n", "ack 0");
    waiting.shutdown(Shutdown::Write).unwrap();
    drop(named(&service, "a\nb\n", "ack 0"));
    drop(named(&service, "a\nb\nc\nd\nhal", "ack 0"));
    let last = named(&service, "a\nb\nc\nd\nhalf\n", "ack 0");
    last.shutdown(Shutdown::Write).unwrap();
    named(&service, "", "ack 0");
    // The last snapshot is acknowledged too.
    signal(&service.child, "TERM");
    assert_eq!((read_line(&waiting), read_line(&last)), ("ack 5".into(), "ack 5".into()));
    service.stop_quietly();
    folder.write("keys.txt", "a\nb\nc\nd\nhalf\n");
    assert_eq!(current(&folder), offline(&folder, "keys.txt", 1000));
}

/// Hundreds of trainers at once: each hears of all of its lines, and they are all there.
#[test]
fn many_trainers() {
    let folder = Folder::new();
    let line = "--train 127.0.0.1:0 --count --state seen --acks --every 0.05";
    let service = Service::start(&folder, line);
    let trainers: Vec<TcpStream> = (0..500).map(|_| service.connect(0)).collect();
    for (i, mut trainer) in trainers.iter().enumerate() {
        write!(trainer, "trainer {i}\n{}", "key\n".repeat(i)).unwrap();
        trainer.shutdown(Shutdown::Write).unwrap();
    }
    for (i, trainer) in trainers.iter().enumerate() {
        let acks: Vec<_> = BufReader::new(trainer).lines().map(Result::unwrap).collect();
        assert_eq!(acks.first().map(String::as_str), Some("ack 0"));
        assert_eq!(acks.last(), Some(&format!("ack {i}")));
    }
    service.stop();
    let count = CountMin::from_bytes(&current(&folder)).unwrap();
    assert_eq!((count.total(), count.estimate(b"key")), (500 * 499 / 2, 500 * 499 / 2));
}

const KILLS: usize = 50;

/// A trainer that does as it is told, until all of its lines are on disk. It never has more lines than the part of the
/// kills that are over, so that it is busy at each.
fn train(at: &Mutex<SocketAddr>, name: &str, lines: &[String], killed: &AtomicUsize) {
    let allowed = || lines.len() * (killed.load(Ordering::Relaxed) + 1) / (KILLS + 1);
    let mut safe = 0;
    while safe < lines.len() {
        let to = *at.lock().unwrap();
        let Ok(stream) = connect(to) else { continue };
        let mut acks = BufReader::new(&stream).lines().map_while(Result::ok);
        let _ = (&stream).write_all(format!("{name}\n").as_bytes());
        let Some(first) = acks.next() else { continue };
        let Some(first) = first.strip_prefix("ack ") else { continue };
        let first: usize = first.parse().unwrap();
        assert!(first >= safe, "{name}: {safe} lines were acknowledged, {first} are there");
        safe = first;
        std::thread::scope(|scope| {
            scope.spawn(|| send(&stream, &lines[first..], || allowed() - first));
            for ack in acks {
                let now = ack.strip_prefix("ack ").unwrap().parse().unwrap();
                assert!(now >= safe);
                safe = now;
            }
        });
    }
}

/// Sends lines as far as it is allowed, until all are sent or the connection breaks.
fn send(mut stream: &TcpStream, lines: &[String], allowed: impl Fn() -> usize) {
    let mut sent = 0;
    while sent < lines.len() {
        let end = allowed().min(lines.len()).min(sent + 300);
        if stream.write_all(text(&lines[sent..end]).as_bytes()).is_err() {
            return;
        }
        sent = end;
        std::thread::sleep(Duration::from_micros(100));
    }
    let _ = stream.shutdown(Shutdown::Write);
}

/// Killed at 50 random moments: nothing acknowledged is lost, nothing counts twice.
fn killed_with_trainers(folder: &Folder, sketch: &str, seed: u64) -> Vec<u8> {
    let mut random = Random(seed);
    let lines = names().map(some_lines);
    folder.write("keys.txt", lines.each_ref().map(|lines| text(lines)).concat());
    let line = format!("--train 127.0.0.1:0 --state seen --acks --every 0.03 {sketch}");
    let mut service = Service::start(folder, &line);
    let (at, killed) = (Mutex::new(service.at[0]), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for (name, lines) in names().iter().zip(&lines) {
            scope.spawn(|| train(&at, name, lines, &killed));
        }
        for _ in 0..KILLS {
            std::thread::sleep(Duration::from_millis(random.below(100)));
            signal(&service.child, "KILL");
            service.child.wait().unwrap();
            service = Service::start(folder, &line);
            *at.lock().unwrap() = service.at[0];
            killed.fetch_add(1, Ordering::Relaxed);
        }
    });
    // Some of the last lines are empty.
    service.stop_with_unused();
    current(folder)
}

fn names() -> [&'static str; 3] {
    ["one", "two", "three"]
}

/// Many, every one a few times, and some that are counted by a trainer but not used.
fn some_lines(name: &str) -> Vec<String> {
    let words = words(50_000, name);
    let mut lines: Vec<String> = (0..500_000).map(|i| words[i * i % words.len()].clone()).collect();
    lines.iter_mut().step_by(777).for_each(String::clear);
    lines
}

#[test]
fn a_filter_killed_with_trainers() {
    let folder = Folder::new();
    let sketch = killed_with_trainers(&folder, "--filter -n 150000", 1);
    assert!(sketch == offline(&folder, "keys.txt", 150_000));
}

#[test]
fn a_count_killed_with_trainers() {
    let folder = Folder::new();
    let sketch = killed_with_trainers(&folder, "--count --eps 0.0001", 3);
    let mut count = CountMin::new(CountMinParams::for_error(0.0001, 0.01).unwrap()).unwrap();
    for name in names() {
        let lines = some_lines(name);
        lines.iter().filter(|line| !line.is_empty()).for_each(|line| count.add(line.as_bytes(), 1));
    }
    assert_eq!(CountMin::from_bytes(&sketch).unwrap().total(), count.total());
    assert!(sketch == count.to_bytes().unwrap());
}

/// Killed at 50 random moments while it reads files: the sketch is that of a build without a stream.
#[test]
fn killed_with_files() {
    let folder = Folder::new();
    let mut random = Random(2);
    folder.run("gen addresses -n 1000000 --seed 1 -o a.txt");
    folder.run("gen addresses -n 3000000 --seed 2 -o b.txt");
    let expected = offline(&folder, "a.txt b.txt", 1_000_000);
    let line = "stream --train a.txt --train b.txt --filter -n 1000000 --state seen --every 0.01";
    let (mut killed, mut ended, mut amid) = (0, 0, 0);
    while killed < KILLS || ended == 0 {
        let mut child = folder.umbel(line).stderr(std::process::Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(random.below(80)));
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success());
            assert!(current(&folder) == expected);
            std::fs::remove_dir_all(folder.path("seen")).unwrap();
            ended += 1;
            continue;
        }
        signal(&child, "KILL");
        child.wait().unwrap();
        killed += 1;
        amid += usize::from(folder.path("seen/CURRENT").exists() && current(&folder) != expected);
    }
    assert!(amid > KILLS / 4, "of {killed} kills {amid} were in mid-file");
}
