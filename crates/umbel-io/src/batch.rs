//! The rows of one block: their lines, keys and groups.

use std::borrow::Cow;
use std::ops::Range;

use umbel::{Keys, Span};

use crate::Result;
use crate::parser::newlines;

/// Keys handed out at once.
pub const CHUNK: usize = 1024;

/// A row that has a key: where its line stands, with the newline, and its key, among the bytes of the batch.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    pub(crate) line: Span,
    pub(crate) key: Span,
}

impl Row {
    pub(crate) fn new(line: Range<usize>, key: Range<usize>) -> Row {
        // A block is far below 4 GiB: a record has a limit.
        let span = |place: Range<usize>| Span { start: place.start as u32, end: place.end as u32 };
        Row { line: span(line), key: span(key) }
    }
}

/// Where the text of a line stands, a CR before the newline aside. The newline stands at `end`.
#[inline(always)]
pub(crate) fn without_return(bytes: &[u8], start: u32, end: u32) -> Span {
    let has_return = end > start && bytes.get(end as usize - 1) == Some(&b'\r');
    Span { start, end: end - u32::from(has_return) }
}

/// What a record holds.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) row: Row,
    pub(crate) group: Option<u32>,
    pub(crate) weight: Option<u64>,
}

/// Rows that could not be used.
#[derive(Debug, Clone, Copy, Default)]
pub struct Malformed {
    /// How many.
    pub count: u64,
    /// The first: its line in the block, from 0, and what was wrong.
    pub first: Option<(u64, &'static str)>,
}

impl Malformed {
    pub(crate) fn add(&mut self, line: u64, reason: &'static str) {
        self.count += 1;
        self.first.get_or_insert((line, reason));
    }

    /// The same for a line that may stand before others that were added.
    pub(crate) fn insert(&mut self, line: u64, reason: &'static str) {
        self.count += 1;
        if self.first.is_none_or(|(first, _)| line < first) {
            self.first = Some((line, reason));
        }
    }
}

/// The rows of one block of input, in order.
#[derive(Debug, Default)]
pub struct Batch {
    pub(crate) bytes: Vec<u8>,
    /// Where the key of each row stands.
    pub(crate) keys: Vec<Span>,
    /// Where the line of each row stands; empty where each line is its key and a newline.
    pub(crate) texts: Vec<Span>,
    pub(crate) groups: Vec<u32>,
    pub(crate) weights: Vec<u64>,
    pub(crate) names: Vec<String>,
    pub(crate) source: usize,
    pub(crate) long: bool,
    /// What `lines` counts.
    pub(crate) unit: &'static str,
    pub(crate) lines: u64,
    pub(crate) malformed: Malformed,
}

impl Batch {
    /// Forgets the rows, for others of the same input.
    pub(crate) fn clear(&mut self, unit: &'static str) {
        self.keys.clear();
        self.texts.clear();
        self.groups.clear();
        self.weights.clear();
        self.malformed = Malformed::default();
        self.unit = unit;
        self.lines = 0;
    }

    /// Counts a row, and keeps it if it has a key.
    #[inline(always)]
    pub(crate) fn push(&mut self, record: Result<Record, &'static str>) {
        match record {
            Ok(Record { row, group, weight }) => {
                self.keys.push(row.key);
                self.texts.push(row.line);
                self.groups.extend(group);
                self.weights.extend(weight);
            }
            Err(reason) => self.malformed.add(self.lines, reason),
        }
        self.lines += 1;
    }

    /// Takes out the rows that `check` finds no use for, as if they had never had a key. There must be no groups and no weights.
    pub(crate) fn keep(&mut self, mut check: impl FnMut(&[u8]) -> Result<(), &'static str>) {
        if self.texts.is_empty() {
            self.texts.extend(rows(&self.keys, &[]).map(|row| row.line));
        }
        let (mut kept, mut at, mut line) = (0, 0, 0);
        for place in 0..self.keys.len() {
            let Row { key, line: text } = self.row(place);
            match check(key.of(&self.bytes)) {
                Ok(()) => {
                    (self.keys[kept], self.texts[kept]) = (key, text);
                    kept += 1;
                }
                Err(reason) => {
                    let start = text.start as usize;
                    // Lines that are no rows count too; rows of tables have no lines.
                    line += newlines(&self.bytes[at..start]);
                    at = start;
                    let number = if self.unit == "line" { line } else { place as u64 };
                    self.malformed.insert(number, reason);
                }
            }
        }
        self.keys.truncate(kept);
        self.texts.truncate(kept);
    }

    /// Learns the names of groups that are new.
    pub(crate) fn learn(&mut self, names: &[String]) {
        self.names.extend_from_slice(&names[self.names.len()..]);
    }

    /// The number of rows that have a key (and a group, where one was asked for).
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The rows.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = Row> {
        rows(&self.keys, &self.texts)
    }

    /// One of the rows.
    #[inline]
    pub(crate) fn row(&self, at: usize) -> Row {
        row(&self.keys, &self.texts, at)
    }

    /// All keys, where they stand.
    pub fn keys(&self) -> Keys<'_> {
        Keys::Spans(&self.bytes, &self.keys)
    }

    /// The group of each row, as the worker numbers them; empty where no group was asked for.
    pub fn groups(&self) -> &[u32] {
        &self.groups
    }

    /// The weight of each row; empty where none was asked for.
    pub fn weights(&self) -> &[u64] {
        &self.weights
    }

    /// The names of the groups as the worker numbers them: all it has met so far.
    pub fn group_names(&self) -> &[String] {
        &self.names
    }

    /// The key of a row.
    #[inline]
    pub fn key(&self, row: &Row) -> &[u8] {
        row.key.of(&self.bytes)
    }

    /// The text of a row's key: a key that is a number (`integers`) is written as one.
    pub fn key_text(&self, row: &Row, integers: bool) -> Cow<'_, [u8]> {
        match integers {
            true => self.integer(row).into_bytes().into(),
            false => self.key(row).into(),
        }
    }

    /// The decimal text of a key that is a number. Behind its eight bytes stands whether it was written with a minus: from 2^63 on the
    /// bits alone do not tell.
    fn integer(&self, row: &Row) -> String {
        let bits = u64::from_le_bytes(self.key(row).try_into().unwrap_or_default());
        match self.bytes.get(row.key.end as usize) {
            Some(1) => bits.cast_signed().to_string(),
            _ => bits.to_string(),
        }
    }

    /// The whole line of a row, with its newline.
    #[inline]
    pub fn line(&self, row: &Row) -> &[u8] {
        row.line.of(&self.bytes)
    }

    /// Hands out the keys, at most [`CHUNK`] at once, with the place of the first among the rows.
    pub fn for_each_chunk(
        &self,
        mut take: impl FnMut(usize, &[&[u8]]) -> Result<()>,
    ) -> Result<()> {
        let mut keys: [&[u8]; CHUNK] = [&[]; CHUNK];
        for (i, spans) in self.keys.chunks(CHUNK).enumerate() {
            keys.iter_mut().zip(spans).for_each(|(key, span)| *key = span.of(&self.bytes));
            take(i * CHUNK, &keys[..spans.len()])?;
        }
        Ok(())
    }
}

/// Rows by the places of their keys and lines.
fn rows(keys: &[Span], texts: &[Span]) -> impl ExactSizeIterator<Item = Row> {
    (0..keys.len()).map(|at| row(keys, texts, at))
}

#[inline(always)]
fn row(keys: &[Span], texts: &[Span], at: usize) -> Row {
    debug_assert!(
        texts.is_empty() || texts.len() == keys.len(),
        "each row has a line, or none has"
    );
    let key = keys[at];
    let whole = Span { start: key.start, end: key.end.wrapping_add(1) };
    Row { key, line: texts.get(at).copied().unwrap_or(whole) }
}
