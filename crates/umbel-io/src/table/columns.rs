//! Finding the columns of the key, the group and the weight in a Parquet file.

use parquet::file::metadata::ParquetMetaData;

use super::kind::Kind;
use crate::shape::{find, with_place};
use crate::{Column, Error, Result, Shape};

/// A column that is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Picked {
    /// Its place among all that a row group holds.
    pub(super) leaf: usize,
    pub(super) kind: Kind,
}

/// The columns of a file.
pub(super) struct Columns<'a> {
    pub(super) name: &'a str,
    pub(super) metadata: &'a ParquetMetaData,
}

impl Columns<'_> {
    /// The column of the key: the one that is named, or the only one.
    pub(super) fn key(&self, shape: &Shape) -> Result<Picked> {
        let picked = match &shape.key {
            Some(column) => self.pick(column)?,
            None if self.names().len() == 1 => self.pick(&Column::Number(1))?,
            None => {
                return Err(self.refuse(format!(
                    "it has several columns, name the key's with --key (of a file for --exact, with --exact-key); they are {}",
                    self.names().join(", ")
                )));
            }
        };
        match picked.kind {
            Kind::Float if shape.numbers.is_none() => Err(self.refuse(
                "a column of floating-point numbers cannot be the key: their text differs from program to program".into(),
            )),
            _ => Ok(picked),
        }
    }

    /// The column of the group.
    pub(super) fn group(&self, column: &Column, round: bool) -> Result<Picked> {
        let picked = self.pick(column)?;
        if picked.kind == Kind::Float && !round {
            return Err(self.refuse(format!(
                "column {column} has floating-point numbers, which can be groups only with --round"
            )));
        }
        Ok(picked)
    }

    /// The column of the weight.
    pub(super) fn weight(&self, column: &Column) -> Result<Picked> {
        let picked = self.pick(column)?;
        match picked.kind {
            Kind::Float => Err(self.refuse(format!(
                "column {column} has floating-point numbers; a weight is a whole number"
            ))),
            _ => Ok(picked),
        }
    }

    fn pick(&self, column: &Column) -> Result<Picked> {
        let names = self.names();
        let place = match column {
            Column::Number(number) => Some(number - 1).filter(|&at| at < names.len()),
            Column::Name(name) => find(name, &names).map_err(|why| self.refuse(why))?,
        };
        let place = place.ok_or_else(|| {
            let found = with_place(column, &names);
            self.refuse(format!("there is no column {:?}; it has: {found}", column.to_string()))
        })?;
        let schema = self.metadata.file_metadata().schema_descr();
        let leaf =
            (0..schema.num_columns()).find(|&leaf| schema.get_column_root_idx(leaf) == place);
        let kind =
            leaf.map_or(Err("empty".into()), |leaf| Ok((leaf, Kind::of(&schema.column(leaf))?)));
        kind.map(|(leaf, kind)| Picked { leaf, kind }).map_err(|found: String| {
            self.refuse(format!(
                "column {} is {found}; a key or group is text, bytes or an integer (a group with --round a float too)",
                names[place]
            ))
        })
    }

    pub(super) fn names(&self) -> Vec<&str> {
        let schema = self.metadata.file_metadata().schema();
        schema.get_fields().iter().map(|field| field.name()).collect()
    }

    fn refuse(&self, reason: String) -> Error {
        Error::Other(format!("{}: {reason}", self.name))
    }
}
