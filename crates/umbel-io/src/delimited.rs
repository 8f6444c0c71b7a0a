//! The hot loop over tables without quotes: one scan finds delimiters and newlines together.

use crate::batch::{Batch, Record, Row};
use crate::groups::Interner;
use crate::parser::{EMPTY_KEY, NO_COLUMN};
use crate::shape::Fields;
use crate::simd::byte_mask;

/// The line at hand.
struct Line {
    start: usize,
    /// Where the field at hand begins, and its place in the line.
    field: usize,
    place: usize,
    key: Option<(usize, usize)>,
    group: Option<(usize, usize)>,
}

/// Reads the rows of a block from `start` on: lines that end with a newline, fields between delimiters.
pub(crate) fn rows(fields: &Fields, groups: &mut Interner, start: usize, batch: &mut Batch) {
    let bytes = std::mem::take(&mut batch.bytes);
    let mut line = Line::new(start);
    let mut mark = |at: usize| {
        if bytes[at] != b'\n' {
            return line.end_field(fields, at);
        }
        let end = at - usize::from(at > line.start && bytes[at - 1] == b'\r');
        line.end_field(fields, end);
        batch.push(line.finish(fields, groups, &bytes, end, at + 1));
        line = Line::new(at + 1);
    };
    let (chunks, tail) = bytes[start..].as_chunks::<64>();
    for (i, chunk) in chunks.iter().enumerate() {
        let mut mask = byte_mask(chunk, b'\n') | byte_mask(chunk, fields.delimiter);
        while mask != 0 {
            mark(start + i * 64 + mask.trailing_zeros() as usize);
            mask &= mask - 1;
        }
    }
    let behind = bytes.len() - tail.len();
    memchr::memchr2_iter(b'\n', fields.delimiter, tail).for_each(|at| mark(behind + at));
    batch.learn(groups.names());
    batch.bytes = bytes;
}

impl Line {
    #[inline(always)]
    fn new(start: usize) -> Line {
        Line { start, field: start, place: 0, key: None, group: None }
    }

    /// The field at hand ends before `end`.
    #[inline(always)]
    fn end_field(&mut self, fields: &Fields, end: usize) {
        if fields.key == Some(self.place) {
            self.key = Some((self.field, end));
        }
        if fields.by == Some(self.place) {
            self.group = Some((self.field, end));
        }
        self.place += 1;
        self.field = end + 1;
    }

    /// The line's text ends before `end`, the line before `stop`: a row, or the reason why it is none.
    #[inline(always)]
    fn finish(
        &self,
        fields: &Fields,
        groups: &mut Interner,
        bytes: &[u8],
        end: usize,
        stop: usize,
    ) -> Result<Record, &'static str> {
        let whole = fields.key.is_none().then_some((self.start, end));
        let (key, key_end) = self.key.or(whole).ok_or(NO_COLUMN)?;
        if fields.by.is_some() && self.group.is_none() {
            return Err(NO_COLUMN);
        }
        if key == key_end {
            return Err(EMPTY_KEY);
        }
        // Last, so that a group is one only if it has a key.
        let group = self.group.map(|(start, end)| groups.id(&bytes[start..end], fields.round));
        let group = group.transpose()?;
        Ok(Record { row: Row::new(self.start..stop, key..key_end), group, weight: None })
    }
}
