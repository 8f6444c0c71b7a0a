//! `umbel stream` with real sockets, files and pipes: what is answered.

#![allow(clippy::unwrap_used)]

#[path = "support/service.rs"]
mod service;
mod support;

use std::collections::{HashMap, HashSet};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener};
use std::time::{Duration, Instant};

use service::{Service, ask, read_line, talk};
use support::{Folder, peak_memory, text, words};

const BOTH: &str = "--train 127.0.0.1:0 --query 127.0.0.1:0 --filter -n";

fn lines(bytes: &[u8]) -> Vec<&str> {
    std::str::from_utf8(bytes).unwrap().lines().collect()
}

/// The most false positives among `asked` strangers that a filter of this rate shows, but once in a few million times.
fn most(asked: usize, rate: f64) -> f64 {
    let mean = asked as f64 * rate;
    mean + 5.0 * mean.sqrt() + 5.0
}

/// Addresses train a filter, others are asked: over two sockets, and from two files.
#[test]
fn addresses_that_came_by_are_known() {
    let folder = Folder::new();
    folder.run("gen addresses -n 300000 --distinct 200000 --plain --seed 1 -o train.txt");
    folder.run("gen addresses -n 300000 --distinct 200000 --plain --seed 2 -o others.txt");
    let train = folder.read("train.txt");
    let mut queries = folder.read("others.txt");
    queries.extend(&train[..train.len() / 3 / 13 * 13]);
    folder.write("queries.txt", &queries);
    let seen: HashSet<&str> = lines(&train).into_iter().collect();
    let service = Service::start(&folder, &format!("{BOTH} {}", seen.len()));
    assert_eq!(service.send(0, &train), b"");
    let answers = service.send(1, &queries);
    service.stop();
    let (mut strangers, mut wrong) = (0, 0);
    for (query, answer) in lines(&queries).into_iter().zip(lines(&answers)) {
        let said = answer.strip_prefix(query).unwrap();
        match (seen.contains(query), said) {
            (true, "\t1") => {}
            (false, "\t0" | "\t1") => {
                strangers += 1;
                wrong += usize::from(said == "\t1");
            }
            _ => panic!("{query}: {answer}"),
        }
    }
    assert_eq!(lines(&answers).len(), lines(&queries).len());
    assert!(strangers > 100_000 && wrong > 0 && wrong as f64 <= most(strangers, 0.01), "{wrong}");

    let files = format!("stream --train train.txt --query queries.txt --filter -n {}", seen.len());
    assert_eq!(folder.run(&files), answers);
    // Once each for what was read together: no more often than asked, and every one at least once.
    let only = folder.run(&format!("{files} --only-seen"));
    let (only, answers) = (lines(&only), lines(&answers));
    let ones: Vec<&str> = answers.iter().filter_map(|answer| answer.strip_suffix("\t1")).collect();
    assert!(only.len() <= ones.len() && ones.len() - only.len() < 10_000);
    assert_eq!(only.iter().collect::<HashSet<_>>(), ones.iter().collect());
}

/// The same for a count: never too low, and too high by more than eps · N for no more than a share delta of the keys.
#[test]
fn addresses_that_came_by_are_counted() {
    let folder = Folder::new();
    folder
        .run("gen addresses -n 500000 --distinct 100000 --zipf 1.0 --plain --seed 1 -o train.txt");
    let train = folder.read("train.txt");
    let mut counts: HashMap<&str, u64> = HashMap::new();
    lines(&train).into_iter().for_each(|address| *counts.entry(address).or_default() += 1);
    counts.insert("nobody", 0);
    let line = "--train 127.0.0.1:0 --query 127.0.0.1:0 --count --eps 0.0005 --delta 0.01";
    let service = Service::start(&folder, line);
    service.send(0, &train);
    let keys: Vec<&str> = counts.keys().copied().collect();
    let answers = service.send(1, text(&keys));
    service.stop();
    let mut higher = 0;
    for (key, answer) in keys.iter().zip(lines(&answers)) {
        let estimate: u64 = answer.strip_prefix(&format!("{key}\t")).unwrap().parse().unwrap();
        assert!(estimate >= counts[key], "{key}: {estimate}");
        higher += usize::from(estimate > counts[key] + 250);
    }
    assert_eq!(lines(&answers).len(), keys.len());
    assert!(higher as f64 <= most(keys.len(), 0.01), "{higher}");
    folder.write("queries.txt", format!("nobody\n{0}\n{0}\n", keys[1]));
    let only = "stream --train train.txt --query queries.txt --count --eps 0.00001 --only-seen";
    let only = folder.run(only);
    let only = lines(&only);
    assert!(only.len() == 1 && only[0] == format!("{}\t{}", keys[1], counts[keys[1]]), "{only:?}");
}

#[test]
fn every_line_is_answered_whatever_it_holds() {
    let folder = Folder::new();
    let service = Service::start(&folder, &format!("{BOTH} 1000 -p 0.000001 --max-line 100"));
    let long = "x".repeat(101);
    let trained = format!("plain\r\nta\tb\n\n\n{long}\n{}\nhalf", "y".repeat(100));
    assert_eq!(service.send(0, trained), b"error: line 5 is longer than 100 bytes\n");
    assert_eq!(service.send(0, b"\xFF\x00\xFE\n"), b"");
    let huge = "z".repeat(1 << 20);
    let asked = format!("plain\nPLAIN\n\nta\tb\n{long}\n{huge}\n{}\r\nhal\nhalf", "y".repeat(100));
    let answers = service.send(1, asked);
    assert_eq!(
        lines(&answers),
        [
            "plain\t1",
            "PLAIN\t0",
            "\t0",
            "ta\tb\t1",
            "error: a line is longer than 100 bytes",
            "error: a line is longer than 100 bytes",
            // 100 bytes and a return are too long.
            "error: a line is longer than 100 bytes",
            "hal\t0",
            "half\t1",
        ]
    );
    assert_eq!(service.send(1, b"\xFF\x00\xFE\n\xFF\n"), b"\xFF\x00\xFE\t1\n\xFF\t0\n");
    assert_eq!(service.send(1, b""), b"");
    service.stop_with_unused();
}

/// Answers come at once, also to half of what will be asked; a batch is what was read together.
#[test]
fn an_answer_does_not_wait_for_the_next_question() {
    let folder = Folder::new();
    let service = Service::start(&folder, &format!("{BOTH} 1000 --only-seen"));
    service.send(0, "a\nb\n");
    let client = service.connect(1);
    (&client).write_all(b"a\nx\na\nb\nhal").unwrap();
    assert_eq!((read_line(&client), read_line(&client)), ("a".into(), "b".into()));
    (&client).write_all(b"f\na\n").unwrap();
    assert_eq!(read_line(&client), "a");
    let mut training = service.connect(0);
    for i in 0..200 {
        training.write_all(format!("key {i}\n").as_bytes()).unwrap();
        while talk(service.connect(1), format!("key {i}").as_bytes()).is_empty() {}
    }
    service.stop();
}

/// What has been read from a training source when a question is asked is in the answer. A pipe shows what has been read.
#[test]
fn an_answer_knows_all_that_was_read_before() {
    let folder = Folder::new();
    let fifo = folder.path("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let line = "--train fifo --query 127.0.0.1:0 --filter -n 8000000 -p 0.0001";
    let service = Service::start(&folder, line);
    let mut pipe = std::fs::File::options().write(true).open(&fifo).unwrap();
    let client = service.connect(0);
    for round in 0..1500 {
        // As many lines as a pipe holds: the last of them is folded last.
        let chunk: String = (0..5000).map(|i| format!("{round} {i}\n")).collect();
        pipe.write_all(chunk.as_bytes()).unwrap();
        while rustix::io::ioctl_fionread(&pipe).unwrap() > 0 {
            std::hint::spin_loop();
        }
        assert_eq!(ask(&client, &format!("{round} 4999")), format!("{round} 4999\t1"));
    }
    service.stop();
}

/// A thousand clients ask while others train; some never read, some go away in mid-line: nobody else is harmed.
#[test]
fn a_thousand_connections() {
    let folder = Folder::new();
    let service = Service::start(&folder, &format!("{BOTH} 2000000"));
    let clients: Vec<_> = (0..1000).map(|_| service.connect(1)).collect();
    let keys = text(&words(1_000_000, "key"));
    let deaf: Vec<_> = (0..20).map(|_| service.connect(1)).collect();
    std::thread::scope(|scope| {
        let trainers: Vec<_> = keys
            .as_bytes()
            .chunks(keys.len() / 4 + 1)
            .map(|part| {
                let service = &service;
                scope.spawn(move || service.send(0, part))
            })
            .collect();
        // Millions of questions, no answer is read: until the buffers between us are full.
        for client in &deaf {
            client.set_write_timeout(Some(Duration::from_millis(20))).unwrap();
            while (&*client).write_all(keys.as_bytes()).is_ok() {}
        }
        for (i, client) in clients.iter().enumerate() {
            (&*client).write_all(format!("stranger {i}\n").as_bytes()).unwrap();
        }
        for (i, client) in clients.iter().enumerate() {
            assert_eq!(read_line(client).split('\t').next(), Some(&*format!("stranger {i}")));
        }
        for gone in 0..50 {
            let client = service.connect(gone % 2);
            (&client).write_all(b"half a li").unwrap();
        }
        trainers.into_iter().for_each(|trainer| assert_eq!(trainer.join().unwrap(), b""));
    });
    for (client, word) in clients.iter().zip(words(1000, "key")) {
        assert_eq!(ask(client, &word), format!("{word}\t1"));
    }
    let memory = peak_memory(&service.child).unwrap();
    assert!(memory < 150 << 20, "{} MiB", memory >> 20);
    drop((clients, deaf));
    service.stop();
}

/// Where few files may be open there are few connections: the others are told, or wait; whoever runs the service hears of it, and it costs
/// no time.
#[test]
fn few_connections_where_few_files_may_be_open() {
    let folder = Folder::new();
    for (files, least, refused, says) in [
        (30, 10, 35, "there are 15, as many as the limit of open files allows (ulimit -n)"),
        (14, 2, 0, "Too many open files (os error 24), raise the limit (ulimit -n); trying again"),
    ] {
        let service = Service::start_limited(&folder, &format!("{BOTH} 1000"), files);
        let clients: Vec<_> = (0..50).map(|_| service.connect(1)).collect();
        let mut answers = Vec::new();
        for client in &clients {
            client.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
            // Some have been closed already.
            _ = (&*client).write_all(b"key\n");
            let mut answer = [0; 5];
            answers.push((&*client).read_exact(&mut answer).is_ok().then_some(answer));
        }
        let told =
            |answer: &[u8; 5]| answers.iter().filter(|found| **found == Some(*answer)).count();
        assert!((least..=files as usize).contains(&told(b"key\t0")), "{files}: {answers:?}");
        assert_eq!(told(b"error"), refused, "{files}: {answers:?}");
        drop(clients);
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(service.send(1, "key\n"), b"key\t0\n");
        let busy = cpu_ticks(&service.child);
        assert!(busy < 50, "{files}: {busy} ticks of 10 ms");
        let (code, _, said) = service.end("TERM");
        assert_eq!(code, Some(0));
        // Once for each address.
        assert!((1..=2).contains(&said.len()), "{files}: {said:?}");
        assert!(said.iter().all(|line| line.contains(says)), "{files}: {said:?}");
    }
}

/// The time that a process has worked, in hundredths of a second.
fn cpu_ticks(child: &std::process::Child) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split(' ').collect();
    fields[12..14].iter().map(|ticks| ticks.parse::<u64>().unwrap()).sum()
}

#[test]
fn it_connects_to_a_trainer_and_comes_back() {
    let folder = Folder::new();
    let trainer = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = trainer.local_addr().unwrap();
    drop(trainer);
    let line = format!("--query 127.0.0.1:0 --train-from {address} --filter -n 1000");
    let line = line.replace(&address.to_string(), &format!("localhost:{}", address.port()));
    let service = Service::start(&folder, &line);
    std::thread::sleep(Duration::from_millis(250));
    let trainer = TcpListener::bind(address).unwrap();
    let client = service.connect(0);
    for key in ["first", "second"] {
        let (mut stream, _) = trainer.accept().unwrap();
        stream.write_all(format!("{key}\n").as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        stream.read_to_end(&mut Vec::new()).unwrap();
        assert_eq!(ask(&client, key), format!("{key}\t1"));
    }
    let (code, _, said) = service.end("INT");
    assert_eq!(code, Some(0));
    assert!(
        said.len() == 1 && said[0].contains("refused (os error 111); trying again"),
        "{said:?}"
    );
}

#[test]
fn how_things_stand() {
    let folder = Folder::new();
    let line = format!("{BOTH} 1000 --json --every 0.05 --state seen");
    let mut service = Service::start(&folder, &line);
    service.send(0, text(&words(500, "key")) + "\n");
    service.send(1, text(&words(70, "key")));
    let parse = |line: &str| -> serde_json::Value { serde_json::from_str(line).unwrap() };
    let half = parse(&service.hear(|line| parse(line)["asked"] == 70));
    service.send(0, text(&words(3000, "more")));
    let (_, _, said) = service.end("TERM");
    let page = std::fs::read_to_string(support::fixture("../../../docs/command.md")).unwrap();
    for key in half.as_object().unwrap().keys() {
        assert!(page.contains(&format!("`{key}`")), "{key}");
    }
    assert_eq!(half["trained"], 500);
    assert_eq!((&half["unused"], &half["inserted"]), (&1.into(), &500.into()));
    assert!(half["warning"].is_null() && half["expected_rate_now"].as_f64().unwrap() < 0.005);
    let last = parse(said.last().unwrap());
    for status in [&half, &last] {
        let rate = status["trained_per_second"].as_f64();
        assert!(rate.is_none_or(|rate| rate <= 35_000.0), "of 3500 lines in a tenth of a second");
    }
    assert_eq!((&last["trained"], &last["asked"]), (&3500.into(), &70.into()));
    assert!(last["warning"].as_str().unwrap().contains("was sized for 1000"));
    assert!(last["expected_rate_now"].as_f64().unwrap() > 0.1);
    assert!(last["fill"].as_f64().unwrap() > half["fill"].as_f64().unwrap());
}

/// The warning comes once, and stdout has nothing but answers.
#[test]
fn fuller_than_it_was_sized_for() {
    let folder = Folder::new();
    folder.write("train.txt", text(&words(5000, "key")));
    folder.write("queries.txt", "nobody\n");
    let output =
        folder.ends(0, "stream --train train.txt --query queries.txt --filter -n 100 -p 0.1");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("umbel: warning: the filter holds ") && said.lines().count() == 1);
    assert!(output.stdout.starts_with(b"nobody\t"));
}

#[test]
fn a_closed_pipe_is_no_error() {
    let folder = Folder::new();
    folder.write("queries.txt", text(&words(500_000, "key")));
    let started = Instant::now();
    let mut child = folder.start("stream --train 127.0.0.1:0 --query queries.txt --filter -n 100");
    let mut first = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    assert!(child.wait().unwrap().success() && started.elapsed() < Duration::from_secs(20));
}
