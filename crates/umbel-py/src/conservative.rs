//! How often, with closer estimates.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use umbel::KeyType;

use crate::column::{Column, Want, Weights};
use crate::countmin::params;
use crate::error::OrRaise;
use crate::key::Key;
use crate::shared::Shared;
use crate::{answers, file, metadata};

/// A count-min sketch that adds only as much as the estimate needs: the promise of CountMin, and in practice much closer estimates.
///
/// What it holds depends on the order of the keys, so two of them cannot be merged or multiplied.
///
/// >>> from umbel import Conservative
/// >>> hits = Conservative(0.001, 0.01)
/// >>> hits.update(["/", "/about", "/"])
/// 3
/// >>> hits.estimate("/")
/// 2
#[pyclass(frozen, module = "umbel")]
pub struct Conservative {
    want: Want,
    inner: Shared<umbel::Conservative>,
}

impl Conservative {
    pub fn new(sketch: umbel::Conservative) -> Conservative {
        Conservative { want: sketch.params().key_type().into(), inner: Shared::new(sketch) }
    }

    /// A copy of the core's.
    pub fn get(&self, py: Python<'_>) -> umbel::Conservative {
        self.inner.read(py, Clone::clone)
    }
}

#[pymethods]
impl Conservative {
    #[new]
    #[pyo3(signature = (eps=None, delta=None, *, width=None, depth=None, integers=false, seed=0))]
    fn create(
        py: Python<'_>,
        eps: Option<f64>,
        delta: Option<f64>,
        width: Option<u64>,
        depth: Option<u32>,
        integers: bool,
        seed: u64,
    ) -> PyResult<Conservative> {
        let params = params([eps, delta], width, depth)?.with_seed(seed);
        let params = params.with_key_type(if integers { KeyType::U64 } else { KeyType::Bytes });
        py.detach(|| umbel::Conservative::new(params)).map(Conservative::new).or_raise()
    }

    /// Adds a key with a weight.
    #[pyo3(signature = (key, weight=1))]
    fn add(&self, py: Python<'_>, key: &Bound<'_, PyAny>, weight: u64) -> PyResult<()> {
        let key = Key::of(key, self.integers())?;
        self.inner.touch(py, |sketch| match key {
            Key::Bytes(key) => sketch.add(key, weight),
            Key::Word(key) => sketch.add_u64(key, weight),
        });
        Ok(())
    }

    /// Adds many keys, each with the weight 1 or with its own; see Bloom.update. Returns their number; nulls are no keys.
    #[pyo3(signature = (keys, weights=None))]
    fn update(
        &self,
        py: Python<'_>,
        keys: &Bound<'_, PyAny>,
        weights: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<u64> {
        let (mut weights, mut added) = (Weights::of(keys, weights)?, 0);
        let change = self.inner.change(py);
        let inner = change.writers();
        Column::of(keys)?.each(py, self.want, |chunk| {
            added += chunk.len() as u64;
            match weights.next(&chunk)? {
                Some(weights) => inner.lock().add_weighted(chunk.keys(), weights),
                None => inner.lock().add_batch(chunk.keys()),
            }
        })?;
        weights.end()?;
        Ok(added)
    }

    /// What a key came to: never less, and at most bound more for all but a share delta of the keys.
    fn estimate(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<u64> {
        let key = Key::of(key, self.integers())?;
        Ok(self.inner.glance(py, |sketch| match key {
            Key::Bytes(key) => sketch.estimate(key),
            Key::Word(key) => sketch.estimate_u64(key),
        }))
    }

    /// What each of many keys came to: a numpy array of uint64, or a list where there is no numpy. A null came to 0.
    fn estimate_batch<'py>(
        &self,
        py: Python<'py>,
        keys: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut estimates = Vec::new();
        Column::of(keys)?.each(py, self.want, |chunk| {
            let sketch = self.inner.reader();
            chunk.answer(&mut estimates, |some| sketch.estimate_batch(chunk.keys(), some))
        })?;
        answers::counts(py, &estimates)
    }

    /// Counters a row.
    #[getter]
    fn width(&self, py: Python<'_>) -> u64 {
        self.inner.glance(py, |sketch| sketch.params().width())
    }

    /// Rows of counters.
    #[getter]
    fn depth(&self, py: Python<'_>) -> u32 {
        self.inner.glance(py, |sketch| sketch.params().depth())
    }

    /// The share of the total weight by which an estimate may be too high.
    #[getter]
    fn eps(&self, py: Python<'_>) -> f64 {
        self.inner.glance(py, |sketch| sketch.params().epsilon())
    }

    /// The share of keys whose estimate may be higher still.
    #[getter]
    fn delta(&self, py: Python<'_>) -> f64 {
        self.inner.glance(py, |sketch| sketch.params().delta())
    }

    /// Whether the keys are integers.
    #[getter]
    fn integers(&self) -> bool {
        self.want == Want::Integers
    }

    /// The sum of all weights, 2**64 - 1 at most.
    #[getter]
    fn total(&self, py: Python<'_>) -> u64 {
        self.inner.glance(py, |sketch| sketch.total())
    }

    /// The number of keys added, also those that came before.
    #[getter]
    fn inserted(&self, py: Python<'_>) -> u64 {
        self.inner.glance(py, |sketch| sketch.inserted())
    }

    /// eps times the total: how much too high an estimate may be, but for a share delta of the keys.
    #[getter]
    fn bound(&self, py: Python<'_>) -> u64 {
        self.inner.glance(py, |sketch| sketch.bound())
    }

    /// A sketch of its own with the same content.
    fn copy(&self, py: Python<'_>) -> Conservative {
        Conservative::new(self.inner.read(py, Clone::clone))
    }

    fn __copy__(&self, py: Python<'_>) -> Conservative {
        self.copy(py)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> Conservative {
        self.copy(py)
    }

    /// Equal parameters and equal counters; metadata and the number of calls do not count.
    fn __eq__(&self, py: Python<'_>, other: &Conservative) -> bool {
        self.inner.read_with(py, &other.inner, |ours, theirs| ours == theirs)
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
    fn open(py: Python<'_>, path: PathBuf, verify: bool) -> PyResult<Conservative> {
        file::open_as(
            py,
            path,
            verify,
            umbel::Conservative::open,
            umbel::Conservative::open_unverified,
        )
        .map(Conservative::new)
    }

    /// The bytes that save would write.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.inner.read(py, umbel::Conservative::to_bytes).or_raise()?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// What the bytes of a file hold.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: PyBackedBytes) -> PyResult<Conservative> {
        py.detach(|| umbel::Conservative::from_bytes(&data)).map(Conservative::new).or_raise()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<file::Reduced<'py>> {
        file::reduced(py, self.to_bytes(py)?)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        self.inner.glance(py, |sketch| {
            let params = sketch.params();
            format!(
                "<umbel.Conservative of {} x {} counters, total {}>",
                params.width(),
                params.depth(),
                sketch.total()
            )
        })
    }
}
