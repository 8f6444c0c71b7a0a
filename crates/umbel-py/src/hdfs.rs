//! Files on HDFS, for `umbel.spark.stream`. The package does not show it.

use std::path::PathBuf;

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use umbel_job::{Error, HdfsPath};

/// A path on HDFS. What goes wrong is an OSError, of the class that fits.
#[pyclass(frozen, module = "umbel._umbel")]
pub struct Hdfs(HdfsPath);

#[pymethods]
impl Hdfs {
    #[new]
    fn create(path: PathBuf) -> PyResult<Hdfs> {
        HdfsPath::parse(&path).map(Hdfs).ok_or_else(|| PyValueError::new_err("no path on HDFS"))
    }

    /// A file in this folder.
    fn join(&self, name: &str) -> Hdfs {
        Hdfs(self.0.join(name))
    }

    /// The names of what is in this folder.
    fn names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let found = py.detach(|| self.0.list()).map_err(raise)?;
        Ok(found.iter().map(|found| found.path.file_name().into()).collect())
    }

    fn read<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.0.read()).map_err(raise)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn write(&self, py: Python<'_>, data: PyBackedBytes) -> PyResult<()> {
        py.detach(|| self.0.write(&data)).map_err(raise)
    }

    fn make_folder(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.make_folder()).map_err(raise)
    }

    /// Moves to a place where nothing is.
    fn rename(&self, py: Python<'_>, to: &Hdfs) -> PyResult<()> {
        py.detach(|| self.0.rename(&to.0)).map_err(raise)
    }

    /// Takes the place of another.
    fn rename_over(&self, py: Python<'_>, to: &Hdfs) -> PyResult<()> {
        py.detach(|| self.0.rename_over(&to.0)).map_err(raise)
    }

    /// Removes a file, or a folder with all that is in it.
    fn remove(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.remove()).map_err(raise)
    }

    /// When it was changed, in milliseconds since 1970.
    fn time(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| self.0.time()).map_err(raise)
    }

    /// Says when it was changed.
    fn set_time(&self, py: Python<'_>, time: u64) -> PyResult<()> {
        py.detach(|| self.0.set_time(time)).map_err(raise)
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }
}

fn raise(error: Error) -> PyErr {
    let message = error.to_string();
    match error {
        Error::Io { source, .. } => std::io::Error::new(source.kind(), message).into(),
        _ => PyOSError::new_err(message),
    }
}
