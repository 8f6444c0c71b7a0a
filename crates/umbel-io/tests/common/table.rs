//! Writing small Parquet files.
#![allow(dead_code, reason = "each test takes what it needs")]

use std::path::Path;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{
    ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type,
};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;

/// The values of a column in one row group; none is null.
pub enum Values {
    Text(Vec<Option<Vec<u8>>>),
    Int64(Vec<Option<i64>>),
    Int32(Vec<Option<i32>>),
    Double(Vec<Option<f64>>),
    Float(Vec<Option<f32>>),
}

impl Values {
    pub fn text<T: AsRef<[u8]>>(values: impl IntoIterator<Item = T>) -> Values {
        Values::Text(values.into_iter().map(|value| Some(value.as_ref().to_vec())).collect())
    }

    fn write(self, column: &mut SerializedColumnWriter) {
        match self {
            Values::Text(values) => {
                let bytes = |value: Vec<u8>| ByteArray::from(value);
                let values = values.into_iter().map(|value| value.map(bytes)).collect();
                write::<ByteArrayType>(column, values);
            }
            Values::Int64(values) => write::<Int64Type>(column, values),
            Values::Int32(values) => write::<Int32Type>(column, values),
            Values::Double(values) => write::<DoubleType>(column, values),
            Values::Float(values) => write::<FloatType>(column, values),
        }
    }
}

fn write<T: DataType>(column: &mut SerializedColumnWriter, values: Vec<Option<T::T>>) {
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let present: Vec<T::T> = values.into_iter().flatten().collect();
    column.typed::<T>().write_batch(&present, Some(&levels), None).unwrap();
}

/// Writes a file: the columns as a message type has them, and for each row group the values of each column.
pub fn write_table(path: &Path, columns: &str, compression: Compression, groups: Vec<Vec<Values>>) {
    let schema = Arc::new(parse_message_type(&format!("message table {{ {columns} }}")).unwrap());
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_data_page_row_count_limit(300)
        .set_write_batch_size(100)
        .build();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).unwrap();
    for group in groups {
        let mut rows = writer.next_row_group().unwrap();
        for values in group {
            let mut column = rows.next_column().unwrap().unwrap();
            values.write(&mut column);
            column.close().unwrap();
        }
        rows.close().unwrap();
    }
    writer.close().unwrap();
}
