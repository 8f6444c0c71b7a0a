//! What a person types and sees: `cmd/*.trycmd`. After a wanted change, TRYCMD=overwrite writes them anew; read the difference.
//!
//! A transcript that writes files has a folder `.out` beside it: it then runs in a copy of its folder `.in`, and what it
//! writes is compared with what stands there. `sh` is for pipes and redirections.

#![allow(clippy::unwrap_used)]

use std::path::Path;

#[test]
fn transcripts() {
    let folder = Path::new(env!("CARGO_BIN_EXE_umbel")).parent().unwrap();
    trycmd::TestCases::new()
        .register_bin("sh", Path::new("/bin/sh"))
        .env("PATH", format!("{}:/usr/bin:/bin", folder.display()))
        .env("COLUMNS", "100")
        .env("RUST_BACKTRACE", "0")
        .case("tests/cmd/*.trycmd");
}

/// A command that is not registered would be skipped in silence.
#[test]
fn transcripts_use_no_other_commands() {
    for entry in std::fs::read_dir("tests/cmd").unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "trycmd") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for line in text.lines().filter_map(|line| line.strip_prefix("$ ")) {
            let command = line.split(' ').find(|word| !word.contains('='));
            assert!(matches!(command, Some("umbel" | "sh")), "{}: {line}", path.display());
        }
    }
}
