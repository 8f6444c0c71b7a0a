//! Values of columns, and what a row of them comes to: the same rules for Parquet and for rows that a program hands over.

use std::io::Write;

use umbel::near::Grid;

use crate::batch::{Record, Row};
use crate::block::MAX_RECORD;
use crate::groups::Interner;
use crate::parser::{
    EMPTY_KEY, NO_INTEGER, NO_WEIGHT, check_interval, integer, put_integer, whole,
};
use crate::{Shape, number};

const LONG_KEY: &str = "the key is longer than 16 MiB";

/// One value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// There is none.
    Null,
    /// Text or bytes.
    Bytes(&'a [u8]),
    /// An integer.
    Signed(i64),
    /// An integer that is not negative.
    Unsigned(u64),
    /// A float of 32 bits.
    Single(f32),
    /// A float of 64 bits.
    Double(f64),
}

impl Value<'_> {
    /// The value, if there is one.
    fn some(self) -> Option<Self> {
        Some(self).filter(|value| !matches!(value, Value::Null))
    }

    /// Appends the value as text: bytes as they are, integers in decimal, floats with the fewest digits that tell them apart.
    #[inline]
    fn write(self, out: &mut Vec<u8>) {
        // Writing to a vector cannot fail.
        let _ = match self {
            Value::Null => Ok(()),
            Value::Bytes(bytes) => out.write_all(bytes),
            Value::Signed(number) => write!(out, "{number}"),
            Value::Unsigned(number) => write!(out, "{number}"),
            Value::Single(number) => write!(out, "{number}"),
            Value::Double(number) => write!(out, "{number}"),
        };
    }
}

/// What is read of a row.
#[derive(Debug, Clone, Copy)]
pub struct Values<'a> {
    /// The key.
    pub key: Value<'a>,
    /// The group, where one was asked for.
    pub by: Option<Value<'a>>,
    /// The weight, where one was asked for.
    pub weight: Option<Value<'a>>,
}

/// What rows of values are taken for.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    round: bool,
    integers: bool,
    interval: Option<(i64, i64)>,
    numbers: Option<Grid>,
    /// The text of a group or weight.
    text: Vec<u8>,
}

impl Rules {
    pub(crate) fn of(shape: &Shape) -> Rules {
        Rules {
            round: shape.round,
            integers: shape.integers,
            interval: shape.interval,
            numbers: shape.numbers,
            text: Vec::new(),
        }
    }

    /// The record of a row. Its group comes last: a group is one only if it has a key.
    #[inline]
    pub(crate) fn record(
        &mut self,
        values: Values,
        groups: &mut Interner,
        bytes: &mut Vec<u8>,
    ) -> Result<Record, &'static str> {
        let row = self.write_key(values.key, bytes)?;
        let weight = match values.weight {
            None => None,
            Some(weight) => {
                self.text.clear();
                weight.write(&mut self.text);
                Some(whole(&self.text).ok_or(NO_WEIGHT)?)
            }
        };
        let Some(by) = values.by else { return Ok(Record { row, group: None, weight }) };
        let Some(group) = by.some() else { return Err("the group is null") };
        self.text.clear();
        group.write(&mut self.text);
        let group = Some(groups.id(&self.text, 0..self.text.len(), self.round)?);
        Ok(Record { row, group, weight })
    }

    /// Writes a key, with a newline behind it: the line that is printed for it. An integer's 64 bits stand apart.
    #[inline]
    fn write_key(&self, key: Value, bytes: &mut Vec<u8>) -> Result<Row, &'static str> {
        let start = bytes.len();
        key.some().ok_or("the key is null")?.write(bytes);
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
        let (bits, negative) = match key {
            Value::Signed(number) => (number.cast_unsigned(), number < 0),
            Value::Unsigned(number) => (number, false),
            _ => integer(&bytes[start..end]).ok_or(NO_INTEGER)?,
        };
        check_interval(bits, negative, self.interval)?;
        Ok(Row::new(line, put_integer(bits, negative, bytes)))
    }
}
