//! Cutting a text into blocks of whole records.

use std::io::{self, Read};
use std::sync::Arc;

use crate::field::{Records, record_ends};
use crate::lane::Lane;
use crate::parser::{BEHIND_QUOTE, OPEN_QUOTE, newlines};
use crate::shape::Fields;
use crate::tally::Place;
use crate::{Error, Look, Meter, Result, Shape, Source, table};

/// Bytes in a block of few threads: small enough to stay in the cache from reading to hashing.
pub(crate) const BLOCK: usize = 64 << 10;
/// The longest record.
pub(crate) const MAX_RECORD: usize = 16 << 20;
/// The longest record with what belongs to no record, a mark, CR and LF, or the proof that it is too long.
pub(crate) const LONGEST: usize = MARK.len() + MAX_RECORD + 2;

/// The mark of UTF-8 that some programs put before a text: no part of it.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// Whole records of one input.
pub(crate) struct Block {
    /// Where the records begin: behind the header, in the first block of an input that has one.
    pub(crate) start: usize,
    /// Whether it holds a record longer than usual blocks, and its bytes the buffer of the lane.
    pub(crate) long: bool,
    pub(crate) fields: Arc<Fields>,
}

/// A text that is being read.
pub(crate) struct Text {
    reader: Box<dyn Read + Send>,
    /// The beginning of a record whose end has not been read yet.
    carry: Vec<u8>,
    /// Whether it begins where a file does, perhaps with a mark.
    beginning: bool,
    /// Whether what has come is to go on at once: the rest may take its time.
    live: bool,
    ended: bool,
    lane: Arc<Lane>,
    /// Where the columns are; known once the first block has been read.
    fields: Option<Arc<Fields>>,
    /// What separates fields that may stand in quotes; none where quotes mean nothing.
    quoted: Option<u8>,
}

impl Text {
    pub(crate) fn open(
        source: &Source,
        shape: &Shape,
        meter: &Arc<Meter>,
        lane: &Arc<Lane>,
    ) -> Result<Text> {
        Ok(Text {
            reader: source.open(meter)?,
            carry: Vec::new(),
            beginning: source.is_beginning(),
            live: source.is_live(),
            ended: false,
            lane: Arc::clone(lane),
            fields: None,
            quoted: shape.quoted(source),
        })
    }

    /// Reads the next block into `bytes`; none at the end. Every record in it ends with a newline.
    pub(crate) fn next(
        &mut self,
        source: &Source,
        shape: &Shape,
        bytes: &mut Vec<u8>,
    ) -> Result<Option<Block>> {
        let long = self.fill(bytes, source)?;
        if bytes.is_empty() {
            return Ok(None);
        }
        if let Some(fields) = &self.fields {
            return Ok(Some(Block { start: 0, long, fields: Arc::clone(fields) }));
        }
        table::refuse_stream(source, bytes)?;
        refuse_ours(source, bytes)?;
        let text = self.text(bytes);
        let (start, header) = match shape.has_header() {
            true => self.header(bytes, text, source)?,
            false => (text, None),
        };
        let mut fields = shape.fields(source, header)?;
        fields.look.several = holds_delimiter(&bytes[text..], fields.delimiter);
        fields.look.json = begins_with_object(&bytes[text..]);
        let fields = Arc::new(fields);
        self.fields = Some(Arc::clone(&fields));
        Ok(Some(Block { start, long, fields }))
    }

    /// How the input looks; none where it is empty.
    pub(crate) fn look(&self) -> Option<&Look> {
        self.fields.as_ref().map(|fields| &fields.look)
    }

    /// Fills `bytes` with whole records, at least one unless the input has ended; true when that took a long buffer.
    fn fill(&mut self, bytes: &mut Vec<u8>, source: &Source) -> Result<bool> {
        let mut len = self.carry.len();
        let usual = self.lane.usual;
        let (mut wanted, mut records) = (usual, Records::default());
        loop {
            // Not emptied before: what is read over need not be set to zero first.
            bytes.resize(wanted, 0);
            let carried = self.carry.len();
            bytes[..carried].copy_from_slice(&self.carry);
            self.carry.clear();
            let new = len;
            len += self.read(&mut bytes[new..]).map_err(Error::io(source.name()))?;
            if len > MAX_RECORD && self.is_too_long(&bytes[..len]) {
                // As if it were the first: its number is known where the lines before it have been counted.
                let place = Place { name: source.name(), unit: "line", number: 1 };
                let quoted = self.quoted.is_some();
                return Err(Error::LongLine { place, limit: MAX_RECORD, quoted });
            }
            if self.ended {
                bytes.truncate(len);
                // A mark alone is no line.
                if bytes.len() == self.text(bytes) {
                    bytes.clear();
                }
                // A last line without a newline is a line all the same.
                if bytes.last().is_some_and(|&last| last != b'\n') {
                    bytes.push(b'\n');
                }
                return Ok(wanted > usual);
            }
            if let Some(end) = self.last_end(&bytes[..len], new, &mut records) {
                self.carry.extend_from_slice(&bytes[end..len]);
                bytes.truncate(end);
                return Ok(wanted > usual);
            }
            if len == wanted {
                if wanted == usual {
                    self.lane.enter(bytes);
                }
                wanted = (wanted + usual).min(LONGEST);
            }
        }
    }

    /// Reads until the buffer is full or the input ends; of a live input, what has come.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut len = 0;
        while len < buffer.len() && !self.ended {
            match self.reader.read(&mut buffer[len..]) {
                Ok(0) => self.ended = true,
                Ok(more) => len += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            if self.live {
                break;
            }
        }
        Ok(len)
    }

    /// Where the text of a block begins: behind the mark, in the first.
    fn text(&self, bytes: &[u8]) -> usize {
        let first = self.fields.is_none() && self.beginning;
        if first && bytes.starts_with(MARK) { MARK.len() } else { 0 }
    }

    /// Where the first record ends, and the record, which begins at `start`.
    fn header<'b>(
        &self,
        bytes: &'b [u8],
        start: usize,
        source: &Source,
    ) -> Result<(usize, Option<&'b [u8]>)> {
        let text = &bytes[start..];
        let (mut first, mut open) = (None, None);
        match self.quoted {
            Some(delimiter) => {
                let found = |at, malformed| _ = first.get_or_insert((at, malformed));
                open = record_ends(text, delimiter, found);
            }
            None => first = memchr::memchr(b'\n', text).map(|at| (at, false)),
        }
        let refuse = |number, reason| {
            let place = Place { name: source.name(), unit: "line", number };
            Err(Error::Header { place, reason })
        };
        let end = match first {
            Some((at, false)) => start + at,
            Some((_, true)) => return refuse(1, BEHIND_QUOTE),
            None => return refuse(newlines(&text[..open.unwrap_or(0)]) + 1, OPEN_QUOTE),
        };
        let line = &bytes[start..end];
        Ok((end + 1, Some(line.strip_suffix(b"\r").unwrap_or(line))))
    }

    /// Whether the first record is, its line end aside.
    fn is_too_long(&self, bytes: &[u8]) -> bool {
        let (text, mut end) = (&bytes[self.text(bytes)..], None);
        match self.quoted {
            Some(delimiter) => {
                record_ends(text, delimiter, |at, _| _ = end.get_or_insert(at));
            }
            None => end = memchr::memchr(b'\n', text),
        }
        let record = &text[..end.unwrap_or(text.len())];
        record.strip_suffix(b"\r").unwrap_or(record).len() > MAX_RECORD
    }

    /// Behind the last newline that ends a record; nothing before `new` ends one. What has been looked at for quotes is not looked at
    /// again: `records` knows.
    fn last_end(&self, bytes: &[u8], new: usize, records: &mut Records) -> Option<usize> {
        let last = new + memchr::memrchr(b'\n', &bytes[new..])? + 1;
        let Some(delimiter) = self.quoted else { return Some(last) };
        let (start, mut end) = (self.text(bytes), None);
        records.look_on(&bytes[start..last], delimiter, |at, _| end = Some(start + at + 1));
        end
    }
}

/// Whether the first line does.
fn holds_delimiter(text: &[u8], delimiter: u8) -> bool {
    memchr::memchr2(delimiter, b'\n', text).is_some_and(|at| text[at] == delimiter)
}

/// Whether the first line is a JSON object.
fn begins_with_object(text: &[u8]) -> bool {
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    line.starts_with(b"{") && serde_json::from_slice::<serde_json::Value>(line).is_ok()
}

/// Refuses one of our own files, whose bytes would make lines too.
fn refuse_ours(source: &Source, bytes: &[u8]) -> Result<()> {
    match bytes.starts_with(&umbel::format::MAGIC) {
        false => Ok(()),
        true => Err(Error::Ours { name: source.name() }),
    }
}
