//! Many answers: a numpy array where numpy can be had, else a list.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyByteArray, PyList, PyModule};

/// numpy, if it is installed; it is looked for once.
pub fn numpy(py: Python<'_>) -> Option<&Bound<'_, PyModule>> {
    static NUMPY: PyOnceLock<Option<Py<PyModule>>> = PyOnceLock::new();
    let found = NUMPY.get_or_init(py, || py.import("numpy").ok().map(Bound::unbind));
    found.as_ref().map(|module| module.bind(py))
}

/// Answers yes or no.
pub fn bools<'py>(py: Python<'py>, answers: &[bool]) -> PyResult<Bound<'py, PyAny>> {
    match numpy(py) {
        Some(numpy) => array(numpy, "bool", bytemuck::cast_slice(answers)),
        None => PyList::new(py, answers).map(Bound::into_any),
    }
}

/// Numbers.
pub fn counts<'py>(py: Python<'py>, answers: &[u64]) -> PyResult<Bound<'py, PyAny>> {
    match numpy(py) {
        Some(numpy) => array(numpy, "uint64", bytemuck::cast_slice(answers)),
        None => PyList::new(py, answers).map(Bound::into_any),
    }
}

/// An array of its own that can be written to.
fn array<'py>(
    numpy: &Bound<'py, PyModule>,
    dtype: &str,
    bytes: &[u8],
) -> PyResult<Bound<'py, PyAny>> {
    if bytes.is_empty() {
        return numpy.call_method1("empty", (0, dtype));
    }
    numpy.call_method1("frombuffer", (PyByteArray::new(numpy.py(), bytes), dtype))
}
