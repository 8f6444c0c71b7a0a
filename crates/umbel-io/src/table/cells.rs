//! The values of one column, some thousand at a time.

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::{ParquetError, Result};

use crate::value::Value;

/// One value.
enum Cell {
    Null,
    Bytes(ByteArray),
    Signed(i64),
    Unsigned(u64),
    Single(f32),
    Double(f64),
}

impl Cell {
    /// The value as anyone has it.
    #[inline]
    fn value(&self) -> Value<'_> {
        match self {
            Cell::Null => Value::Null,
            Cell::Bytes(bytes) => Value::Bytes(bytes.data()),
            Cell::Signed(number) => Value::Signed(*number),
            Cell::Unsigned(number) => Value::Unsigned(*number),
            Cell::Single(number) => Value::Single(*number),
            Cell::Double(number) => Value::Double(*number),
        }
    }
}

/// A column of a row group.
pub(super) struct Cells {
    reader: ColumnReader,
    unsigned: bool,
    nullable: bool,
    /// The values decoded last.
    cells: Vec<Cell>,
}

impl Cells {
    pub(super) fn new(reader: ColumnReader, unsigned: bool, nullable: bool) -> Cells {
        Cells { reader, unsigned, nullable, cells: Vec::new() }
    }

    /// One of the values decoded last.
    #[inline]
    pub(super) fn value(&self, at: usize) -> Value<'_> {
        self.cells[at].value()
    }

    /// Decodes the values of the next rows.
    pub(super) fn decode(&mut self, rows: usize) -> Result<()> {
        let (nullable, into) = (self.nullable, &mut self.cells);
        into.clear();
        match &mut self.reader {
            ColumnReader::Int32ColumnReader(reader) if self.unsigned => {
                read(reader, rows, nullable, into, |v| Cell::Unsigned(v.cast_unsigned().into()))
            }
            ColumnReader::Int64ColumnReader(reader) if self.unsigned => {
                read(reader, rows, nullable, into, |v| Cell::Unsigned(v.cast_unsigned()))
            }
            ColumnReader::Int32ColumnReader(reader) => {
                read(reader, rows, nullable, into, |v| Cell::Signed(v.into()))
            }
            ColumnReader::Int64ColumnReader(reader) => {
                read(reader, rows, nullable, into, Cell::Signed)
            }
            ColumnReader::FloatColumnReader(reader) => {
                read(reader, rows, nullable, into, Cell::Single)
            }
            ColumnReader::DoubleColumnReader(reader) => {
                read(reader, rows, nullable, into, Cell::Double)
            }
            ColumnReader::ByteArrayColumnReader(reader) => {
                read(reader, rows, nullable, into, Cell::Bytes)
            }
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                read(reader, rows, nullable, into, |v| Cell::Bytes(v.into()))
            }
            ColumnReader::BoolColumnReader(_) | ColumnReader::Int96ColumnReader(_) => {
                Err(ParquetError::NYI("this type of column".into()))
            }
        }
    }
}

/// Values come without the nulls; levels tell where those are.
fn read<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    nullable: bool,
    cells: &mut Vec<Cell>,
    cell: impl Fn(T::T) -> Cell,
) -> Result<()> {
    let (mut values, mut levels) = (Vec::with_capacity(rows), Vec::new());
    let (read, ..) =
        reader.read_records(rows, nullable.then_some(&mut levels), None, &mut values)?;
    if read != rows {
        return Err(ParquetError::General("a column has fewer rows than its row group".into()));
    }
    let mut values = values.into_iter().map(cell);
    if nullable {
        let present = |level| if level > 0 { values.next() } else { None };
        cells.extend(levels.into_iter().map(present).map(|found| found.unwrap_or(Cell::Null)));
    } else {
        cells.extend(values);
    }
    match cells.len() == rows {
        true => Ok(()),
        false => Err(ParquetError::General("a column has fewer values than rows".into())),
    }
}
