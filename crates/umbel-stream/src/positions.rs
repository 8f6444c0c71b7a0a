//! How far each source has come. FORMAT.md draws the file.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Write;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use umbel::hash::xxh3;

const FIRST_LINE: &str = "umbel-stream 1";
/// Where there are batches of Spark.
const FIRST_LINE_WITH_BATCHES: &str = "umbel-stream 2";
/// Bytes from a file's beginning that tell whether it is the same file.
const HEAD: u64 = 4096;

/// What of each source is in a sketch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Positions {
    /// By full path.
    pub(crate) files: BTreeMap<PathBuf, Mark>,
    /// By name: the number of lines.
    pub(crate) trainers: BTreeMap<String, u64>,
    /// By the id of a Spark query: the last batch.
    batches: BTreeMap<String, u64>,
}

/// How far a file has been read, and how to know it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Bytes that have been read.
    pub(crate) byte: u64,
    /// As many bytes of its beginning,
    head: u64,
    /// hashed.
    hash: u64,
}

impl Mark {
    /// The beginning of a file.
    pub(crate) fn new(file: &mut File) -> io::Result<Mark> {
        let (head, hash) = hashed(file, HEAD)?;
        Ok(Mark { byte: 0, head, hash })
    }

    /// So many bytes before.
    pub(crate) fn back(self, bytes: u64) -> Mark {
        Mark { byte: self.byte - bytes, ..self }
    }

    /// Whether a file begins as this one did and reaches as far: the reason if not.
    pub(crate) fn check(&self, file: &mut File) -> io::Result<Result<(), String>> {
        let len = file.metadata()?.len();
        if len < self.byte {
            let byte = self.byte;
            return Ok(Err(format!(
                "{byte} bytes of it have been read, but it has only {len} now"
            )));
        }
        if hashed(file, self.head)? != (self.head, self.hash) {
            return Ok(Err("its beginning has changed".into()));
        }
        if self.is_amid(file)? {
            let byte = self.byte;
            return Ok(Err(format!(
                "the line that ended at byte {byte}, without a newline, has been counted, and goes on now"
            )));
        }
        Ok(Ok(()))
    }

    /// Whether the bytes that have been read end within a line of the file as it is now.
    fn is_amid(&self, file: &mut File) -> io::Result<bool> {
        if self.byte == 0 {
            return Ok(false);
        }
        file.seek(SeekFrom::Start(self.byte - 1))?;
        let mut border = Vec::new();
        file.take(3).read_to_end(&mut border)?;
        Ok(!matches!(&border[..], [b'\n', ..] | [_] | [_, b'\n', ..] | [_, b'\r', b'\n']))
    }
}

fn hashed(file: &mut File, len: u64) -> io::Result<(u64, u64)> {
    let mut head = Vec::new();
    file.take(len).read_to_end(&mut head)?;
    Ok((head.len() as u64, xxh3(&head, 0)))
}

impl Positions {
    /// The bytes of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = format!("{}\n", self.first_line()).into_bytes();
        for (path, Mark { byte, head, hash }) in &self.files {
            bytes.extend(format!("file {byte} {head} {hash:016x} ").bytes());
            bytes.extend(path.as_os_str().as_bytes());
            bytes.push(b'\n');
        }
        let mut rest = String::new();
        for (name, lines) in &self.trainers {
            // Writing to a string does not fail.
            let _ = writeln!(rest, "trainer {lines} {name}");
        }
        for (query, batch) in &self.batches {
            let _ = writeln!(rest, "spark {batch} {query}");
        }
        bytes.extend(rest.bytes());
        let sum = xxh3(&bytes, 0);
        bytes.extend(format!("xxh3 {sum:016x}\n").bytes());
        bytes
    }

    /// The positions in these bytes; none if they are damaged.
    pub fn from_bytes(bytes: &[u8]) -> Option<Positions> {
        let (content, last) = bytes.split_at_checked(bytes.len().checked_sub(22)?)?;
        if last != format!("xxh3 {:016x}\n", xxh3(content, 0)).as_bytes() {
            return None;
        }
        let mut lines = content.strip_suffix(b"\n")?.split(|&byte| byte == b'\n');
        let first = lines.next()?;
        let mut positions = Positions::default();
        for line in lines {
            let mut words = line.splitn(2, |&byte| byte == b' ');
            let (kind, rest) = (words.next()?, words.next()?);
            match kind {
                b"file" => positions.file(rest)?,
                b"trainer" => named(&mut positions.trainers, rest)?,
                b"spark" => named(&mut positions.batches, rest)?,
                _ => return None,
            }
        }
        (first == positions.first_line().as_bytes()).then_some(positions)
    }

    /// The last batch of a Spark query that is in the sketch; none if there is none.
    pub fn batch(&self, query: &str) -> Option<u64> {
        self.batches.get(query).copied()
    }

    /// The ids of all Spark queries that have been taken in.
    pub fn queries(&self) -> impl Iterator<Item = &str> {
        self.batches.keys().map(String::as_str)
    }

    /// The same with the batches of a query up to this one.
    pub fn with_batch(mut self, query: &str, batch: u64) -> Positions {
        self.batches.insert(query.into(), batch);
        self
    }

    fn first_line(&self) -> &'static str {
        if self.batches.is_empty() { FIRST_LINE } else { FIRST_LINE_WITH_BATCHES }
    }

    fn file(&mut self, rest: &[u8]) -> Option<()> {
        let mut words = rest.splitn(4, |&byte| byte == b' ');
        let (byte, head) = (number(words.next()?, 10)?, number(words.next()?, 10)?);
        let mark = Mark { byte, head, hash: number(words.next()?, 16)? };
        let path = Path::new(OsStr::from_bytes(words.next()?));
        self.files.insert(path.into(), mark).is_none().then_some(())
    }
}

/// A record of a number and a name.
fn named(records: &mut BTreeMap<String, u64>, rest: &[u8]) -> Option<()> {
    let (number, name) = std::str::from_utf8(rest).ok()?.split_once(' ')?;
    records.insert(name.into(), number.parse().ok()?).is_none().then_some(())
}

fn number(text: &[u8], radix: u32) -> Option<u64> {
    u64::from_str_radix(std::str::from_utf8(text).ok()?, radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Positions {
        let mut positions = Positions::default();
        let mark = Mark { byte: u64::MAX, head: 4096, hash: 7 };
        positions.files.insert("/a b/c".into(), mark);
        positions.files.insert(OsStr::from_bytes(b"/\xFF").into(), Mark { byte: 0, ..mark });
        positions.trainers.insert("sensor 7 ü".into(), 12);
        positions
    }

    #[test]
    fn the_file_is_as_drawn() {
        let mut positions = sample();
        positions.files.remove(Path::new(OsStr::from_bytes(b"/\xFF")));
        let text = String::from_utf8(positions.to_bytes()).unwrap();
        let (content, sum) = text.split_at(text.len() - 22);
        assert_eq!(
            content,
            "umbel-stream 1\nfile 18446744073709551615 4096 0000000000000007 /a b/c\ntrainer 12 sensor 7 ü\n"
        );
        assert_eq!(sum, format!("xxh3 {:016x}\n", xxh3(content.as_bytes(), 0)));
    }

    #[test]
    fn what_is_written_is_read_and_every_damage_is_found() {
        let spark = sample().with_batch("b0", 7).with_batch("a1", 0);
        assert!(spark.to_bytes().starts_with(b"umbel-stream 2\n"));
        for positions in [Positions::default(), sample(), spark] {
            let bytes = positions.to_bytes();
            assert_eq!(Positions::from_bytes(&bytes), Some(positions));
            for i in 0..bytes.len() {
                assert_eq!(Positions::from_bytes(&bytes[..i]), None);
                for bit in 0..8 {
                    let mut damaged = bytes.clone();
                    damaged[i] ^= 1 << bit;
                    assert_eq!(Positions::from_bytes(&damaged), None, "byte {i}, bit {bit}");
                }
            }
        }
    }
}
