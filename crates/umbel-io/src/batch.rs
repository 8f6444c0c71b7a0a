//! The rows of one block: their lines, keys and groups.

use std::ops::Range;

use crate::Result;

/// Keys handed out at once.
pub const CHUNK: usize = 1024;

/// A row that has a key. Places are offsets into the batch's bytes.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    start: u32,
    end: u32,
    key_start: u32,
    key_end: u32,
}

impl Row {
    pub(crate) fn new(line: Range<usize>, key: Range<usize>) -> Row {
        // A block is far below 4 GiB: a record has a limit.
        let at = |place: usize| place as u32;
        Row {
            start: at(line.start),
            end: at(line.end),
            key_start: at(key.start),
            key_end: at(key.end),
        }
    }

    /// The row of a line whose text, a CR before the newline aside, is the key. The newline stands at `end`.
    #[inline(always)]
    pub(crate) fn whole(bytes: &[u8], start: u32, end: u32) -> Row {
        let has_return = end > start && bytes.get(end as usize - 1) == Some(&b'\r');
        Row { start, end: end + 1, key_start: start, key_end: end - u32::from(has_return) }
    }

    /// The row of a line whose key is one of its fields. The newline stands at `end`.
    #[inline(always)]
    pub(crate) fn part(start: u32, end: u32, field: (u32, u32)) -> Row {
        Row { start, end: end + 1, key_start: start + field.0, key_end: start + field.1 }
    }

    /// Whether the key is.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.key_start == self.key_end
    }

    /// Where its line stands, with its newline.
    #[inline(always)]
    pub(crate) fn line(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The key, among the bytes of its batch.
    #[inline(always)]
    pub(crate) fn key<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        &bytes[self.key_start as usize..self.key_end as usize]
    }
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
    pub(crate) rows: Vec<Row>,
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
        self.rows.clear();
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
                self.rows.push(row);
                self.groups.extend(group);
                self.weights.extend(weight);
            }
            Err(reason) => self.malformed.add(self.lines, reason),
        }
        self.lines += 1;
    }

    /// Takes out the rows that `check` finds no use for, as if they had never had a key. There must be no groups and no weights.
    pub(crate) fn keep(&mut self, mut check: impl FnMut(&[u8]) -> Result<(), &'static str>) {
        let Batch { bytes, rows, malformed, unit, .. } = self;
        let (mut place, mut at, mut line) = (0, 0, 0);
        rows.retain(|row| {
            let reason = check(row.key(bytes)).err();
            if let Some(reason) = reason {
                // Lines that are no rows count too; rows of tables have no lines.
                line += memchr::memchr_iter(b'\n', &bytes[at..row.start as usize]).count() as u64;
                at = row.start as usize;
                malformed.insert(if *unit == "line" { line } else { place }, reason);
            }
            place += 1;
            reason.is_none()
        });
    }

    /// Learns the names of groups that are new.
    pub(crate) fn learn(&mut self, names: &[String]) {
        self.names.extend_from_slice(&names[self.names.len()..]);
    }

    /// The number of rows that have a key (and a group, where one was asked for).
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether it holds a line longer than usual blocks. Such batches come one at a time: memory for them can be kept and used again.
    pub fn is_long(&self) -> bool {
        self.long
    }

    /// The rows.
    pub fn rows(&self) -> &[Row] {
        &self.rows
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
        row.key(&self.bytes)
    }

    /// Appends the text of a row's key: a key that is a number (`integers`) is written as one.
    pub fn write_key(&self, row: &Row, integers: bool, out: &mut Vec<u8>) {
        match integers {
            true => out.extend_from_slice(self.integer(row).as_bytes()),
            false => out.extend_from_slice(self.key(row)),
        }
    }

    /// The decimal text of a key that is a number. Behind its eight bytes stands whether it was written with a minus: from 2^63 on the
    /// bits alone do not tell.
    fn integer(&self, row: &Row) -> String {
        let bits = u64::from_le_bytes(self.key(row).try_into().unwrap_or_default());
        match self.bytes.get(row.key_end as usize) {
            Some(1) => bits.cast_signed().to_string(),
            _ => bits.to_string(),
        }
    }

    /// The whole line of a row, with its newline.
    #[inline]
    pub fn line(&self, row: &Row) -> &[u8] {
        &self.bytes[row.line()]
    }

    /// Hands out the keys, at most [`CHUNK`] at once, with the place of the first among the rows.
    pub fn for_each_chunk(
        &self,
        mut take: impl FnMut(usize, &[&[u8]]) -> Result<()>,
    ) -> Result<()> {
        let mut keys: [&[u8]; CHUNK] = [&[]; CHUNK];
        for (i, rows) in self.rows.chunks(CHUNK).enumerate() {
            keys.iter_mut().zip(rows).for_each(|(key, row)| *key = self.key(row));
            take(i * CHUNK, &keys[..rows.len()])?;
        }
        Ok(())
    }
}
