//! numpy's arrays, read where they stand.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::answers::numpy;

/// A one-dimensional array whose values stand one behind the other, aligned and in the order of this machine.
pub struct NumpyArray<'py> {
    /// Keeps the values where they are.
    _owner: Bound<'py, PyAny>,
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

/// What an object says of itself through `__array_interface__`.
struct Interface {
    letter: char,
    width: usize,
    rows: usize,
    address: usize,
}

impl Interface {
    fn of(array: &Bound<'_, PyAny>) -> PyResult<Interface> {
        let dict = array.getattr("__array_interface__")?.cast_into::<PyDict>()?;
        let item = |name: &str| {
            dict.get_item(name)?
                .ok_or_else(|| PyValueError::new_err(format!("the array does not tell its {name}")))
        };
        let code: String = item("typestr")?.extract()?;
        let shape: Vec<usize> = item("shape")?.extract()?;
        let &[rows] = &shape[..] else {
            return Err(PyValueError::new_err(format!(
                "keys come in an array of one dimension, not of {}",
                shape.len()
            )));
        };
        let (address, _): (usize, bool) = item("data")?.extract()?;
        let letter = code.chars().nth(1).unwrap_or('?');
        let width = code.get(2..).and_then(|width| width.parse().ok()).unwrap_or(0);
        Ok(Interface { letter, width, rows, address })
    }

    fn kind(&self) -> PyResult<(Kind, String)> {
        let width = self.width;
        Ok(match self.letter {
            'i' => (Kind::Integers { signed: true }, "=i8".into()),
            'u' => (Kind::Integers { signed: false }, "=u8".into()),
            'f' if width <= 8 => (Kind::Floats, "=f8".into()),
            'S' => (Kind::Bytes(width), format!("S{width}")),
            'O' | 'U' | 'T' => (Kind::Objects, String::new()),
            other => {
                return Err(PyTypeError::new_err(format!(
                    "a numpy array of the type {other:?} holds no keys: text, bytes and integers do"
                )));
            }
        })
    }
}

impl<'py> NumpyArray<'py> {
    /// The array in an object that has `__array_interface__`; numpy copies it where it is not as we need it.
    pub fn of(object: &Bound<'py, PyAny>) -> PyResult<NumpyArray<'py>> {
        if object.hasattr("mask")? {
            return Err(PyTypeError::new_err(
                "a masked array has no rule for what is masked: give its compressed()",
            ));
        }
        let (kind, dtype) = Interface::of(object)?.kind()?;
        if kind == Kind::Objects {
            return Ok(NumpyArray { _owner: object.clone(), kind, address: 0, rows: 0 });
        }
        let numpy = numpy(object.py()).ok_or_else(|| {
            PyTypeError::new_err("an object with __array_interface__ needs numpy to be installed")
        })?;
        let array = numpy.call_method1("require", (object, dtype, ["C", "A"]))?;
        let Interface { rows, address, .. } = Interface::of(&array)?;
        Ok(NumpyArray { _owner: array, kind, address, rows })
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
        // SAFETY: numpy's array has so many bytes, one behind the other, and `_owner` keeps it.
        (unsafe { std::slice::from_raw_parts(self.address as *const u8, self.rows * width) }, width)
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    fn plain<T: bytemuck::Pod>(&self) -> &[T] {
        if self.rows == 0 {
            return &[];
        }
        // SAFETY: numpy was asked for an aligned array of this type, one value behind the other; any bits are a value, and `_owner` keeps it.
        unsafe { std::slice::from_raw_parts(self.address as *const T, self.rows) }
    }
}
