//! Items of a similar filter in chunks: texts and bit strings come in any column, vectors and sets in iterables of iterables, vectors also in numpy's
//! arrays of two dimensions.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator, PyString};
use umbel::similar::{Item, Space};

use super::chunk::{Cells, Chunk, Want};
use super::{Column, not_a_column};
use crate::answers::numpy;
use crate::error::OrRaise;
use crate::foreign::numpy::NumpyArray;
use crate::key;

/// Vectors or sets read at a time.
const ITEMS: usize = 256;

/// Works on one item.
pub fn one<R: Send>(
    object: &Bound<'_, PyAny>,
    space: Space,
    work: impl FnOnce(Item<'_>) -> umbel::Result<R> + Send,
) -> PyResult<R> {
    let py = object.py();
    match space {
        _ if object.is_none() => Err(unfit(space, object)),
        Space::Texts { .. } => {
            let text = key::bytes(object)?;
            py.detach(|| work(Item::Text(text))).or_raise()
        }
        Space::Hamming { .. } => {
            let Ok(bits) = object.cast::<PyBytes>() else { return Err(unfit(space, object)) };
            let bits = bits.as_bytes();
            py.detach(|| work(Item::Bits(bits))).or_raise()
        }
        _ => {
            let mut few = Few::new(space);
            few.push(0, object)?;
            py.detach(|| few.with_items(|items| work(items[0]))).or_raise()
        }
    }
}

/// Works on many items, chunk by chunk and in their order, detached from the interpreter.
pub fn each(
    objects: &Bound<'_, PyAny>,
    space: Space,
    mut work: impl FnMut(Chunk<'_>) -> umbel::Result<()> + Send,
) -> PyResult<()> {
    let py = objects.py();
    match space {
        Space::Texts { .. } | Space::Hamming { .. } => each_text(objects, space, work),
        Space::Sets => each_few(iterator(objects)?, space, &mut work),
        _ => match Matrix::of(objects)? {
            Some(matrix) => {
                let rows = matrix.rows();
                py.detach(|| {
                    rows.chunks(ITEMS).try_for_each(|items| work(Chunk::whole(Cells::Items(items))))
                })
                .or_raise()
            }
            None => each_few(iterator(objects)?, space, &mut work),
        },
    }
}

/// Texts or bytes, from whatever holds them.
fn each_text(
    objects: &Bound<'_, PyAny>,
    space: Space,
    mut work: impl FnMut(Chunk<'_>) -> umbel::Result<()> + Send,
) -> PyResult<()> {
    Column::of(objects)?.each(objects.py(), Want::Bytes, |chunk| {
        let Cells::Bytes(texts) = chunk.cells else { return Ok(()) };
        let items: Vec<Item<'_>> = match space {
            Space::Hamming { .. } => texts.iter().map(|text| Item::Bits(text)).collect(),
            _ => texts.iter().map(|text| Item::Text(text)).collect(),
        };
        work(Chunk { cells: Cells::Items(&items), ..chunk })
    })
}

fn each_few(
    mut objects: Bound<'_, PyIterator>,
    space: Space,
    work: &mut (impl FnMut(Chunk<'_>) -> umbel::Result<()> + Send),
) -> PyResult<()> {
    let py = objects.py();
    let mut few = Few::new(space);
    loop {
        let mut rows = 0;
        few.clear();
        for object in objects.by_ref().take(ITEMS) {
            few.push(rows, &object?)?;
            rows += 1;
        }
        if rows == 0 {
            return Ok(());
        }
        let places = few.places.clone();
        let work = &mut *work;
        py.detach(|| {
            few.with_items(|items| {
                work(Chunk { cells: Cells::Items(items), rows, places: Some(&places) })
            })
        })
        .or_raise()?;
    }
}

/// The items of an object, one by one; Arrow's lists as those of Python.
fn iterator<'py>(objects: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyIterator>> {
    if objects.is_instance_of::<PyString>() || objects.is_instance_of::<PyBytes>() {
        return Err(not_a_column(objects));
    }
    let objects = match objects.hasattr("to_pylist")? {
        true => &objects.call_method0("to_pylist")?,
        false => objects,
    };
    objects.try_iter().map_err(|_| not_a_column(objects))
}

/// Some vectors or sets, copied so that the interpreter can be left.
struct Few {
    space: Space,
    numbers: Vec<f64>,
    bytes: Vec<u8>,
    /// Where each token ends.
    tokens: Vec<usize>,
    /// Where each item ends among the numbers or the tokens.
    ends: Vec<usize>,
    /// The rows that are not None.
    places: Vec<u32>,
}

impl Few {
    fn new(space: Space) -> Few {
        let (numbers, bytes, tokens, ends, places) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Few { space, numbers, bytes, tokens, ends, places }
    }

    fn clear(&mut self) {
        self.numbers.clear();
        self.bytes.clear();
        self.tokens.clear();
        self.ends.clear();
        self.places.clear();
    }

    fn push(&mut self, row: usize, object: &Bound<'_, PyAny>) -> PyResult<()> {
        if object.is_none() {
            return Ok(());
        }
        if object.is_instance_of::<PyString>() || object.is_instance_of::<PyBytes>() {
            return Err(unfit(self.space, object));
        }
        let end = match self.space {
            Space::Sets => self.read_tokens(object)?,
            _ => self.read_numbers(object)?,
        };
        self.ends.push(end);
        self.places.push(row as u32);
        Ok(())
    }

    fn read_numbers(&mut self, object: &Bound<'_, PyAny>) -> PyResult<usize> {
        if object.hasattr("__array_interface__")? {
            self.numbers.extend_from_slice(doubles(object)?.floats());
            return Ok(self.numbers.len());
        }
        for number in object.try_iter().map_err(|_| unfit(self.space, object))? {
            self.numbers.push(number?.extract()?);
        }
        Ok(self.numbers.len())
    }

    fn read_tokens(&mut self, object: &Bound<'_, PyAny>) -> PyResult<usize> {
        for token in object.try_iter().map_err(|_| unfit(self.space, object))? {
            self.bytes.extend_from_slice(key::bytes(&token?)?);
            self.tokens.push(self.bytes.len());
        }
        Ok(self.tokens.len())
    }

    fn with_items<R>(&self, work: impl FnOnce(&[Item<'_>]) -> R) -> R {
        let tokens: Vec<&[u8]> = cut(&self.bytes, &self.tokens).collect();
        let items: Vec<Item<'_>> = match self.space {
            Space::Sets => cut(&tokens, &self.ends).map(Item::Tokens).collect(),
            _ => cut(&self.numbers, &self.ends).map(Item::Vector).collect(),
        };
        work(&items)
    }
}

/// The pieces that end at these places, one behind the other.
fn cut<'a, T>(all: &'a [T], ends: &'a [usize]) -> impl Iterator<Item = &'a [T]> {
    let mut start = 0;
    ends.iter().map(move |&end| &all[std::mem::replace(&mut start, end)..end])
}

/// An array of two dimensions: a vector a row.
struct Matrix<'py> {
    numbers: NumpyArray<'py>,
    shape: (usize, usize),
}

impl<'py> Matrix<'py> {
    fn of(object: &Bound<'py, PyAny>) -> PyResult<Option<Matrix<'py>>> {
        if !object.hasattr("__array_interface__")? {
            return Ok(None);
        }
        let Ok(shape) = object.getattr("shape")?.extract::<(usize, usize)>() else {
            return Ok(None);
        };
        let flat = object.call_method1("reshape", (-1,))?;
        Ok(Some(Matrix { numbers: doubles(&flat)?, shape }))
    }

    fn rows(&self) -> Vec<Item<'_>> {
        let (rows, length) = self.shape;
        let row = |row: usize| &self.numbers.floats()[row * length..(row + 1) * length];
        (0..rows).map(|at| Item::Vector(row(at))).collect()
    }
}

/// The numbers of numpy's array as doubles.
fn doubles<'py>(object: &Bound<'py, PyAny>) -> PyResult<NumpyArray<'py>> {
    let numpy = numpy(object.py())
        .ok_or_else(|| PyTypeError::new_err("numpy's arrays need numpy to be installed"))?;
    NumpyArray::of(&numpy.call_method1("asarray", (object, "f8"))?)
}

fn unfit(space: Space, object: &Bound<'_, PyAny>) -> PyErr {
    let how = match space {
        Space::Hamming { .. } => "bytes",
        Space::Sets => "an iterable of str or bytes each",
        Space::Texts { .. } => "str or bytes",
        _ => "a list of numbers or an array each",
    };
    let given = key::type_name(object);
    PyTypeError::new_err(format!("it holds {space}, which are given as {how}, not {given}"))
}
