//! Batches of Arrow as rows: key, group and weight, each an array.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyIterator;
use umbel_io::handed::{Frame, Frames};
use umbel_io::value::Values;
use umbel_io::{Look, ReadAt, Remote, Source};

use crate::foreign::arrow::{self, Array, Kind};

/// What a Python iterator of (key, group or None, weight or None) hands over.
#[derive(Debug)]
pub struct Handed {
    name: String,
    look: Look,
    batches: Mutex<Option<Py<PyIterator>>>,
    failure: Mutex<Option<PyErr>>,
}

impl Handed {
    /// The batches, under the names that messages and metadata have for them.
    pub fn new(name: String, look: Look, batches: Py<PyIterator>) -> Arc<Handed> {
        Arc::new(Handed {
            name,
            look,
            batches: Mutex::new(Some(batches)),
            failure: Mutex::default(),
        })
    }

    /// The rows as an input.
    pub fn source(self: &Arc<Handed>) -> Source {
        Source::remote(Arc::new(Whole(Arc::clone(self))))
    }

    /// What Python has raised meanwhile.
    pub fn failure(&self) -> PyResult<()> {
        match self.failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

/// The input.
#[derive(Debug)]
struct Whole(Arc<Handed>);

impl Remote for Whole {
    fn name(&self) -> String {
        self.0.name.clone()
    }

    fn size(&self) -> Option<u64> {
        None
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn places(&self) -> Option<Arc<dyn ReadAt>> {
        None
    }

    fn is_part(&self) -> bool {
        true
    }

    fn frames(&self) -> Option<Box<dyn Frames>> {
        let batches = self.0.batches.lock().unwrap_or_else(PoisonError::into_inner).take();
        Some(Box::new(Batches { handed: Arc::clone(&self.0), batches }))
    }
}

struct Batches {
    handed: Arc<Handed>,
    /// None once they have been taken: they come only once.
    batches: Option<Py<PyIterator>>,
}

impl Frames for Batches {
    fn next(&mut self) -> umbel_io::Result<Option<Box<dyn Frame>>> {
        let Some(batches) = &self.batches else { return Ok(None) };
        let next = Python::attach(|py| match batches.bind(py).clone().next() {
            Some(batch) => Batch::of(&batch?).map(Some),
            None => Ok(None),
        });
        match next {
            Ok(batch) => Ok(batch.map(|batch| Box::new(batch) as Box<dyn Frame>)),
            Err(error) => {
                let text = error.to_string();
                *self.handed.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                Err(umbel_io::Error::Other(text))
            }
        }
    }

    fn look(&self) -> Look {
        self.handed.look.clone()
    }
}

/// The columns of a batch.
struct Batch {
    key: Column,
    by: Option<Column>,
    weight: Option<Column>,
}

type Column = (Kind, Array);

impl Batch {
    fn of(batch: &Bound<'_, PyAny>) -> PyResult<Batch> {
        let (key, by, weight): (Bound<'_, PyAny>, Option<Bound<'_, PyAny>>, Option<_>) =
            batch.extract()?;
        let len = |column: &Column| column.1.len();
        let batch = Batch {
            key: column(&key)?,
            by: by.as_ref().map(column).transpose()?,
            weight: weight.as_ref().map(column).transpose()?,
        };
        let same = |column: &Option<Column>| {
            column.as_ref().is_none_or(|column| len(column) == len(&batch.key))
        };
        match same(&batch.by) && same(&batch.weight) {
            true => Ok(batch),
            false => Err(PyTypeError::new_err("the columns of a batch differ in length")),
        }
    }
}

fn column(object: &Bound<'_, PyAny>) -> PyResult<Column> {
    arrow::array(object)?.ok_or_else(|| PyTypeError::new_err("a column is an Arrow array"))
}

impl Frame for Batch {
    fn len(&self) -> usize {
        self.key.1.len()
    }

    #[inline]
    fn row(&self, at: usize) -> Values<'_> {
        Values {
            key: self.key.1.value_at(&self.key.0, at),
            by: self.by.as_ref().map(|(kind, array)| array.value_at(kind, at)),
            weight: self.weight.as_ref().map(|(kind, array)| array.value_at(kind, at)),
        }
    }
}
