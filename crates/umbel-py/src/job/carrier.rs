//! A Python object that carries jobs.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};
use tempfile::TempDir;
use umbel_job::jobs::{Carried, Carrier, Event, Freight, Report};
use umbel_job::record::Key;
use umbel_job::unfinished::Unfinished;
use umbel_job::{Error, Location, lines};

/// The object: its `carry` gets what is to be done by name, and returns what has come back.
#[derive(Clone)]
pub struct PyCarrier {
    carrier: Arc<Py<PyAny>>,
    failure: Arc<Mutex<Option<PyErr>>>,
    gathered: Arc<Mutex<Gathered>>,
}

/// The folder where kept lines are gathered; whatever is not published is taken away.
type Gathered = Option<(Location, Unfinished)>;

/// What has come back.
#[derive(FromPyObject)]
struct Brought {
    id: String,
    maps: u64,
    bytes: u64,
    records: Vec<(PyBackedBytes, PyBackedBytes)>,
}

impl PyCarrier {
    pub fn new(carrier: Py<PyAny>) -> PyCarrier {
        PyCarrier { carrier: Arc::new(carrier), failure: Arc::default(), gathered: Arc::default() }
    }

    /// The exception of what has failed: Python's own, if it was raised there.
    pub fn exception(&self, error: Error) -> PyErr {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        failure.unwrap_or_else(|| raise(error))
    }

    fn gathered(&self) -> MutexGuard<'_, Gathered> {
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn call(
        &self,
        py: Python<'_>,
        freight: &Freight,
        tool: Option<&Path>,
        lines: Option<&Location>,
    ) -> PyResult<Brought> {
        let order = freight.order;
        let inputs: Vec<&str> = order.inputs.iter().map(|input| input.path.as_str()).collect();
        let stretches: Vec<(usize, String)> =
            freight.stretches.iter().map(|place| (place.input, place.to_string())).collect();
        let words = PyDict::new(py);
        words.set_item("name", freight.name)?;
        words.set_item("order", PyBytes::new(py, &order.to_json().map_err(raise)?))?;
        words.set_item("inputs", inputs)?;
        words.set_item("stretches", stretches)?;
        words.set_item("reducers", freight.reducers)?;
        words.set_item("tool", tool)?;
        words.set_item("lines", lines.map(ToString::to_string))?;
        words.set_item("size", freight.bytes)?;
        self.carrier.bind(py).call_method("carry", (), Some(&words))?.extract()
    }

    fn bring(&self, freight: &Freight, lines: Option<&Location>) -> umbel_job::Result<Carried> {
        let started = Instant::now();
        // What stands on HDFS is fetched once, and goes to the nodes as other files do.
        let fetched = freight.file.map(fetch).transpose()?;
        let tool = fetched.as_ref().map(|(path, _)| path.as_path());
        let brought = Python::attach(|py| {
            self.call(py, freight, tool, lines).map_err(|error| self.note(py, error))
        })?;
        carried(brought, started.elapsed())
    }

    /// Keeps an exception for whoever has called from Python, and says what it says to others.
    fn note(&self, py: Python<'_>, error: PyErr) -> Error {
        let text = error.value(py).to_string();
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        Error::Other(text)
    }
}

/// The file on this machine, and the folder that goes with it.
fn fetch(file: &Location) -> umbel_job::Result<(PathBuf, Option<TempDir>)> {
    if let Location::Local(path) = file {
        return Ok((path.clone(), None));
    }
    let folder = tempfile::tempdir().map_err(Error::io("a temporary folder"))?;
    let path = folder.path().join(file.file_name());
    let opened = file.open()?;
    let mut from = opened.range(0, opened.len()).map_err(Error::io(file))?;
    let mut to = File::create(&path).map_err(Error::io(path.display()))?;
    io::copy(&mut from, &mut to).map_err(Error::io(file))?;
    Ok((path, Some(folder)))
}

fn carried(brought: Brought, time: Duration) -> umbel_job::Result<Carried> {
    let record = |(key, value): (PyBackedBytes, PyBackedBytes)| {
        let key = Key::from_bytes(&key).map_err(Error::io("a record"))?;
        Ok((key, value.to_vec()))
    };
    let Brought { id, maps, bytes, records } = brought;
    Ok(Carried {
        records: records.into_iter().map(record).collect::<umbel_job::Result<_>>()?,
        report: Report { id, time, maps, map_output_bytes: bytes, ..Report::default() },
    })
}

impl Carrier for PyCarrier {
    fn carry(&self, freight: &Freight, _: &dyn Fn(Event)) -> umbel_job::Result<Carried> {
        let aside = freight.lines.map(lines::aside);
        let begun = aside.as_ref().map(lines::begin).transpose()?;
        *self.gathered() = aside.clone().zip(begun);
        self.bring(freight, aside.as_ref())
    }

    fn room(&self) -> umbel_job::Result<usize> {
        Python::attach(|py| {
            let room = self.carrier.bind(py).call_method0("room");
            room.and_then(|room| room.extract()).map_err(|error| self.note(py, error))
        })
    }

    fn files(&self, at: &Location) -> umbel_job::Result<Vec<Location>> {
        let Location::Elsewhere(path) = at else { return at.files() };
        let files = Python::attach(|py| {
            let files = self.carrier.bind(py).call_method1("files", (path,));
            files.and_then(|files| files.extract()).map_err(|error| self.note(py, error))
        });
        let files: Vec<String> = files?;
        Ok(files.into_iter().map(Location::Elsewhere).collect())
    }

    fn publish(&self, to: &Location) -> umbel_job::Result<()> {
        let Some((from, unfinished)) = self.gathered().take() else { return Ok(()) };
        lines::publish(&from, to)?;
        unfinished.keep();
        Ok(())
    }
}

/// The exception that fits.
pub fn raise(error: Error) -> PyErr {
    match error {
        Error::Umbel(error) => crate::error::raise(error),
        Error::Input(umbel_io::Error::Umbel(error)) => crate::error::raise(error),
        Error::Io { ref source, .. } | Error::Input(umbel_io::Error::Io { ref source, .. }) => {
            crate::error::refused(source, error.to_string())
        }
        error => PyValueError::new_err(error.to_string()),
    }
}
