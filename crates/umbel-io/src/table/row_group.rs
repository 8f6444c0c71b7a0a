//! One row group of a Parquet file, turned into batches.

use std::sync::Arc;

use umbel::near::Grid;

use super::cells::{Cell, Cells};
use super::damaged;
use crate::batch::{Batch, Record, Row};
use crate::block::{BLOCK, MAX_RECORD};
use crate::groups::Interner;
use crate::parser::{
    EMPTY_KEY, NO_INTEGER, NO_WEIGHT, check_interval, integer, put_integer, whole,
};
use crate::{Meter, Result, number};

const LONG_KEY: &str = "the key is longer than 16 MiB";
/// Rows decoded at once, and the bytes they may have, in the mean, where their values are long.
const ROWS: usize = 8192;
const ROWS_BYTES: usize = 1 << 20;

/// The rows that are left of a row group.
pub(crate) struct RowGroup {
    pub(super) name: Arc<str>,
    pub(super) key: Cells,
    pub(super) by: Option<Cells>,
    pub(super) weight: Option<Cells>,
    pub(super) round: bool,
    pub(super) integers: bool,
    pub(super) interval: Option<(i64, i64)>,
    pub(super) numbers: Option<Grid>,
    /// Rows decoded at once.
    pub(super) step: usize,
    /// Rows that have not been decoded.
    pub(super) left: usize,
    /// The next of the rows decoded last, and their number.
    pub(super) at: usize,
    pub(super) decoded: usize,
    pub(super) meter: Arc<Meter>,
    /// Bytes of the file that a row stands for, in the mean.
    pub(super) bytes_a_row: f64,
    /// The text of a group or weight.
    pub(super) text: Vec<u8>,
}

impl RowGroup {
    /// Fills the batch with the next rows; true when these are the last.
    pub(crate) fn fill(&mut self, groups: &mut Interner, batch: &mut Batch) -> Result<bool> {
        if self.at == self.decoded {
            self.decode()?;
        }
        batch.clear("row");
        batch.bytes.clear();
        while self.at < self.decoded && batch.bytes.len() < BLOCK {
            let row = self.row(groups, &mut batch.bytes);
            batch.push(row);
            self.at += 1;
        }
        batch.learn(groups.names());
        self.meter.add((batch.lines as f64 * self.bytes_a_row) as u64);
        Ok(self.left == 0 && self.at == self.decoded)
    }

    fn decode(&mut self) -> Result<()> {
        let rows = self.left.min(self.step);
        let RowGroup { key, by, weight, name, .. } = self;
        damaged(name, || {
            [Some(key), by.as_mut(), weight.as_mut()]
                .into_iter()
                .flatten()
                .try_for_each(|column| column.decode(rows))
        })?;
        self.left -= rows;
        (self.at, self.decoded) = (0, rows);
        Ok(())
    }

    /// The next row. Its group comes last: a group is one only if it has a key.
    fn row(&mut self, groups: &mut Interner, bytes: &mut Vec<u8>) -> Result<Record, &'static str> {
        let row = self.write_key(bytes)?;
        let weight = match &self.weight {
            None => None,
            Some(weight) => {
                self.text.clear();
                weight.cells[self.at].write(&mut self.text);
                Some(whole(&self.text).ok_or(NO_WEIGHT)?)
            }
        };
        let Some(by) = &self.by else { return Ok(Record { row, group: None, weight }) };
        let Some(group) = by.cells[self.at].some() else { return Err("the group is null") };
        self.text.clear();
        group.write(&mut self.text);
        let group = Some(groups.id(&self.text, 0..self.text.len(), self.round)?);
        Ok(Record { row, group, weight })
    }

    /// Writes a key, with a newline behind it: the line that is printed for it. An integer's 64 bits stand apart.
    fn write_key(&self, bytes: &mut Vec<u8>) -> Result<Row, &'static str> {
        let cell = &self.key.cells[self.at];
        let start = bytes.len();
        cell.some().ok_or("the key is null")?.write(bytes);
        let end = bytes.len();
        if start == end {
            return Err(EMPTY_KEY);
        }
        if end - start > MAX_RECORD {
            bytes.truncate(start);
            return Err(LONG_KEY);
        }
        bytes.push(b'\n');
        let line = start..end + 1;
        if let Some(grid) = &self.numbers {
            // As it is printed, so that a table and its text give the same.
            let number = number::parse(&bytes[start..end], grid)?;
            return Ok(Row::new(line, number::put(number, bytes)));
        }
        if !self.integers {
            return Ok(Row::new(line, start..end));
        }
        let (bits, negative) = match cell {
            Cell::Signed(number) => (number.cast_unsigned(), *number < 0),
            Cell::Unsigned(number) => (*number, false),
            _ => integer(&bytes[start..end]).ok_or(NO_INTEGER)?,
        };
        check_interval(bits, negative, self.interval)?;
        Ok(Row::new(line, put_integer(bits, negative, bytes)))
    }
}

/// How many rows are decoded at once where the values of `rows` take so many bytes.
pub(super) fn step(bytes: usize, rows: usize) -> usize {
    (ROWS_BYTES / (bytes / rows.max(1)).max(1)).clamp(1, ROWS)
}
