//! Some of the keys of a column, as the core takes them.

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use umbel::near::Number;
use umbel::similar::Item;
use umbel::{KeyType, Keys};

/// What a structure takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    /// Bytes and text.
    Bytes,
    /// 64-bit integers of either sort, as 64 bits.
    Integers,
    /// 64-bit integers with a sign.
    Signed,
    /// Integers and floats.
    Numbers,
    /// Whole numbers from 0 on.
    Weights,
}

impl From<KeyType> for Want {
    fn from(holds: KeyType) -> Want {
        match holds {
            KeyType::Bytes => Want::Bytes,
            KeyType::U64 => Want::Integers,
        }
    }
}

impl Want {
    /// Refuses integers that have no place in it: those beyond 2^63 - 1 where signs are wanted, those below 0 where they are not.
    pub fn check(self, words: &[u64], signed: bool) -> PyResult<()> {
        let unfit = match self {
            Want::Signed | Want::Numbers => !signed,
            Want::Weights => signed,
            Want::Bytes | Want::Integers => false,
        };
        if !unfit || words.iter().all(|&word| word <= i64::MAX as u64) {
            return Ok(());
        }
        Err(match self {
            Want::Weights => PyValueError::new_err("a weight is a whole number from 0 on"),
            _ => PyOverflowError::new_err("an integer lies in -2^63 to 2^63 - 1"),
        })
    }

    /// What was given instead.
    pub fn refuse(self, given: &str) -> PyErr {
        match self {
            Want::Bytes => crate::key::not_bytes(given),
            Want::Integers | Want::Signed => crate::key::not_integers(given),
            Want::Weights => PyTypeError::new_err(format!("weights are int, not {given}")),
            Want::Numbers => {
                PyTypeError::new_err(format!("it holds numbers, which are not given as {given}"))
            }
        }
    }
}

/// The values of some rows.
#[derive(Debug, Clone, Copy)]
pub enum Cells<'a> {
    Bytes(&'a [&'a [u8]]),
    Words(&'a [u64]),
    Floats(&'a [f64]),
    Numbers(&'a [Number]),
    Items(&'a [Item<'a>]),
}

/// Some rows of a column, one behind the other.
#[derive(Debug, Clone, Copy)]
pub struct Chunk<'a> {
    pub cells: Cells<'a>,
    /// The rows, nulls included.
    pub rows: usize,
    /// The rows, counted from the first of the chunk, that are not null; all of them when there is none.
    pub places: Option<&'a [u32]>,
}

impl<'a> Chunk<'a> {
    /// Rows of which none is null.
    pub fn whole(cells: Cells<'a>) -> Chunk<'a> {
        let mut chunk = Chunk { cells, rows: 0, places: None };
        chunk.rows = chunk.len();
        chunk
    }

    /// The number of values: rows that are not null.
    pub fn len(&self) -> usize {
        match self.cells {
            Cells::Bytes(cells) => cells.len(),
            Cells::Words(cells) => cells.len(),
            Cells::Floats(cells) => cells.len(),
            Cells::Numbers(cells) => cells.len(),
            Cells::Items(cells) => cells.len(),
        }
    }

    /// The keys as bytes: integers as their eight little-endian bytes.
    pub fn with_bytes<R>(&self, work: impl FnOnce(&[&[u8]]) -> R) -> R {
        match self.cells {
            Cells::Bytes(cells) => work(cells),
            Cells::Words(cells) => {
                let bytes: Vec<[u8; 8]> = cells.iter().map(|word| word.to_le_bytes()).collect();
                work(&bytes.iter().map(|bytes| &bytes[..]).collect::<Vec<_>>())
            }
            Cells::Floats(_) | Cells::Numbers(_) | Cells::Items(_) => work(&[]),
        }
    }

    /// The keys, where [`Want::Bytes`] or [`Want::Integers`] was asked for.
    pub fn keys(&self) -> Keys<'a> {
        match self.cells {
            Cells::Bytes(cells) => Keys::Bytes(cells),
            Cells::Words(cells) => Keys::U64(cells),
            Cells::Floats(_) | Cells::Numbers(_) | Cells::Items(_) => Keys::Bytes(&[]),
        }
    }

    /// The items, where [`items`](super::items) made the chunk.
    pub fn items(&self) -> &'a [Item<'a>] {
        if let Cells::Items(items) = self.cells { items } else { &[] }
    }

    /// Puts an answer for each row behind those that are there; that for a null is the default.
    pub fn answer<A: Copy + Default>(
        &self,
        answers: &mut Vec<A>,
        ask: impl FnOnce(&mut [A]) -> umbel::Result<()>,
    ) -> umbel::Result<()> {
        let first = answers.len();
        answers.resize(first + self.rows, A::default());
        let answers = &mut answers[first..];
        let Some(places) = self.places else { return ask(answers) };
        let mut known = vec![A::default(); places.len()];
        ask(&mut known)?;
        for (&place, answer) in places.iter().zip(known) {
            answers[place as usize] = answer;
        }
        Ok(())
    }
}

/// Gathers the values of rows one by one.
pub struct Gather<T> {
    values: Vec<T>,
    /// The rows they came from, where some are null.
    places: Option<Vec<u32>>,
}

impl<T> Gather<T> {
    /// For chunks of so many rows.
    pub fn new(rows: usize, nulls: bool) -> Gather<T> {
        Gather { values: Vec::with_capacity(rows), places: nulls.then(|| Vec::with_capacity(rows)) }
    }

    /// Begins the next chunk.
    pub fn clear(&mut self) {
        self.values.clear();
        self.places.as_mut().into_iter().for_each(Vec::clear);
    }

    /// Takes the value of a row, counted from the first of the chunk.
    #[inline]
    pub fn push(&mut self, row: usize, value: T) {
        self.values.push(value);
        if let Some(places) = &mut self.places {
            places.push(row as u32);
        }
    }

    /// Takes the values of all rows of a chunk, none of which is null.
    pub fn extend(&mut self, values: impl ExactSizeIterator<Item = T>) {
        self.values.extend(values);
    }

    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// The chunk of so many rows.
    pub fn chunk<'a>(&'a self, rows: usize, cells: fn(&'a [T]) -> Cells<'a>) -> Chunk<'a> {
        Chunk { cells: cells(&self.values), rows, places: self.places.as_deref() }
    }
}
