//! Sums over ranges, and quantiles.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use umbel::RangesParams;

use crate::column::{Cells, Column, Want, Weights};
use crate::error::OrRaise;
use crate::shared::Shared;
use crate::{file, key, metadata};

/// Counts over ranges of integers: "how many between these two?", "which value has half of them below?".
///
/// Ranges(lo, hi, eps=0.001, delta=0.01) takes integers from lo to hi. A sum is never below the true one, and above it by at most eps times the total
/// weight, with a probability of at least 1 - delta.
///
/// >>> from umbel import Ranges
/// >>> ports = Ranges(0, 65_535)
/// >>> ports.update([22, 80, 80, 443, 8080])
/// 5
/// >>> ports.sum(1, 1024)[0]
/// 4
/// >>> ports.quantile(0.5)[0]
/// 80
#[pyclass(frozen, module = "umbel")]
pub struct Ranges {
    inner: Shared<umbel::Ranges>,
}

impl Ranges {
    pub fn new(ranges: umbel::Ranges) -> Ranges {
        Ranges { inner: Shared::new(ranges) }
    }

    /// A copy of the core's.
    pub fn get(&self, py: Python<'_>) -> umbel::Ranges {
        self.inner.read(py, Clone::clone)
    }
}

#[pymethods]
impl Ranges {
    #[new]
    #[pyo3(signature = (lo, hi, eps=0.001, delta=0.01, *, seed=0))]
    fn create(
        py: Python<'_>,
        lo: i64,
        hi: i64,
        eps: f64,
        delta: f64,
        seed: u64,
    ) -> PyResult<Ranges> {
        let params = RangesParams::for_error(lo, hi, eps, delta).or_raise()?.with_seed(seed);
        py.detach(|| umbel::Ranges::new(params)).map(Ranges::new).or_raise()
    }

    /// Adds a key with a weight; a key outside the interval is refused.
    #[pyo3(signature = (key, weight=1))]
    fn add(&self, py: Python<'_>, key: &Bound<'_, PyAny>, weight: u64) -> PyResult<()> {
        let key = key::signed(key)?;
        self.inner.touch(py, |ranges| ranges.add(key, weight)).or_raise()
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
        Column::of(keys)?.each(py, Want::Signed, |chunk| {
            let weights = weights.next(&chunk)?;
            let Cells::Words(keys) = chunk.cells else { return Ok(()) };
            let keys: &[i64] = bytemuck::cast_slice(keys);
            added += keys.len() as u64;
            match weights {
                Some(weights) => inner.lock().add_weighted(keys, weights),
                None => inner.lock().add_batch(keys),
            }
        })?;
        weights.end()?;
        Ok(added)
    }

    /// What a key came to: never less.
    fn estimate(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<u64> {
        let key = key::signed(key)?;
        self.inner.glance(py, |ranges| ranges.estimate(key)).map(|sum| sum.estimate).or_raise()
    }

    /// The weight of the keys from low to high, both included, as a pair: an estimate, never too low, and how much too high it may be, with a probability of at
    /// least 1 - delta.
    fn sum(&self, py: Python<'_>, low: i64, high: i64) -> PyResult<(u64, u64)> {
        let sum = self.inner.glance(py, |ranges| ranges.sum(low..=high)).or_raise()?;
        Ok((sum.estimate, sum.bound))
    }

    /// The value below which less than a share q of the weight lies, and at or below which at least that share lies, but for the bound: a pair of both. None when
    /// nothing was counted.
    fn quantile(&self, py: Python<'_>, q: f64) -> PyResult<Option<(i64, u64)>> {
        let quantile = self.inner.glance(py, |ranges| ranges.quantile(q)).or_raise()?;
        Ok(quantile.map(|quantile| (quantile.value, quantile.bound)))
    }

    /// Takes in all that another with the same parameters counted: afterwards it is the same as if every key had been added here.
    fn merge(&self, py: Python<'_>, other: &Ranges) -> PyResult<()> {
        self.inner.write_with(py, &other.inner, |ours, theirs| ours.merge(theirs)).or_raise()
    }

    fn __ior__(&self, py: Python<'_>, other: &Ranges) -> PyResult<()> {
        self.merge(py, other)
    }

    fn __or__(&self, py: Python<'_>, other: &Ranges) -> PyResult<Ranges> {
        let both = self.copy(py);
        both.merge(py, other)?;
        Ok(both)
    }

    /// The least key.
    #[getter]
    fn lo(&self, py: Python<'_>) -> i64 {
        self.inner.glance(py, |ranges| ranges.params().lo())
    }

    /// The greatest key.
    #[getter]
    fn hi(&self, py: Python<'_>) -> i64 {
        self.inner.glance(py, |ranges| ranges.params().hi())
    }

    /// The sum of all weights, 2**64 - 1 at most.
    #[getter]
    fn total(&self, py: Python<'_>) -> u64 {
        self.inner.glance(py, |ranges| ranges.total())
    }

    /// The number of keys added, also those that came before.
    #[getter]
    fn inserted(&self, py: Python<'_>) -> u64 {
        self.inner.glance(py, |ranges| ranges.inserted())
    }

    /// Counts of their own with the same content.
    fn copy(&self, py: Python<'_>) -> Ranges {
        Ranges::new(self.inner.read(py, Clone::clone))
    }

    fn __copy__(&self, py: Python<'_>) -> Ranges {
        self.copy(py)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> Ranges {
        self.copy(py)
    }

    /// Equal parameters and equal counters; metadata and the number of calls do not count.
    fn __eq__(&self, py: Python<'_>, other: &Ranges) -> bool {
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
    fn open(py: Python<'_>, path: PathBuf, verify: bool) -> PyResult<Ranges> {
        file::open_as(py, path, verify, umbel::Ranges::open, umbel::Ranges::open_unverified)
            .map(Ranges::new)
    }

    /// The bytes that save would write.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.inner.read(py, umbel::Ranges::to_bytes).or_raise()?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// What the bytes of a file hold.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: PyBackedBytes) -> PyResult<Ranges> {
        py.detach(|| umbel::Ranges::from_bytes(&data)).map(Ranges::new).or_raise()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<file::Reduced<'py>> {
        file::reduced(py, self.to_bytes(py)?)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        self.inner.glance(py, |ranges| {
            let params = ranges.params();
            format!(
                "<umbel.Ranges of {} to {}, total {}>",
                params.lo(),
                params.hi(),
                ranges.total()
            )
        })
    }
}
