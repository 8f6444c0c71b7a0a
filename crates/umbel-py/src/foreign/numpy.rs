//! numpy's arrays, read where they stand.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::answers::numpy;

/// A one-dimensional array whose values stand one behind the other, aligned and in the order of this machine.
pub struct NumpyArray<'py> {
    /// Keeps the values where they are.
    owner: Bound<'py, PyAny>,
    kind: Kind,
    address: usize,
    rows: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// 64-bit integers.
    Integers { signed: bool },
    /// 64-bit floats.
    Floats,
    /// Bytes of this length each, zeros at the end not counted.
    Bytes(usize),
    /// Python objects, or text: to be had as a list.
    Objects,
}

impl<'py> NumpyArray<'py> {
    /// The array in an object that has `__array_interface__`; numpy copies it where it is not as we need it.
    pub fn of(object: &Bound<'py, PyAny>) -> PyResult<NumpyArray<'py>> {
        if object.hasattr("mask")? {
            return Err(PyTypeError::new_err(
                "a masked array has no rule for what is masked: give its compressed()",
            ));
        }
        let numpy = numpy(object.py()).ok_or_else(|| {
            PyTypeError::new_err("an object with __array_interface__ needs numpy to be installed")
        })?;
        let array = numpy.call_method1("asarray", (object,))?;
        let dimensions: usize = array.getattr("ndim")?.extract()?;
        if dimensions != 1 {
            return Err(PyValueError::new_err(format!(
                "keys come in an array of one dimension, not of {dimensions}"
            )));
        }
        let (kind, dtype) = kind(&array.getattr("dtype")?)?;
        let array = match kind {
            Kind::Objects => array,
            _ => numpy.call_method1("require", (array, dtype, ["C", "A"]))?,
        };
        let interface = array.getattr("__array_interface__")?;
        let (address, _): (usize, bool) = interface.get_item("data")?.extract()?;
        let rows = array.len()?;
        Ok(NumpyArray { owner: array, kind, address, rows })
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The integers.
    pub fn words(&self) -> &[u64] {
        if matches!(self.kind, Kind::Integers { .. }) { self.plain() } else { &[] }
    }

    /// The floats.
    pub fn floats(&self) -> &[f64] {
        if self.kind == Kind::Floats { self.plain() } else { &[] }
    }

    /// The bytes of all keys, this many each.
    pub fn bytes(&self) -> (&[u8], usize) {
        let Kind::Bytes(width) = self.kind else { return (&[], 0) };
        if self.rows * width == 0 {
            return (&[], width);
        }
        // SAFETY: numpy's array has so many bytes, one behind the other, and `owner` keeps it.
        (unsafe { std::slice::from_raw_parts(self.address as *const u8, self.rows * width) }, width)
    }

    /// The values as Python objects.
    pub fn objects(&self) -> PyResult<Bound<'py, PyAny>> {
        self.owner.call_method0("tolist")
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    fn plain<T: bytemuck::Pod>(&self) -> &[T] {
        if self.rows == 0 {
            return &[];
        }
        // SAFETY: numpy was asked for an aligned array of this type, one value behind the other; any bits are a value, and `owner` keeps it.
        unsafe { std::slice::from_raw_parts(self.address as *const T, self.rows) }
    }
}

/// What an array of this type holds, and the type that we read it as.
fn kind(dtype: &Bound<'_, PyAny>) -> PyResult<(Kind, String)> {
    let letter: String = dtype.getattr("kind")?.extract()?;
    let width: usize = dtype.getattr("itemsize")?.extract()?;
    Ok(match &letter[..] {
        "i" => (Kind::Integers { signed: true }, "=i8".into()),
        "u" => (Kind::Integers { signed: false }, "=u8".into()),
        "f" if width <= 8 => (Kind::Floats, "=f8".into()),
        "S" => (Kind::Bytes(width), format!("S{width}")),
        "O" | "U" | "T" => (Kind::Objects, String::new()),
        _ => {
            return Err(PyTypeError::new_err(format!(
                "a numpy array of {dtype} holds no keys: text, bytes and integers do"
            )));
        }
    })
}
