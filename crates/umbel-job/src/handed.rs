//! Lines that an engine reads and hands over: what its own reader would take for something else is refused before a job is run.

use std::io::{BufRead, BufReader};
use std::sync::Arc;

use umbel_io::Source;

use crate::hdfs::is_hidden;
use crate::location::Location;
use crate::{Error, Result};

/// What stands for something else in names that Hadoop is given.
const SIGNS: [char; 8] = ['*', '?', '[', ']', '{', '}', '\\', ','];

/// Refuses a file that comes twice: lines say only which file they are from.
pub(crate) fn check_once<'l>(files: impl Iterator<Item = &'l Location>) -> Result<()> {
    let mut known: Vec<&str> = Vec::new();
    for file in files {
        let Location::Hdfs(path) = file else { continue };
        if known.contains(&path.path()) {
            return Err(refused(file, "takes a file once"));
        }
        known.push(path.path());
    }
    Ok(())
}

/// Refuses names and texts that Hadoop reads in its own way. Whole lines are kept as they are, also their ends.
pub(crate) fn check(path: &Location, source: &Source, whole_lines: bool) -> Result<()> {
    if let Location::Hdfs(hdfs) = path {
        if hdfs.path().contains(SIGNS) {
            return Err(refused(path, "takes no name with one of * ? [ ] { } \\ or a comma in it"));
        }
        if is_hidden(hdfs.file_name()) {
            return Err(refused(path, "takes no name that begins with a dot or an underscore"));
        }
    }
    match returns(source)? {
        Returns::Amid => Err(refused(
            path,
            "takes no text with a carriage return amid a line, where Hadoop would end it",
        )),
        Returns::AtEnds if whole_lines => Err(refused(
            path,
            "keeps no lines that end with a carriage return, which Hadoop takes away",
        )),
        _ => Ok(()),
    }
}

fn refused(path: &Location, why: &str) -> Error {
    Error::other(format!("{path}: --lines-per-split {why}: leave it out"))
}

/// Where a text has carriage returns.
#[derive(Debug, PartialEq, Eq)]
enum Returns {
    Nowhere,
    AtEnds,
    Amid,
}

fn returns(source: &Source) -> Result<Returns> {
    let mut reader = BufReader::with_capacity(1 << 20, source.open(&Arc::default())?);
    let (mut found, mut is_open) = (Returns::Nowhere, false);
    loop {
        let bytes = reader.fill_buf().map_err(Error::io(source.name()))?;
        // One at the end of the text ends a line for Hadoop, and is no part of a key here.
        let Some(first) = bytes.first() else { return Ok(found) };
        if is_open && *first != b'\n' {
            return Ok(Returns::Amid);
        }
        let returns = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\r');
        for (i, _) in returns {
            found = Returns::AtEnds;
            if bytes.get(i + 1).is_some_and(|next| *next != b'\n') {
                return Ok(Returns::Amid);
            }
        }
        is_open = bytes.last() == Some(&b'\r');
        let len = bytes.len();
        reader.consume(len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carriage_returns_are_found_wherever_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        let long = "x".repeat((1 << 20) - 1);
        let texts = [
            (String::new(), Returns::Nowhere),
            ("a\nb".into(), Returns::Nowhere),
            ("a\r\nb\r\n".into(), Returns::AtEnds),
            ("a\r".into(), Returns::AtEnds),
            ("a\nb\rc\n".into(), Returns::Amid),
            ("a\r\r\n".into(), Returns::Amid),
            // At the end of what is read at a time.
            (format!("{long}\r\nb\n"), Returns::AtEnds),
            (format!("{long}\rb\n"), Returns::Amid),
        ];
        for (text, expected) in texts {
            std::fs::write(&path, &text).unwrap();
            let source = Location::Local(path.clone()).source();
            assert_eq!(returns(&source).unwrap(), expected, "{} bytes", text.len());
        }
    }

    #[test]
    fn names_that_hadoop_reads_otherwise_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        std::fs::write(&path, "a\n").unwrap();
        let source = Location::Local(path).source();
        let named = |name: &str| check(&Location::parse(name.as_ref()), &source, false).is_ok();
        assert!(named("hdfs:///a/b c.txt") && named("hdfs:///_a/b.txt"));
        for name in ["x[1].txt", "a,b", "a*", "_hidden", ".hidden", "{a}"] {
            assert!(!named(&format!("hdfs:///a/{name}")), "{name}");
        }
    }

    #[test]
    fn a_file_comes_once() {
        let files =
            ["hdfs:///a", "hdfs:///b", "hdfs:/a"].map(|path| Location::parse(path.as_ref()));
        assert!(check_once(files[..2].iter()).is_ok());
        let said = check_once(files.iter()).unwrap_err().to_string();
        assert_eq!(said, "hdfs:///a: --lines-per-split takes a file once: leave it out");
    }
}
