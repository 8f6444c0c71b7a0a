//! The filter.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use std::fmt::Display;
use umbel_io::Plan;

use crate::column::{Column, Want};
use crate::error::OrRaise;
use crate::key::Key;
use crate::shared::Shared;
use crate::sizing::{Sizing, named_family, named_layout};
use crate::{answers, file, metadata};

/// A Bloom filter: "certainly not" or "probably yes", from about ten bits a key.
///
/// Bloom(n, p=0.01) is an empty filter for n keys: of all others, a share p is taken for members at most. No key that was added is ever
/// missed, and nothing can be removed.
///
/// Keys are str (as UTF-8) or bytes; with integers=True they are int, from -2**63 to 2**64 - 1, and -1 and 2**64 - 1 are the same key.
///
/// >>> from umbel import Bloom
/// >>> seen = Bloom(1_000_000, 0.01)
/// >>> seen.add("tt0073537")  # new
/// True
/// >>> seen.add("tt0073537")  # seen before
/// False
/// >>> "tt0073537" in seen, b"tt0073604" in seen
/// (True, False)
///
/// Many keys at once are several times faster: lists, numpy arrays, Arrow arrays, columns of pandas and polars.
///
/// >>> seen.update(["tt0073604", "tt0073706", None])  # a null is no key
/// 2
/// >>> seen.contains(["tt0073706", "tt0075035", None]).tolist()
/// [True, False, False]
#[pyclass(frozen, module = "umbel")]
pub struct Bloom {
    want: Want,
    inner: Shared<umbel::Bloom>,
}

impl Bloom {
    pub fn new(filter: umbel::Bloom) -> Bloom {
        Bloom { want: filter.params().key_type().into(), inner: Shared::new(filter) }
    }

    /// A copy of the core's.
    pub fn get(&self, py: Python<'_>) -> umbel::Bloom {
        self.inner.read(py, Clone::clone)
    }

    #[inline]
    fn key<'a>(&self, object: &'a Bound<'_, PyAny>) -> PyResult<Key<'a>> {
        Key::of(object, self.want == Want::Integers)
    }
}

#[pymethods]
impl Bloom {
    #[new]
    #[pyo3(signature = (n, p=None, *, integers=false, layout=None, k=None, m=None, hash="xxh3", seeds=None, seed=0))]
    #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
    fn create(
        py: Python<'_>,
        n: u64,
        p: Option<f64>,
        integers: bool,
        layout: Option<&str>,
        k: Option<u32>,
        m: Option<u64>,
        hash: &str,
        seeds: Option<Vec<u32>>,
        seed: u64,
    ) -> PyResult<Bloom> {
        let (layout, family) = (named_layout(layout)?, named_family(hash)?);
        let plan = Plan { n: Some(n), p, k, m, layout, family, seeds, seed, integers };
        py.detach(|| umbel::Bloom::with(plan.params(n)?)).map(Bloom::new).or_raise()
    }

    /// Adds a key; says whether it was certainly new.
    fn add(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let key = self.key(key)?;
        Ok(self.inner.touch(py, |filter| match key {
            Key::Bytes(key) => filter.insert(key),
            Key::Word(key) => filter.insert_u64(key),
        }))
    }

    /// Adds many keys: a list or another iterable, a numpy or Arrow array, a column of pandas or polars. Returns their number; nulls are no keys.
    fn update(&self, py: Python<'_>, keys: &Bound<'_, PyAny>) -> PyResult<u64> {
        let mut added = 0;
        let change = self.inner.change(py);
        let inner = change.writers();
        Column::of(keys)?.each(py, self.want, |chunk| {
            added += chunk.len() as u64;
            inner.lock().insert_batch(chunk.keys())
        })?;
        Ok(added)
    }

    /// Whether a key may have been added; False is certain.
    fn __contains__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let key = self.key(key)?;
        Ok(self.inner.glance(py, |filter| match key {
            Key::Bytes(key) => filter.contains(key),
            Key::Word(key) => filter.contains_u64(key),
        }))
    }

    /// Looks up many keys: a numpy array of bool, or a list where there is no numpy. The answer for a null is False.
    fn contains<'py>(
        &self,
        py: Python<'py>,
        keys: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut answers = Vec::new();
        Column::of(keys)?.each(py, self.want, |chunk| {
            let filter = self.inner.reader();
            chunk.answer(&mut answers, |answers| filter.contains_batch(chunk.keys(), answers))
        })?;
        answers::bools(py, &answers)
    }

    /// Takes in all keys of another filter with the same parameters: afterwards the bits are the same as if every key had been added here.
    /// Warns when the filter then holds more keys than it was sized for.
    fn merge(&self, py: Python<'_>, other: &Bloom) -> PyResult<()> {
        let overfull = self.inner.write_with(py, &other.inner, |ours, theirs| ours.merge(theirs));
        warn(py, overfull.or_raise()?)
    }

    fn __ior__(&self, py: Python<'_>, other: &Bloom) -> PyResult<()> {
        self.merge(py, other)
    }

    fn __or__(&self, py: Python<'_>, other: &Bloom) -> PyResult<Bloom> {
        let both = self.copy(py);
        both.merge(py, other)?;
        Ok(both)
    }

    /// Keeps what both have. Every key that was added to both is still found.
    fn intersect(&self, py: Python<'_>, other: &Bloom) -> PyResult<()> {
        let intersect = |ours: &mut umbel::Bloom, theirs: &umbel::Bloom| ours.intersect(theirs);
        self.inner.write_with(py, &other.inner, intersect).or_raise()
    }

    fn __iand__(&self, py: Python<'_>, other: &Bloom) -> PyResult<()> {
        self.intersect(py, other)
    }

    fn __and__(&self, py: Python<'_>, other: &Bloom) -> PyResult<Bloom> {
        let both = self.copy(py);
        both.intersect(py, other)?;
        Ok(both)
    }

    /// Whether every key of another filter may be here too; False is certain.
    fn may_contain_all(&self, py: Python<'_>, other: &Bloom) -> PyResult<bool> {
        let covers = |ours: &umbel::Bloom, theirs: &umbel::Bloom| ours.may_contain_all(theirs);
        self.inner.read_with(py, &other.inner, covers).or_raise()
    }

    /// A filter of its own with the same content.
    fn copy(&self, py: Python<'_>) -> Bloom {
        Bloom::new(self.inner.read(py, Clone::clone))
    }

    /// A filter of its own with the same parameters and metadata, and no keys: one to be filled apart and merged.
    fn empty(&self, py: Python<'_>) -> PyResult<Bloom> {
        let empty = |filter: &umbel::Bloom| {
            let mut empty = umbel::Bloom::with(filter.params().clone())?;
            *empty.metadata_mut() = filter.metadata().clone();
            Ok(empty)
        };
        self.inner.read(py, empty).map(Bloom::new).or_raise()
    }

    fn __copy__(&self, py: Python<'_>) -> Bloom {
        self.copy(py)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> Bloom {
        self.copy(py)
    }

    /// Equal parameters and equal bits; metadata and the number of insert calls do not count.
    fn __eq__(&self, py: Python<'_>, other: &Bloom) -> bool {
        self.inner.read_with(py, &other.inner, |ours, theirs| ours == theirs)
    }

    /// The size: layout, bits, probes, capacity.
    #[getter]
    fn sizing(&self, py: Python<'_>) -> Sizing {
        Sizing(self.inner.glance(py, |filter| filter.sizing()))
    }

    /// Whether the keys are integers.
    #[getter]
    fn integers(&self) -> bool {
        self.want == Want::Integers
    }

    /// The number of keys added, also those that were there already; None when it is unknown, after an intersection.
    #[getter]
    fn inserted(&self, py: Python<'_>) -> Option<u64> {
        self.inner.glance(py, |filter| filter.inserted())
    }

    /// About how many different keys the filter holds, from its fill.
    fn estimated_len(&self, py: Python<'_>) -> f64 {
        self.inner.read(py, umbel::Bloom::estimated_len)
    }

    /// The share of bits that are set.
    fn fill(&self, py: Python<'_>) -> f64 {
        self.inner.read(py, umbel::Bloom::fill)
    }

    /// The rate of false positives to expect now, from the bits themselves.
    fn expected_rate_now(&self, py: Python<'_>) -> f64 {
        self.inner.read(py, umbel::Bloom::expected_rate_now)
    }

    /// What there is to say when the filter holds more keys than it was sized for; None when it does not.
    fn overfull(&self, py: Python<'_>) -> Option<String> {
        self.inner.read(py, umbel::Bloom::overfull).map(|warning| warning.to_string())
    }

    /// A copy of the text pairs that travel with the filter; assign a dict to change them.
    #[getter]
    fn metadata(&self, py: Python<'_>) -> BTreeMap<String, String> {
        self.inner.glance(py, |filter| metadata::to_map(filter.metadata()))
    }

    #[setter]
    fn set_metadata(&self, py: Python<'_>, pairs: BTreeMap<String, String>) {
        self.inner.touch(py, |filter| *filter.metadata_mut() = metadata::from_map(pairs));
    }

    /// Writes the filter to a file: complete or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.inner.read(py, |filter| filter.save(path)).or_raise()
    }

    /// Opens a filter by mapping its file. Every byte is verified, unless verify is False; the file is never changed.
    #[staticmethod]
    #[pyo3(signature = (path, *, verify=true))]
    fn open(py: Python<'_>, path: PathBuf, verify: bool) -> PyResult<Bloom> {
        file::open_as(py, path, verify, umbel::Bloom::open, umbel::Bloom::open_unverified)
            .map(Bloom::new)
    }

    /// The bytes that save would write.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.inner.read(py, umbel::Bloom::to_bytes).or_raise()?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The filter in the bytes of a file.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: PyBackedBytes) -> PyResult<Bloom> {
        py.detach(|| umbel::Bloom::from_bytes(&data)).map(Bloom::new).or_raise()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<file::Reduced<'py>> {
        file::reduced(py, self.to_bytes(py)?)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        self.inner.glance(py, |filter| {
            let size = filter.sizing();
            format!(
                "<umbel.Bloom for {} keys of {}, {} layout, {} bytes>",
                size.capacity(),
                if self.want == Want::Integers { "int" } else { "bytes" },
                size.layout(),
                size.bytes()
            )
        })
    }
}

/// Says that a filter holds more keys than it was sized for.
pub fn warn(py: Python<'_>, overfull: Option<impl Display>) -> PyResult<()> {
    let Some(overfull) = overfull else { return Ok(()) };
    let text = std::ffi::CString::new(overfull.to_string())?;
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 1)
}
