//! Python objects in chunks.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyIterator, PyList};
use umbel::near::Number;

use super::chunk::{Cells, Chunk, Gather, Want};
use crate::error::OrRaise;
use crate::foreign::list::Texts;
use crate::key;

/// Objects read at a time. Their number bounds how often the interpreter is left and entered again; what is read stays in the cache.
const OBJECTS: usize = 4096;

/// Works on all objects of a list, in order.
pub fn each_of_list(
    list: &Bound<'_, PyList>,
    want: Want,
    mut work: impl FnMut(Chunk<'_>) -> umbel::Result<()> + Send,
) -> PyResult<()> {
    let (py, mut texts, mut first) = (list.py(), Texts::default(), 0);
    // While the interpreter is left, others may change the list: its length is asked for again.
    while first < list.len() {
        let rows = first..list.len().min(first + OBJECTS);
        first = rows.end;
        let count = rows.len();
        match want {
            Want::Bytes => {
                texts.read(list, rows)?;
                let cells = texts.slices();
                let chunk =
                    Chunk { cells: Cells::Bytes(&cells), rows: count, places: texts.places() };
                py.detach(|| work(chunk)).or_raise()?;
            }
            Want::Integers => {
                let words = gather(list.get_slice(rows.start, rows.end), key::word)?;
                py.detach(|| work(words.chunk(count, Cells::Words))).or_raise()?;
            }
            Want::Signed => {
                let signed = |object: &Bound<'_, PyAny>| key::signed(object).map(|key| key as u64);
                let words = gather(list.get_slice(rows.start, rows.end), signed)?;
                py.detach(|| work(words.chunk(count, Cells::Words))).or_raise()?;
            }
            Want::Weights => {
                let words = gather(list.get_slice(rows.start, rows.end), key::weight)?;
                py.detach(|| work(words.chunk(count, Cells::Words))).or_raise()?;
            }
            Want::Numbers => {
                let numbers = gather(list.get_slice(rows.start, rows.end), number)?;
                py.detach(|| work(numbers.chunk(count, Cells::Numbers))).or_raise()?;
            }
        }
    }
    Ok(())
}

/// Works on all objects of an iterable, in order.
pub fn each(
    mut objects: Bound<'_, PyIterator>,
    want: Want,
    mut work: impl FnMut(Chunk<'_>) -> umbel::Result<()> + Send,
) -> PyResult<()> {
    let py = objects.py();
    loop {
        let some = objects.by_ref().take(OBJECTS).collect::<PyResult<Vec<_>>>()?;
        if some.is_empty() {
            return Ok(());
        }
        each_of_list(&PyList::new(py, some)?, want, &mut work)?;
    }
}

/// The values of all that is not None.
fn gather<T>(
    list: Bound<'_, PyList>,
    value: impl Fn(&Bound<'_, PyAny>) -> PyResult<T>,
) -> PyResult<Gather<T>> {
    let nulls = list.iter().any(|object| object.is_none());
    let mut gather = Gather::new(list.len(), nulls);
    for (row, object) in list.iter().enumerate() {
        if !object.is_none() {
            gather.push(row, value(&object)?);
        }
    }
    Ok(gather)
}

/// A float or an integer.
pub fn number(object: &Bound<'_, PyAny>) -> PyResult<Number> {
    if let Ok(float) = object.cast::<PyFloat>() {
        return Ok(Number::Float(float.value()));
    }
    key::signed(object).map(Number::Integer).or_else(|error| {
        match error.is_instance_of::<PyTypeError>(object.py()) {
            true => narrow(object).map(Number::Float),
            false => Err(error),
        }
    })
}

/// One of numpy's floats of 16 or 32 bits, which 64 bits hold as it is; those of more bits would be rounded.
fn narrow(object: &Bound<'_, PyAny>) -> PyResult<f64> {
    let is_narrow = || -> PyResult<bool> {
        let (kind, axes) = (object.getattr("dtype")?, object.getattr("ndim")?);
        let (letter, bytes) = (kind.getattr("kind")?, kind.getattr("itemsize")?);
        Ok(letter.eq("f")? && bytes.le(size_of::<f64>())? && axes.eq(0)?)
    };
    match is_narrow() {
        Ok(true) => object.extract(),
        _ => Err(Want::Numbers.refuse(&key::type_name(object))),
    }
}
