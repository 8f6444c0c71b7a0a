//! From the bytes of a block to rows with keys and groups.

use std::ops::Range;

use crate::batch::{Batch, Row};
use crate::block::{Block, quoted_ends};
use crate::groups::Interner;
use crate::shape::Fields;
use crate::split::newlines;

/// What a row lacks.
const NO_COLUMN: &str = "a column is missing";
const EMPTY_KEY: &str = "the key is empty";
const NO_INTEGER: &str = "the key is not a 64-bit integer";

/// Turns blocks into batches; it remembers the groups it has met.
pub(crate) struct Parser {
    pub(crate) groups: Interner,
}

impl Parser {
    pub(crate) fn new() -> Parser {
        Parser { groups: Interner::new() }
    }

    /// Fills the batch from its own bytes, which are those of `block`.
    pub(crate) fn parse(&mut self, block: &Block, batch: &mut Batch) {
        batch.rows.clear();
        batch.groups.clear();
        batch.malformed = Default::default();
        batch.source = block.source;
        let fields = &*block.fields;
        if fields.is_whole_line() {
            return whole_lines(block, batch);
        }
        // Taken out, so that keys which are not in the block as they stand can be appended.
        let mut bytes = std::mem::take(&mut batch.bytes);
        let mut extra = Vec::new();
        let mut lines = u64::from(block.start > 0);
        let mut start = block.start;
        let mut row = |end: usize| {
            let line = start..end + 1;
            start = end + 1;
            self.row(fields, &bytes, line, lines, &mut extra, batch);
            lines += 1;
        };
        if fields.quoted {
            quoted_ends(&bytes[block.start..], |at| row(block.start + at));
        } else {
            newlines(&bytes[block.start..], |at| row(block.start + at));
        }
        batch.lines = lines;
        batch.names.extend_from_slice(&self.groups.names()[batch.names.len()..]);
        bytes.append(&mut extra);
        batch.bytes = bytes;
    }

    #[inline(always)]
    fn row(
        &mut self,
        fields: &Fields,
        bytes: &[u8],
        line: Range<usize>,
        number: u64,
        extra: &mut Vec<u8>,
        batch: &mut Batch,
    ) {
        let end = line.end - 1;
        let bare = line.start..end - usize::from(bytes[line.start..end].ends_with(b"\r"));
        match self.columns(fields, bytes, bare, extra) {
            Ok((key, group)) => {
                batch.rows.push(Row::new(line, key));
                batch.groups.extend(group);
            }
            Err(reason) => batch.malformed.add(number, reason),
        }
    }

    /// The key and the group of a line.
    fn columns(
        &mut self,
        fields: &Fields,
        bytes: &[u8],
        line: Range<usize>,
        extra: &mut Vec<u8>,
    ) -> Result<(Range<usize>, Option<u32>), &'static str> {
        let mut key = fields.key.is_none().then(|| line.clone());
        let mut group = None;
        let mut at = Some(line.start);
        let last = fields.key.max(fields.by);
        for place in 0..last.map_or(0, |last| last + 1) {
            let start = at.ok_or(NO_COLUMN)?;
            let (field, next) = field(fields, bytes, start..line.end, extra);
            at = next;
            if fields.key == Some(place) {
                key = Some(field.clone());
            }
            if fields.by == Some(place) {
                let text =
                    bytes.get(field.clone()).unwrap_or_else(|| &extra[field.start - bytes.len()..]);
                group = Some(self.groups.id(text, fields.round)?);
            }
        }
        let mut key = key.ok_or(NO_COLUMN)?;
        if key.is_empty() {
            return Err(EMPTY_KEY);
        }
        if fields.integers {
            let text = bytes.get(key.clone()).unwrap_or_else(|| &extra[key.start - bytes.len()..]);
            let integer = integer(text).ok_or(NO_INTEGER)?;
            key = bytes.len() + extra.len()..bytes.len() + extra.len() + 8;
            extra.extend(integer.to_le_bytes());
        }
        Ok((key, group))
    }
}

/// The rows of a block where the key is the line: the hot loop of every run over a plain list.
fn whole_lines(block: &Block, batch: &mut Batch) {
    let Batch { bytes, rows, malformed, lines, .. } = batch;
    let mut start = block.start;
    let mut number = u64::from(block.start > 0);
    newlines(&bytes[block.start..], |at| {
        let end = block.start + at;
        let key_end = end - usize::from(end > start && bytes[end - 1] == b'\r');
        if key_end > start {
            rows.push(Row::new(start..end + 1, start..key_end));
        } else {
            malformed.add(number, EMPTY_KEY);
        }
        start = end + 1;
        number += 1;
    });
    *lines = number;
}

/// The field that begins a range, and where the next one begins. A field with quotes inside is written out to `extra`, whose
/// places count on from the end of `bytes`.
#[inline]
fn field(
    fields: &Fields,
    bytes: &[u8],
    range: Range<usize>,
    extra: &mut Vec<u8>,
) -> (Range<usize>, Option<usize>) {
    let text = &bytes[range.clone()];
    if fields.quoted && text.first() == Some(&b'"') {
        return quoted_field(fields.delimiter, bytes, range, extra);
    }
    match memchr::memchr(fields.delimiter, text) {
        Some(len) => (range.start..range.start + len, Some(range.start + len + 1)),
        None => (range, None),
    }
}

/// A field that begins with a quote: it ends at the next single quote; what stands behind that, up to the delimiter,
/// belongs to it too, as most readers of CSV have it.
fn quoted_field(
    delimiter: u8,
    bytes: &[u8],
    range: Range<usize>,
    extra: &mut Vec<u8>,
) -> (Range<usize>, Option<usize>) {
    let start = bytes.len() + extra.len();
    let mut inside = false;
    let mut at = range.start;
    while at < range.end {
        match bytes[at] {
            b'"' if inside && bytes.get(at + 1) == Some(&b'"') && at + 1 < range.end => {
                extra.push(b'"');
                at += 1;
            }
            b'"' => inside = !inside,
            byte if byte == delimiter && !inside => {
                return (start..bytes.len() + extra.len(), Some(at + 1));
            }
            byte => extra.push(byte),
        }
        at += 1;
    }
    (start..bytes.len() + extra.len(), None)
}

/// A decimal integer from -2^63 to 2^64 - 1, as 64 bits.
fn integer(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    text.parse().ok().or_else(|| text.parse().ok().map(i64::cast_unsigned))
}
