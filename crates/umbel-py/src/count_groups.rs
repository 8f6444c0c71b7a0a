//! Counts by group.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::counts::Counts;
use crate::error::OrRaise;
use crate::shared::Shared;
use crate::{file, metadata};

/// Counts by group, in one file: one of the same kind for each name.
///
/// >>> from umbel import CountGroups, CountMin, Counts
/// >>> hits = CountGroups()
/// >>> monday = Counts(CountMin())
/// >>> monday.add("/", 3)
/// >>> hits["monday"] = monday
/// >>> hits["monday"].estimate("/")
/// 3
#[pyclass(frozen, module = "umbel")]
pub struct CountGroups {
    inner: Shared<umbel::CountGroups>,
}

impl CountGroups {
    pub fn new(groups: umbel::CountGroups) -> CountGroups {
        CountGroups { inner: Shared::new(groups) }
    }
}

#[pymethods]
impl CountGroups {
    #[new]
    fn create() -> CountGroups {
        CountGroups::new(umbel::CountGroups::default())
    }

    /// The names of the groups, in order: numbers by value, then other names.
    fn names(&self, py: Python<'_>) -> Vec<String> {
        self.inner.glance(py, |groups| groups.names().map(Into::into).collect())
    }

    /// The number of groups.
    fn __len__(&self, py: Python<'_>) -> usize {
        self.inner.glance(py, |groups| groups.len())
    }

    /// A copy of the counts of a group.
    fn __getitem__(&self, py: Python<'_>, name: &str) -> PyResult<Counts> {
        self.inner.read(py, |groups| groups.get(name).cloned()).map(Counts::new).or_raise()
    }

    /// Puts a copy of these counts in place for a group.
    fn __setitem__(&self, py: Python<'_>, name: &str, counts: &Counts) -> PyResult<()> {
        let counts = counts.get(py);
        self.inner.write(py, |groups| groups.set(name, counts)).or_raise()
    }

    /// Takes in all groups of another; groups of the same name are merged.
    fn merge(&self, py: Python<'_>, other: &CountGroups) -> PyResult<()> {
        self.inner.write_with(py, &other.inner, |ours, theirs| ours.merge(theirs)).or_raise()
    }

    /// Groups of their own with the same content.
    fn copy(&self, py: Python<'_>) -> CountGroups {
        CountGroups::new(self.inner.read(py, Clone::clone))
    }

    /// Equal parameters and content; metadata and the number of calls do not count.
    fn __eq__(&self, py: Python<'_>, other: &CountGroups) -> bool {
        self.inner.read_with(py, &other.inner, |ours, theirs| ours == theirs)
    }

    fn __copy__(&self, py: Python<'_>) -> CountGroups {
        self.copy(py)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> CountGroups {
        self.copy(py)
    }

    /// A copy of the text pairs that travel with it; assign a dict to change them.
    #[getter]
    fn metadata(&self, py: Python<'_>) -> BTreeMap<String, String> {
        self.inner.glance(py, |inner| metadata::to_map(inner.metadata()))
    }

    #[setter]
    fn set_metadata(&self, py: Python<'_>, pairs: BTreeMap<String, String>) {
        self.inner.touch(py, |inner| *inner.metadata_mut() = metadata::from_map(pairs));
    }

    /// Writes it to a file: complete or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.inner.read(py, |inner| inner.save(path)).or_raise()
    }

    /// Opens a file by mapping it. Every byte is verified, unless verify is False; the file is never changed.
    #[staticmethod]
    #[pyo3(signature = (path, *, verify=true))]
    fn open(py: Python<'_>, path: PathBuf, verify: bool) -> PyResult<CountGroups> {
        file::open_as(
            py,
            path,
            verify,
            umbel::CountGroups::open,
            umbel::CountGroups::open_unverified,
        )
        .map(CountGroups::new)
    }

    /// The bytes that save would write.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.inner.read(py, umbel::CountGroups::to_bytes).or_raise()?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// What the bytes of a file hold.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: PyBackedBytes) -> PyResult<CountGroups> {
        py.detach(|| umbel::CountGroups::from_bytes(&data)).map(CountGroups::new).or_raise()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<file::Reduced<'py>> {
        file::reduced(py, self.to_bytes(py)?)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("<umbel.CountGroups of {} groups>", self.__len__(py))
    }
}
