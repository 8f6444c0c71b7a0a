//! `umbel similar` on data with known answers, and the same bytes for any number of threads.

#![allow(clippy::unwrap_used)]

mod support;

use serde_json::Value;
use support::Folder;

fn lines(bytes: &[u8]) -> Vec<String> {
    String::from_utf8(bytes.to_vec()).unwrap().lines().map(Into::into).collect()
}

/// The id of the text that this one is a copy of.
fn copy_of(line: &str) -> Option<u64> {
    let object: Value = serde_json::from_str(line).unwrap();
    object["of"].as_u64()
}

#[test]
fn copies_among_texts_are_found() {
    let folder = Folder::new();
    folder.run("gen texts -n 4000 --duplicates 1000 -o docs.jsonl");
    folder.run("similar build /dev/null -n 4000 --metric jaccard --text body --close 0.2 --far 0.95 -o empty.umbel");
    let seen = lines(&folder.run("similar query empty.umbel docs.jsonl --dedup -v"));
    let copies = seen.iter().filter(|line| copy_of(line).is_some()).count();
    // Three edits of 200 words are a distance of at most 0.15; all that is new has a distance of 1.
    assert!(copies >= 990, "{copies} of 1000 copies found");
    assert!(seen.len() - copies <= 30, "{} of 3000 new texts flagged", seen.len() - copies);
    let first = lines(&folder.run("similar query empty.umbel docs.jsonl --dedup"));
    assert_eq!(first.len() + seen.len(), 4000);
}

#[test]
fn planted_vectors_are_found() {
    let folder = Folder::new();
    folder.run("gen vectors -n 3000 --dim 256 --planted 1000 -o v.csv");
    for (metric, distances) in
        [("cosine", "--close 0.02 --far 0.6"), ("euclid", "--close 1200 --far 9000")]
    {
        folder.run(&format!("similar build /dev/null -n 3000 --dim 256 --metric {metric} {distances} --skip 1 -o e.umbel"));
        let seen = lines(&folder.run("similar query e.umbel v.csv --dedup -v"));
        let planted = seen.iter().filter(|line| !line.starts_with("0,")).count();
        assert!(planted >= 990, "{metric}: {planted} of 1000 found");
        assert!(
            seen.len() - planted <= 20,
            "{metric}: {} of 2000 new ones flagged",
            seen.len() - planted
        );
    }
}

/// The same files and the same lines for any number of threads, also where rows cannot be used.
#[test]
fn any_number_of_threads_gives_the_same() {
    let folder = Folder::new();
    let mut docs = folder.run("gen texts -n 3000 --duplicates 500 --words 60");
    docs.extend_from_slice(b"no json\n{\"body\": 7}\n{\"body\": \"...\"}\n");
    folder.write("docs.jsonl", &docs);
    let distances = "--metric jaccard --text body --close 0.2 --far 0.95";
    let mut expected = None;
    for threads in [1, 2, 3, 8] {
        let built = folder.ends(
            0,
            &format!("similar build docs.jsonl {distances} --threads {threads} -o d.umbel"),
        );
        let grown =
            folder.ends(0, &format!("similar build /dev/null -n 3000 {distances} -o e.umbel"));
        let dedup = folder.ends(
            0,
            &format!("similar query e.umbel docs.jsonl --dedup --threads {threads} -o g.umbel"),
        );
        let query =
            folder.ends(0, &format!("similar query g.umbel docs.jsonl --threads {threads}"));
        let found = (
            [built.stderr, grown.stderr, dedup.stderr, query.stderr],
            [dedup.stdout, query.stdout],
            [folder.read("d.umbel"), folder.read("g.umbel")],
        );
        let said = String::from_utf8_lossy(&found.0[0]).into_owned();
        assert!(said.contains("3 rows were not used; the first: docs.jsonl, line 3001: the line is not a JSON object"), "{said}");
        assert_eq!(found, *expected.get_or_insert_with(|| found.clone()), "{threads} threads");
    }
}

/// Built in parts and merged is built at once.
#[test]
fn parts_merge_to_the_whole() {
    let folder = Folder::new();
    folder.run("gen texts -n 600 --words 60 -o all.jsonl");
    let all = lines(&folder.read("all.jsonl"));
    folder.write("a.jsonl", support::text(&all[..200]));
    folder.write("b.jsonl", support::text(&all[200..]));
    folder.run(
        "similar build all.jsonl --metric jaccard --text body --close 0.2 --far 0.95 -o all.umbel",
    );
    folder.run("similar build a.jsonl --like all.umbel -o a.umbel");
    folder.run("similar build b.jsonl --like all.umbel -o b.umbel");
    folder.run("merge b.umbel a.umbel -o merged.umbel");
    assert!(folder.read("merged.umbel") == folder.read("all.umbel"));
}

/// Whoever closes the pipe of the lines does not know of the file beside it, which comes out whole.
#[test]
fn a_closed_pipe_leaves_the_file_beside_it_whole() {
    let folder = Folder::new();
    folder.run("gen texts -n 2000 --duplicates 200 -o docs.jsonl");
    let of = "--text body --metric jaccard --close 0.2 --far 0.95 -n 2000";
    folder.run(&format!("similar build /dev/null {of} -o empty.umbel"));
    let query = "similar query empty.umbel docs.jsonl --dedup -o";
    folder.run(&format!("{query} whole.umbel"));
    let mut child = folder.start(&format!("{query} beside.umbel"));
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
    assert!(folder.read("beside.umbel") == folder.read("whole.umbel"));
}
