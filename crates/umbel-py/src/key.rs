//! One key: `bytes` as they are, `str` as UTF-8, `int` as 64 bits. Never Python's `hash()`, which differs from run to run.

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// A key as the core takes it.
#[derive(Clone, Copy)]
pub enum Key<'a> {
    Bytes(&'a [u8]),
    Word(u64),
}

impl<'a> Key<'a> {
    /// The key in a Python object, for a structure that holds integers or bytes.
    // Always inlined, with `bytes`: handed over in memory, a text's place and length are written apart and read as one, which the processor waits for.
    #[inline(always)]
    pub fn of(object: &'a Bound<'_, PyAny>, integers: bool) -> PyResult<Key<'a>> {
        if integers { word(object).map(Key::Word) } else { bytes(object).map(Key::Bytes) }
    }
}

/// The bytes of a `str` or `bytes`.
#[inline(always)]
pub fn bytes<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<&'a [u8]> {
    // Exact types first: they are told by one comparison.
    if let Ok(text) = object.cast_exact::<PyString>().or_else(|_| object.cast()) {
        return text.to_str().map(str::as_bytes);
    }
    match object.cast::<PyBytes>() {
        Ok(bytes) => Ok(bytes.as_bytes()),
        Err(_) => Err(not_bytes(&type_name(object))),
    }
}

/// The 64 bits of an `int` or of anything that stands for one. -1 and 2^64 - 1 are the same key, as for the command.
#[inline]
pub fn word(object: &Bound<'_, PyAny>) -> PyResult<u64> {
    object.extract::<u64>().or_else(|_| {
        let signed: Result<i64, PyErr> = object.extract();
        signed.map(|key| key as u64).map_err(|error| unfit(object, &error, "-2^63 to 2^64 - 1"))
    })
}

/// An `int` that 64 bits hold with a sign.
pub fn signed(object: &Bound<'_, PyAny>) -> PyResult<i64> {
    let signed: Result<i64, PyErr> = object.extract();
    signed.map_err(|error| unfit(object, &error, "-2^63 to 2^63 - 1"))
}

/// A whole number from 0 on.
pub fn weight(object: &Bound<'_, PyAny>) -> PyResult<u64> {
    let weight: Result<u64, PyErr> = object.extract();
    weight.map_err(|error| match error.is_instance_of::<PyTypeError>(object.py()) {
        true => PyTypeError::new_err(format!("weights are int, not {}", type_name(object))),
        false => PyValueError::new_err("a weight is a whole number from 0 to 2^64 - 1"),
    })
}

fn unfit(object: &Bound<'_, PyAny>, error: &PyErr, range: &str) -> PyErr {
    if error.is_instance_of::<PyTypeError>(object.py()) {
        return not_integers(&type_name(object));
    }
    PyOverflowError::new_err(format!("an integer key lies in {range}"))
}

/// What was given where keys of bytes were due.
pub fn not_bytes(given: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "it holds keys of bytes, which are given as str or bytes, not {given}; for int keys make it with integers=True"
    ))
}

/// What was given where integers were due.
pub fn not_integers(given: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "it holds keys of 64-bit integers, which are given as int, not {given}"
    ))
}

/// The name of an object's type.
pub fn type_name(object: &Bound<'_, PyAny>) -> String {
    object.get_type().name().map_or_else(|_| "this".into(), |name| name.to_string())
}
