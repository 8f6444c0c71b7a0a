//! Files, whatever they hold; and pickle, which carries their bytes.

use std::path::PathBuf;

use pyo3::PyClass;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use umbel::format::{File, Kind};

use crate::bloom::Bloom;
use crate::conservative::Conservative;
use crate::count_groups::CountGroups;
use crate::countmin::CountMin;
use crate::counts::Counts;
use crate::error::OrRaise;
use crate::groups::Groups;
use crate::heavy::Heavy;
use crate::near::Near;
use crate::ranges::Ranges;
use crate::similar::Similar;

/// Opens a file by mapping it and returns what it holds. Every byte is verified, unless verify is False; the file is never changed.
#[pyfunction]
#[pyo3(signature = (path, *, verify=true))]
pub fn open(py: Python<'_>, path: PathBuf, verify: bool) -> PyResult<Bound<'_, PyAny>> {
    held(py, || File::open(path), verify)
}

/// What the bytes of a file hold.
#[pyfunction]
pub fn from_bytes(py: Python<'_>, data: PyBackedBytes) -> PyResult<Bound<'_, PyAny>> {
    held(py, || File::from_bytes(data.to_vec()), true)
}

/// What a file holds, whatever it is.
fn held(
    py: Python<'_>,
    open: impl FnOnce() -> umbel::Result<File> + Send,
    verify: bool,
) -> PyResult<Bound<'_, PyAny>> {
    let open = || {
        let file = open()?;
        if verify {
            file.verify()?;
        }
        Ok(file)
    };
    let file = py.detach(open).or_raise()?;
    match file.kind() {
        Kind::Bloom => object(py, Bloom::new(file.into_bloom().or_raise()?)),
        Kind::Groups => object(py, Groups::new(file.into_groups().or_raise()?)),
        Kind::CountMin => {
            let sketch = file.into_count_min().or_raise()?;
            checked(py, verify, || sketch.check())?;
            object(py, CountMin::new(sketch))
        }
        Kind::Conservative => {
            let sketch = file.into_conservative().or_raise()?;
            checked(py, verify, || sketch.check())?;
            object(py, Conservative::new(sketch))
        }
        Kind::Ranges => {
            let ranges = file.into_ranges().or_raise()?;
            checked(py, verify, || ranges.check())?;
            object(py, Ranges::new(ranges))
        }
        Kind::Heavy => object(py, Heavy::new(file.into_heavy().or_raise()?)),
        Kind::Counts => {
            let counts = file.into_counts().or_raise()?;
            checked(py, verify, || counts.check())?;
            object(py, Counts::new(counts))
        }
        Kind::CountGroups => {
            let groups = file.into_count_groups().or_raise()?;
            checked(py, verify, || groups.check())?;
            object(py, CountGroups::new(groups))
        }
        Kind::Near => {
            let near = file.into_near().or_raise()?;
            checked(py, verify, || near.verify())?;
            object(py, Near::new(near))
        }
        Kind::Similar => object(py, Similar::new(file.into_similar().or_raise()?)),
        other => Err(PyValueError::new_err(format!(
            "this file holds {other}, which this package does not open"
        ))),
    }
}

/// What checksums do not tell: whether the content can be what it says.
fn checked(
    py: Python<'_>,
    verify: bool,
    check: impl FnOnce() -> umbel::Result<()> + Send,
) -> PyResult<()> {
    if verify { py.detach(check).or_raise() } else { Ok(()) }
}

/// A Python object of a class of ours.
pub fn object<T: PyClass<BaseType = PyAny>>(
    py: Python<'_>,
    value: T,
) -> PyResult<Bound<'_, PyAny>> {
    Bound::new(py, value).map(Bound::into_any)
}

/// Opens a file in one of two ways.
pub fn open_as<T: Send>(
    py: Python<'_>,
    path: PathBuf,
    verify: bool,
    verified: impl FnOnce(PathBuf) -> umbel::Result<T> + Send,
    unverified: impl FnOnce(PathBuf) -> umbel::Result<T> + Send,
) -> PyResult<T> {
    py.detach(|| if verify { verified(path) } else { unverified(path) }).or_raise()
}

/// What pickle keeps: the function that makes the object again, and the bytes of its file.
pub type Reduced<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>,));

/// For `__reduce__`.
pub fn reduced<'py>(py: Python<'py>, bytes: Bound<'py, PyBytes>) -> PyResult<Reduced<'py>> {
    Ok((py.import("umbel")?.getattr("from_bytes")?, (bytes,)))
}
