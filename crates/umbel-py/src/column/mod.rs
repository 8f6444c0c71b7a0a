//! Many keys at once, from whatever holds them: lists and other iterables, numpy's arrays, Arrow's arrays and streams of them, the columns of pandas
//! and polars.
//!
//! Nulls (Arrow's nulls, `None`, what pandas calls missing) are no keys: they are never added, and the answer for them is "no", or 0.

mod arrow;
mod chunk;
pub mod items;
mod numpy;
mod objects;
mod weights;

pub use chunk::{Cells, Chunk, Want};
pub use objects::number;
pub use weights::Weights;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator, PyList, PyString};

use crate::foreign::arrow::{Array, Kind, Stream};
use crate::foreign::numpy::NumpyArray;

/// Keys, one a row.
pub enum Column<'py> {
    List(Bound<'py, PyList>),
    Objects(Bound<'py, PyIterator>),
    Numpy(NumpyArray<'py>),
    Arrow(Kind, Array),
    Stream(Stream),
}

impl<'py> Column<'py> {
    /// The column in a Python object.
    pub fn of(object: &Bound<'py, PyAny>) -> PyResult<Column<'py>> {
        if let Ok(list) = object.cast::<PyList>() {
            return Ok(Column::List(list.clone()));
        }
        if object.is_instance_of::<PyString>() || object.is_instance_of::<PyBytes>() {
            return Err(PyTypeError::new_err(
                "this is one key, not a column of keys: put it into a list, or take the method for one key",
            ));
        }
        if let Some((kind, array)) = crate::foreign::arrow::array(object)? {
            return Ok(Column::Arrow(kind, array));
        }
        if object.hasattr("__array_interface__")? {
            return numpy::column(object);
        }
        match kind_of(object)? {
            // polars hands them to Arrow as the bytes of their pointers, and does not say so.
            Some(kind) if kind == "Object" => return objects(object),
            // Arrow has them as integers.
            Some(kind) if kind.starts_with("period[") => {
                return Err(PyTypeError::new_err(format!(
                    "a pandas column of {kind} holds no keys: text, bytes and integers do"
                )));
            }
            _ => {}
        }
        if let Some(stream) = crate::foreign::arrow::stream(object)? {
            return Ok(Column::Stream(stream));
        }
        if object.hasattr("isna")? && object.hasattr("to_numpy")? {
            return pandas(object);
        }
        objects(object)
    }

    /// Works on all rows, chunk by chunk and in their order, detached from the interpreter.
    pub fn each(
        self,
        py: Python<'py>,
        want: Want,
        work: impl FnMut(Chunk<'_>) -> umbel::Result<()> + Send,
    ) -> PyResult<()> {
        match self {
            Column::List(list) => objects::each_of_list(&list, want, work),
            Column::Objects(objects) => objects::each(objects, want, work),
            Column::Numpy(array) => numpy::each(py, &array, want, work),
            Column::Arrow(kind, array) => py.detach(|| arrow::each(&kind, &array, want, work)),
            Column::Stream(stream) => py.detach(|| arrow::each_of_stream(stream, want, work)),
        }
    }
}

fn objects<'py>(object: &Bound<'py, PyAny>) -> PyResult<Column<'py>> {
    object.try_iter().map(Column::Objects).map_err(|_| not_a_column(object))
}

/// What a column of polars or pandas calls its values.
fn kind_of(object: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    let Some(kind) = object.getattr_opt("dtype")? else { return Ok(None) };
    Ok(Some(kind.str()?.to_string()))
}

/// A column of pandas or the array in it: those that Arrow or numpy hold are taken as such, others as objects, None where a value is missing.
fn pandas<'py>(column: &Bound<'py, PyAny>) -> PyResult<Column<'py>> {
    let array = column.getattr_opt("array")?.unwrap_or_else(|| column.clone());
    if array.hasattr("__arrow_array__")?
        && let Ok(arrow) = array.call_method0("__arrow_array__")
    {
        return Column::of(&arrow);
    }
    let values = column.call_method0("to_numpy")?;
    let letter: String = values.getattr("dtype")?.getattr("kind")?.extract()?;
    if letter != "O" {
        return Column::of(&values);
    }
    let (py, missing) = (column.py(), column.call_method0("isna")?);
    let values = py.import("numpy")?.call_method1("where", (missing, py.None(), values))?;
    Column::of(&values)
}

fn not_a_column(object: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!(
        "keys come in a list or another iterable, a numpy or Arrow array, or a column of pandas or polars, not in {}",
        crate::key::type_name(object)
    ))
}
