//! What programs and people rely on: keys of JSON, help that fits a screen, nothing but the result on stdout.

#![allow(clippy::unwrap_used)]

mod support;

use serde_json::Value;
use support::{Folder, text, words};

const SUBCOMMANDS: [&str; 22] = [
    "size",
    "build",
    "screen",
    "audit",
    "merge",
    "info",
    "count",
    "count build",
    "count query",
    "count dot",
    "count heavy",
    "count range",
    "count quantile",
    "stream",
    "gen",
    "gen strings",
    "gen sample",
    "gen ratings",
    "gen addresses",
    "gen names",
    "completions",
    "man",
];

fn keys(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

/// docs/command.md names these: none may go, and a new one belongs there too.
fn has_keys(object: &Value, documented: &str) {
    let mut found = keys(object);
    let mut documented: Vec<&str> = documented.split_whitespace().collect();
    found.sort_unstable();
    documented.sort_unstable();
    assert_eq!(found, documented);
}

const FACTS: &str = "layout hash seeds key_type n m k bits_per_key promised_rate inserted fill estimated_keys expected_rate_now";

#[test]
fn json_has_its_documented_keys() {
    let folder = Folder::new();
    folder.write("ids.txt", text(&words(100, "id")));
    folder.write("table.tsv", "a\t1\nb\t2\n");
    folder.run("build ids.txt --meta a=b -o ids.umbel");
    folder.run("build table.tsv --key 1 --by 2 -o groups.umbel");
    let size = "group rows layout n m k bytes bits_per_key expected_rate";
    for (line, lines) in [
        ("size -n 10 --json", 2),
        ("size ids.txt --json", 2),
        ("size table.tsv --key 1 --by 2 --json", 4),
        ("size table.tsv --key 1 --by 2 --layout blocked --json", 2),
    ] {
        let sizes = folder.json(line);
        assert_eq!(sizes.as_array().unwrap().len(), lines);
        sizes.as_array().unwrap().iter().for_each(|object| has_keys(object, size));
    }
    let info = folder.json("info ids.umbel --json");
    has_keys(&info, &format!("kind file_bytes metadata verified {FACTS}"));
    assert_eq!(info["metadata"]["a"], "b");
    let info = folder.json("info groups.umbel --json");
    has_keys(&info, "kind file_bytes metadata verified groups");
    has_keys(&info["groups"][0], &format!("group {FACTS}"));
    has_keys(
        &folder.json("screen ids.umbel ids.txt --report --json"),
        "hash hash_functions set_size analysed malformed admitted rejected loading_seconds analysis_seconds",
    );
    for line in [
        "audit groups.umbel table.tsv --json",
        "audit ids.umbel table.tsv --members ids.txt --json",
    ] {
        let audit = folder.json(line);
        has_keys(&audit, "holds confidence filters missing");
        has_keys(
            &audit["filters"][0],
            "group true_positives false_positives true_negatives false_negatives rate interval rate_from_bits \
             promised_rate chance holds",
        );
    }
}

const COUNTS: &str = "inserted total bound saturated";
const SKETCH: &str = "hash seeds key_type w d eps delta";
const ANSWERS: &str =
    "key key_hex estimate at_most at_least certain confidence from to share value";

#[test]
fn json_of_counts_has_its_documented_keys() {
    let folder = Folder::new();
    folder.write("ports.csv", "port,by\n80,a\n443,a\n80,b\n");
    let build = |options: &str| {
        folder.run(&format!("count build ports.csv --key port {options} -o counts.umbel"));
        folder.json("info counts.umbel --json")
    };
    let file = "kind file_bytes metadata verified";
    let kept = "places keys missed";
    let ranges = "lo hi levels sketched_levels";
    let (plain, close) = (build(""), build("--conservative"));
    assert_eq!((&plain["kind"], &close["kind"]), (&"count-min".into(), &"conservative".into()));
    for info in [plain, close] {
        has_keys(&info, &format!("{file} {COUNTS} {SKETCH} counter_bytes"));
    }
    let info = build("--heavy 5");
    has_keys(&info, &format!("{file} {COUNTS} {SKETCH} counter_bytes heavy"));
    has_keys(&info["heavy"], &format!("kind key_type {kept} {COUNTS}"));
    has_keys(&build("--integers 0..65535"), &format!("{file} {COUNTS} {SKETCH} {ranges}"));
    has_keys(
        &folder.json("count range counts.umbel 1 99 --json"),
        "from to estimate bound confidence",
    );
    has_keys(
        &folder.json("count quantile counts.umbel 0.5 --json"),
        "share value bound confidence",
    );
    has_keys(
        &build("--by by")["groups"][0],
        &format!("group kind {COUNTS} {SKETCH} counter_bytes"),
    );
    build("");
    has_keys(
        &folder.json("count dot counts.umbel counts.umbel --json"),
        "estimate bound confidence",
    );
    folder.write("key.txt", "80\n");
    has_keys(&folder.json("count query counts.umbel key.txt --json"), "key estimate bound");
    has_keys(&folder.json("count heavy key.txt --json"), "key at_most at_least certain total");
}

/// Keys that are not text lose nothing in JSON: their bytes can be read back.
#[test]
fn keys_of_any_bytes_stand_in_json() {
    let folder = Folder::new();
    let keys: [&[u8]; 4] = [b"text", "ü\"\\\t".as_bytes(), b"\xFF\x00", b"\xFE\x00"];
    let lines: Vec<u8> = keys.iter().flat_map(|key| [*key, b"\n"].concat()).collect();
    folder.write("keys.txt", &lines);
    folder.run("count build keys.txt -o counts.umbel");
    for line in ["count query counts.umbel keys.txt --json", "count heavy keys.txt --json"] {
        let text = String::from_utf8(folder.run(line)).unwrap();
        let read = |line: &str| {
            let object: Value = serde_json::from_str(line).unwrap();
            match (object["key"].as_str(), object["key_hex"].as_str()) {
                (Some(text), None) => text.as_bytes().to_vec(),
                (None, Some(hex)) => {
                    let byte = |i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap();
                    (0..hex.len()).step_by(2).map(byte).collect()
                }
                _ => panic!("{line}"),
            }
        };
        let mut found: Vec<Vec<u8>> = text.lines().map(read).collect();
        let mut expected = keys.map(<[u8]>::to_vec).to_vec();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{line}");
    }
}

#[test]
fn the_documented_keys_are_documented() {
    let page = std::fs::read_to_string(support::fixture("../../../docs/command.md")).unwrap();
    for key in [FACTS, COUNTS, SKETCH, ANSWERS].iter().flat_map(|keys| keys.split(' ')) {
        assert!(page.contains(&format!("`{key}`")), "{key}");
    }
}

#[test]
fn help_fits_a_screen_and_has_examples() {
    let folder = Folder::new();
    for subcommand in SUBCOMMANDS {
        for columns in ["80", "100"] {
            let mut command = folder.umbel(subcommand);
            let output = command.arg("--help").env("COLUMNS", columns).output().unwrap();
            assert!(output.status.success() && output.stderr.is_empty());
            let help = String::from_utf8(output.stdout).unwrap();
            let lines = help.lines().count();
            assert!(lines <= 60 || columns == "80", "{subcommand}: {lines} lines");
            let longest = help.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(longest <= columns.parse().unwrap(), "{subcommand}: {longest} columns");
            let needs_none = matches!(subcommand, "completions" | "man");
            assert!(needs_none || help.contains("Example"), "{subcommand}");
        }
    }
}

/// Neither colours nor a progress bar where there is no terminal, however long it takes.
#[test]
fn no_escapes_without_a_terminal() {
    let folder = Folder::new();
    let mut child = folder.start("build -o ids.umbel");
    let mut stdin = child.stdin.take().unwrap();
    for word in words(12, "slow") {
        std::io::Write::write_all(&mut stdin, format!("{word}\n").as_bytes()).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty());
    for line in ["", "--help", "size", "build --frob", "size -n 10", "info ids.umbel", "audit x"] {
        let output = folder.umbel(line).output().unwrap();
        assert!(!output.stdout.contains(&0x1B) && !output.stderr.contains(&0x1B), "{line}");
    }
}

/// Results to stdout, everything else to stderr.
#[test]
fn warnings_and_errors_stay_off_stdout() {
    let folder = Folder::new();
    folder.write("ids.txt", "a\n\nb\n");
    let build = folder.ends(0, "build ids.txt -o ids.umbel");
    assert!(build.stdout.is_empty() && !build.stderr.is_empty());
    assert_eq!(folder.ends(0, "screen ids.umbel ids.txt").stdout, b"a\nb\n");
    assert_eq!(folder.ends(0, "screen ids.umbel ids.txt -c").stdout, b"2\n");
    for line in [
        "",
        "frob",
        "build",
        "info ids.txt",
        "screen ids.umbel missing.txt",
        "audit ids.umbel ids.txt",
    ] {
        let output = folder.ends(2, line);
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{line}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!said.contains("panicked") && !said.contains("backtrace"), "{line}: {said}");
    }
}

/// The filter itself may go to a pipe.
#[test]
fn a_filter_may_go_to_stdout() {
    let folder = Folder::new();
    folder.write("ids.txt", text(&words(100, "id")));
    folder.run("build ids.txt -o ids.umbel");
    assert_eq!(folder.run("build ids.txt -o -"), folder.read("ids.umbel"));
    assert_eq!(folder.run("merge ids.umbel -o -"), folder.read("ids.umbel"));
}
