//! The core's errors as Python's exceptions, with the core's message.

use std::io::ErrorKind;

use pyo3::exceptions::{PyKeyError, PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use umbel::Error;

/// The exception that fits: `OSError` with its number where the system refused, `TypeError` for keys of the wrong type, `KeyError` for a group that is
/// not there, else `ValueError`.
pub fn raise(error: Error) -> PyErr {
    let message = error.to_string();
    match cause(&error) {
        Error::Io { source, .. } => refused(source, message),
        Error::KeyType { .. } => PyTypeError::new_err(message),
        Error::NoGroup(_) => PyKeyError::new_err(message),
        _ => PyValueError::new_err(message),
    }
}

/// What the system has refused, in these words. Where they are our own, its number is that of the kind, the same on every system that Python runs on.
pub fn refused(source: &std::io::Error, message: String) -> PyErr {
    let number = source.raw_os_error().or(match source.kind() {
        ErrorKind::NotFound => Some(2),
        ErrorKind::PermissionDenied => Some(13),
        ErrorKind::AlreadyExists => Some(17),
        ErrorKind::NotADirectory => Some(20),
        ErrorKind::IsADirectory => Some(21),
        ErrorKind::StorageFull => Some(28),
        ErrorKind::ReadOnlyFilesystem => Some(30),
        _ => None,
    });
    match number {
        Some(number) => PyOSError::new_err((number, message)),
        None => std::io::Error::new(source.kind(), message).into(),
    }
}

/// What went wrong, whichever file or group it came from.
fn cause(error: &Error) -> &Error {
    match error {
        Error::File { source, .. } | Error::Group { source, .. } => cause(source),
        other => other,
    }
}

/// The result of the core as that of Python.
pub trait OrRaise<T> {
    fn or_raise(self) -> PyResult<T>;
}

impl<T> OrRaise<T> for umbel::Result<T> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(raise)
    }
}
