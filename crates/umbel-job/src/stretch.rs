//! Stretches of texts: each mapper reads one, and every line is in exactly one of them.
//!
//! A stretch has the lines that begin in it. Where the text has a header, stretches behind the first begin with a copy of it, so
//! that columns are found as in the whole.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

use umbel_io::{ReadAt, Remote, Source};

use crate::location::{Location, Opened};
use crate::{Order, Result, job};

/// Bytes read at a time behind the end of a stretch, where its last line ends.
const TAIL: u64 = 1 << 16;

/// What a line of the manifest names.
pub fn of(order: &Order, place: &job::Stretch) -> Result<Source> {
    let input = order.input(place.input)?;
    let location = Location::parse(input.path.as_ref());
    match place.bytes {
        Some((start, end)) => lines_of(&location, start, end, &input.header),
        None => Ok(location.source()),
    }
}

/// The lines of a file that begin at `start` or behind it, and before `end`; of Parquet the row groups.
pub(crate) fn lines_of(path: &Location, start: u64, end: u64, header: &[u8]) -> Result<Source> {
    let header = if start > 0 { header.to_vec() } else { Vec::new() };
    let file = Arc::new(path.open()?);
    if path.source().is_parquet()? {
        let end = if end >= file.len() { u64::MAX } else { end };
        return Ok(Source::remote(Arc::new(RowGroups {
            name: path.to_string(),
            start,
            end,
            file,
        })));
    }
    Ok(Source::remote(Arc::new(Stretch {
        name: path.to_string(),
        start,
        header,
        from: From::File { file, end },
    })))
}

/// The lines that come from the pipe: of the file of this name, from a place on.
pub fn piped(name: String, start: u64, header: &[u8]) -> Source {
    let header = if start > 0 { header.to_vec() } else { Vec::new() };
    Source::remote(Arc::new(Stretch { name, start, header, from: From::Pipe }))
}

#[derive(Debug)]
struct Stretch {
    name: String,
    start: u64,
    header: Vec<u8>,
    from: From,
}

#[derive(Debug)]
enum From {
    Pipe,
    File { file: Arc<Opened>, end: u64 },
}

impl Remote for Stretch {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn size(&self) -> Option<u64> {
        None
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        let header = io::Cursor::new(self.header.clone());
        Ok(match &self.from {
            From::Pipe => Box::new(header.chain(io::stdin())),
            From::File { file, end } => Box::new(header.chain(lines(file, self.start, *end)?)),
        })
    }

    fn places(&self) -> Option<Arc<dyn ReadAt>> {
        None
    }

    fn is_part(&self) -> bool {
        true
    }

    fn is_beginning(&self) -> bool {
        self.start == 0 || !self.header.is_empty()
    }
}

/// Row groups of a Parquet file.
#[derive(Debug)]
struct RowGroups {
    name: String,
    start: u64,
    end: u64,
    file: Arc<Opened>,
}

impl Remote for RowGroups {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn size(&self) -> Option<u64> {
        Some(self.file.len())
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        self.file.range(0, self.file.len())
    }

    fn places(&self) -> Option<Arc<dyn ReadAt>> {
        Some(self.file.clone())
    }

    fn is_part(&self) -> bool {
        true
    }

    fn part(&self) -> Range<u64> {
        self.start..self.end
    }
}

/// The bytes of the lines that begin between two places.
fn lines(file: &Arc<Opened>, start: u64, end: u64) -> io::Result<Box<dyn Read + Send>> {
    let (start, end) =
        (line_start(&**file, file.len(), start)?, line_start(&**file, file.len(), end)?);
    file.range(start, end)
}

/// Where the first line begins that does not begin before a place.
fn line_start(file: &dyn ReadAt, len: u64, place: u64) -> io::Result<u64> {
    if place == 0 || place >= len {
        return Ok(place.min(len));
    }
    // The newline before the place, if there is one, ends the line before.
    let mut at = place - 1;
    let mut buffer = vec![0; TAIL as usize];
    loop {
        let read = file.read_at(&mut buffer, at)?;
        if read == 0 {
            return Ok(len);
        }
        if let Some(newline) = buffer[..read].iter().position(|&byte| byte == b'\n') {
            return Ok(at + newline as u64 + 1);
        }
        at += read as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Text(Vec<u8>);

    impl ReadAt for Text {
        fn read_at(&self, buffer: &mut [u8], place: u64) -> io::Result<usize> {
            let rest = &self.0[(place as usize).min(self.0.len())..];
            let len = rest.len().min(buffer.len());
            buffer[..len].copy_from_slice(&rest[..len]);
            Ok(len)
        }
    }

    fn cut(text: &[u8], ends: &[u64]) -> Vec<Vec<u8>> {
        let file = Text(text.to_vec());
        let at = |place| line_start(&file, text.len() as u64, place).unwrap() as usize;
        ends.windows(2).map(|pair| text[at(pair[0])..at(pair[1])].to_vec()).collect()
    }

    #[test]
    fn every_line_is_in_exactly_one_stretch() {
        let long = [vec![b'x'; 3 * TAIL as usize], b"\ny\n".to_vec()].concat();
        for text in [&b"one\ntwo\n\nthree\nfour"[..], b"", b"\n\n\n", b"no newline", &long] {
            let len = text.len() as u64;
            let step = (len / 40).max(1);
            for first in (0..=len).step_by(step as usize) {
                for second in (first..=len).step_by(step as usize) {
                    let parts = cut(text, &[0, first, second, len]);
                    assert_eq!(parts.concat(), text);
                    let whole = |part: &Vec<u8>| part.is_empty() || part.ends_with(b"\n");
                    assert!(parts[..2].iter().filter(|part| !text.ends_with(part)).all(whole));
                }
            }
        }
    }
}
