//! Parquet files: of all their columns only those that are asked for are read, and row groups in parallel.

mod cells;
mod columns;
mod kind;
mod pages;
mod row_group;

use std::ops::Range;
use std::sync::Arc;

use parquet::column::reader::get_column_reader;
use parquet::file::metadata::{
    ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData,
};
use parquet::file::serialized_reader::SerializedPageReader;

use self::cells::Cells;
use self::columns::{Columns, Picked};
use self::kind::Kind;
use self::pages::Pages;
pub(crate) use self::row_group::RowGroup;
use crate::guard::guarded;
use crate::positioned::{ReadAt, read_exact_at};
use crate::value::Rules;
use crate::{Error, Look, Meter, Result, Shape, Source};

/// The first and the last bytes of a file.
pub(crate) const MAGIC: &[u8; 4] = b"PAR1";
/// The first bytes as they nearly always are: the magic, and how the header of a page, or of an empty file, begins. No text
/// begins so.
const START: &[u8; 5] = b"PAR1\x15";

/// A Parquet file whose row groups are being taken.
pub(crate) struct Table {
    name: Arc<str>,
    pages: Arc<Pages>,
    metadata: ParquetMetaData,
    key: Picked,
    by: Option<Picked>,
    weight: Option<Picked>,
    rules: Rules,
    meter: Arc<Meter>,
    next: usize,
    /// The row groups that begin here or behind, and before the other place.
    part: Range<u64>,
    look: Look,
}

impl Table {
    /// Opens an input if it is a Parquet file.
    pub(crate) fn open(
        source: &Source,
        shape: &Shape,
        meter: &Arc<Meter>,
    ) -> Result<Option<Table>> {
        let Some((file, len)) = source.places()? else { return Ok(None) };
        let name: Arc<str> = source.name().into();
        if !is_parquet(&*file, len).map_err(Error::io(source.name()))? {
            return Ok(None);
        }
        let pages = Arc::new(Pages::new(file, len));
        let metadata = damaged(&name, || ParquetMetaDataReader::new().parse_and_finish(&*pages))?;
        let columns = Columns { name: &name, metadata: &metadata };
        let key = columns.key(shape)?;
        let by = shape.by.as_ref().map(|by| columns.group(by, shape.round)).transpose()?;
        let weight = shape.weight.as_ref().map(|weight| columns.weight(weight)).transpose()?;
        Ok(Some(Table {
            pages,
            key,
            by,
            weight,
            rules: Rules::of(shape),
            meter: Arc::clone(meter),
            next: 0,
            part: source.part(),
            look: shape.look(&columns.names()),
            metadata,
            name,
        }))
    }

    /// What it calls its columns.
    pub(crate) fn look(&self) -> &Look {
        &self.look
    }

    /// The next row group; none behind the last.
    pub(crate) fn next(&mut self) -> Result<Option<RowGroup>> {
        let group = loop {
            let Some(group) = self.metadata.row_groups().get(self.next) else { return Ok(None) };
            self.next += 1;
            if self.part.contains(&beginning(group)) {
                break group;
            }
        };
        let rows = usize::try_from(group.num_rows()).unwrap_or(0);
        let plain = group.column(self.key.leaf).uncompressed_size();
        let size: i64 = group.columns().iter().map(|column| column.compressed_size()).sum();
        Ok(Some(RowGroup {
            name: Arc::clone(&self.name),
            key: self.cells(self.next - 1, self.key)?,
            by: self.by.map(|by| self.cells(self.next - 1, by)).transpose()?,
            weight: self.weight.map(|weight| self.cells(self.next - 1, weight)).transpose()?,
            rules: self.rules.clone(),
            step: row_group::step(usize::try_from(plain).unwrap_or(0), rows),
            left: rows,
            at: 0,
            decoded: 0,
            meter: Arc::clone(&self.meter),
            bytes_a_row: size.max(0) as f64 / rows.max(1) as f64,
        }))
    }

    fn cells(&self, group: usize, picked: Picked) -> Result<Cells> {
        damaged(&self.name, || {
            let group = self.metadata.row_group(group);
            let chunk = group.column(picked.leaf);
            let rows = usize::try_from(group.num_rows())?;
            let pages = SerializedPageReader::new(Arc::clone(&self.pages), chunk, rows, None)?;
            let column = chunk.column_descr_ptr();
            let nullable = column.max_def_level() > 0;
            let reader = get_column_reader(column, Box::new(pages));
            Ok(Cells::new(reader, picked.kind == Kind::Unsigned, nullable))
        })
    }
}

/// Where a row group begins in its file: with the first page of its first column. Damaged ones may say anything, and begin somewhere too.
fn beginning(group: &RowGroupMetaData) -> u64 {
    let first = |column: &ColumnChunkMetaData| {
        column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset())
    };
    let first = group.columns().iter().map(first).min().unwrap_or(0);
    u64::try_from(first).unwrap_or(0)
}

/// Whether a file begins as no text does, or has the magic at both ends.
pub(crate) fn is_parquet(file: &dyn ReadAt, len: u64) -> std::io::Result<bool> {
    let mut start = *START;
    let known = START.len().min(usize::try_from(len).unwrap_or(START.len()));
    read_exact_at(file, &mut start[..known], 0)?;
    if known < START.len() || start == *START || !start.starts_with(MAGIC) || len < 12 {
        return Ok(known == START.len() && start == *START);
    }
    let mut end = [0; MAGIC.len()];
    read_exact_at(file, &mut end, len - MAGIC.len() as u64)?;
    Ok(end == *MAGIC)
}

/// Refuses a stream that turns out to be Parquet, which begins at its end.
pub(crate) fn refuse_stream(source: &Source, bytes: &[u8]) -> Result<()> {
    match bytes.starts_with(START) {
        false => Ok(()),
        true => Err(Error::Other(format!(
            "{}: this is Parquet, which can be read neither from stdin nor from within a compressed file: name a plain file",
            source.name()
        ))),
    }
}

/// Reads from a file that may be damaged.
fn damaged<T>(name: &str, read: impl FnOnce() -> parquet::errors::Result<T>) -> Result<T> {
    let wrong = |reason| Error::Parquet { name: name.into(), reason };
    guarded(read).map_err(wrong)?.map_err(|error| {
        let reason = error.to_string();
        wrong(reason.strip_prefix("Parquet error: ").unwrap_or(&reason).into())
    })
}
