//! One row group of a Parquet file, turned into batches.

use std::sync::Arc;

use super::cells::Cells;
use super::damaged;
use crate::batch::{Batch, Record};
use crate::block::BLOCK;
use crate::groups::Interner;
use crate::value::{Rules, Values};
use crate::{Meter, Result};

/// Rows decoded at once, and the bytes they may have, in the mean, where their values are long.
const ROWS: usize = 8192;
const ROWS_BYTES: usize = 1 << 20;

/// The rows that are left of a row group.
pub(crate) struct RowGroup {
    pub(super) name: Arc<str>,
    pub(super) key: Cells,
    pub(super) by: Option<Cells>,
    pub(super) weight: Option<Cells>,
    pub(super) rules: Rules,
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

    /// The next row.
    fn row(&mut self, groups: &mut Interner, bytes: &mut Vec<u8>) -> Result<Record, &'static str> {
        let at = self.at;
        let values = Values {
            key: self.key.value(at),
            by: self.by.as_ref().map(|by| by.value(at)),
            weight: self.weight.as_ref().map(|weight| weight.value(at)),
        };
        self.rules.record(values, groups, bytes)
    }
}

/// How many rows are decoded at once where the values of `rows` take so many bytes.
pub(super) fn step(bytes: usize, rows: usize) -> usize {
    (ROWS_BYTES / (bytes / rows.max(1)).max(1)).clamp(1, ROWS)
}
