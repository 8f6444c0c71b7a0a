//! How often.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use umbel::{CountMinParams, KeyType};

use crate::column::{Column, Want, Weights};
use crate::error::OrRaise;
use crate::key::Key;
use crate::shared::Shared;
use crate::{answers, file, metadata};

/// eps and delta where they are not given, as for the command.
const USUAL: [f64; 2] = [0.001, 0.01];

/// The size of a sketch.
pub fn params(
    [eps, delta]: [Option<f64>; 2],
    width: Option<u64>,
    depth: Option<u32>,
) -> PyResult<CountMinParams> {
    for (rate, size, both) in [
        (eps, width.is_some(), "eps and width: give one of them, either sets the other"),
        (delta, depth.is_some(), "delta and depth: give one of them, either sets the other"),
    ] {
        if rate.is_some() && size {
            return Err(PyValueError::new_err(both));
        }
    }
    let [usual_eps, usual_delta] = USUAL;
    let usual = CountMinParams::for_error(eps.unwrap_or(usual_eps), delta.unwrap_or(usual_delta))
        .or_raise()?;
    CountMinParams::with_size(width.unwrap_or(usual.width()), depth.unwrap_or(usual.depth()))
        .or_raise()
}

/// A count-min sketch: "how often?", from a table of counters that does not grow with the keys.
///
/// CountMin(eps=0.001, delta=0.01): an estimate is never below the true count, and above it by at most eps times the total weight for all but a
/// share delta of the keys. width sets the columns of the table in place of eps, depth its rows in place of delta.
///
/// >>> from umbel import CountMin
/// >>> hits = CountMin(0.001, 0.01)
/// >>> hits.add("/index.html")
/// >>> hits.add("/index.html", 2)
/// >>> hits.estimate("/index.html"), hits.total
/// (3, 3)
/// >>> hits.update(["/", "/about"], weights=[5, 7])
/// 2
/// >>> hits.estimate_batch(["/about", "/index.html"]).tolist()
/// [7, 3]
#[pyclass(frozen, module = "umbel")]
pub struct CountMin {
    want: Want,
    inner: Shared<umbel::CountMin>,
}

impl CountMin {
    pub fn new(sketch: umbel::CountMin) -> CountMin {
        CountMin { want: sketch.params().key_type().into(), inner: Shared::new(sketch) }
    }

    /// A copy of the core's.
    pub fn get(&self, py: Python<'_>) -> umbel::CountMin {
        self.inner.read(py, Clone::clone)
    }
}

#[pymethods]
impl CountMin {
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
    ) -> PyResult<CountMin> {
        let params = params([eps, delta], width, depth)?.with_seed(seed);
        let params = params.with_key_type(if integers { KeyType::U64 } else { KeyType::Bytes });
        py.detach(|| umbel::CountMin::new(params)).map(CountMin::new).or_raise()
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

    /// Takes in all that another sketch with the same parameters counted: afterwards it is the same as if every key had been added here.
    fn merge(&self, py: Python<'_>, other: &CountMin) -> PyResult<()> {
        self.inner.write_with(py, &other.inner, |ours, theirs| ours.merge(theirs)).or_raise()
    }

    fn __ior__(&self, py: Python<'_>, other: &CountMin) -> PyResult<()> {
        self.merge(py, other)
    }

    fn __or__(&self, py: Python<'_>, other: &CountMin) -> PyResult<CountMin> {
        let both = self.copy(py);
        both.merge(py, other)?;
        Ok(both)
    }

    /// The size of the join with another sketch, the sum over all keys of the product of their weights, as a pair: an estimate, never too low, and how
    /// much too high it may be, with a probability of at least 1 - delta. With itself: the second moment.
    fn inner_product(&self, py: Python<'_>, other: &CountMin) -> PyResult<(u128, f64)> {
        let product = |ours: &umbel::CountMin, theirs: &umbel::CountMin| ours.inner_product(theirs);
        let product = self.inner.read_with(py, &other.inner, product).or_raise()?;
        Ok((product.estimate, product.bound))
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
    fn copy(&self, py: Python<'_>) -> CountMin {
        CountMin::new(self.inner.read(py, Clone::clone))
    }

    /// A sketch of its own with the same parameters and metadata, and nothing counted: one to be filled apart and merged.
    fn empty(&self, py: Python<'_>) -> PyResult<CountMin> {
        let empty = |sketch: &umbel::CountMin| {
            let mut empty = umbel::CountMin::new(*sketch.params())?;
            *empty.metadata_mut() = sketch.metadata().clone();
            Ok(empty)
        };
        self.inner.read(py, empty).map(CountMin::new).or_raise()
    }

    fn __copy__(&self, py: Python<'_>) -> CountMin {
        self.copy(py)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> CountMin {
        self.copy(py)
    }

    /// Equal parameters and equal counters; metadata and the number of calls do not count.
    fn __eq__(&self, py: Python<'_>, other: &CountMin) -> bool {
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
    fn open(py: Python<'_>, path: PathBuf, verify: bool) -> PyResult<CountMin> {
        file::open_as(py, path, verify, umbel::CountMin::open, umbel::CountMin::open_unverified)
            .map(CountMin::new)
    }

    /// The bytes that save would write.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.inner.read(py, umbel::CountMin::to_bytes).or_raise()?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// What the bytes of a file hold.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: PyBackedBytes) -> PyResult<CountMin> {
        py.detach(|| umbel::CountMin::from_bytes(&data)).map(CountMin::new).or_raise()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<file::Reduced<'py>> {
        file::reduced(py, self.to_bytes(py)?)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        self.inner.glance(py, |sketch| {
            let params = sketch.params();
            format!(
                "<umbel.CountMin of {} x {} counters, total {}>",
                params.width(),
                params.depth(),
                sketch.total()
            )
        })
    }
}
