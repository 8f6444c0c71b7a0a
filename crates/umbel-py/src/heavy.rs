//! The most frequent keys.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use umbel::KeyType;

use crate::column::{Column, Want, Weights};
use crate::error::OrRaise;
use crate::key::Key;
use crate::shared::Shared;
use crate::{file, metadata};

/// A key that is kept, with the bounds of what it came to.
#[pyclass(frozen, get_all, module = "umbel")]
pub struct HeavyKey {
    /// The key: bytes, or int where the keys are integers.
    key: Py<PyAny>,
    /// What it came to at most.
    count: u64,
    /// What it came to at least.
    least: u64,
    /// Whether it certainly belongs to what was asked for; otherwise it may.
    certain: bool,
}

impl HeavyKey {
    fn new(py: Python<'_>, found: &umbel::heavy::HeavyKey, integers: bool) -> PyResult<HeavyKey> {
        let word = <[u8; 8]>::try_from(&*found.key).ok().filter(|_| integers);
        let key = match word {
            Some(word) => u64::from_le_bytes(word).into_pyobject(py)?.into_any().unbind(),
            None => PyBytes::new(py, &found.key).into_any().unbind(),
        };
        Ok(HeavyKey { key, count: found.count, least: found.least, certain: found.certain })
    }
}

#[pymethods]
impl HeavyKey {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let certain = if self.certain { "True" } else { "False" };
        let key = self.key.bind(py).repr()?;
        Ok(format!(
            "HeavyKey(key={key}, count={}, least={}, certain={certain})",
            self.count, self.least
        ))
    }
}

/// The keys that come most often, found in a fixed number of places.
///
/// Heavy(places): with N the total weight, every key above N / places is kept; a count is never too low, and too high by at most that much.
///
/// >>> from umbel import Heavy
/// >>> pages = Heavy(100)
/// >>> pages.update(["/", "/", "/about", "/"])
/// 4
/// >>> pages.top(1)
/// [HeavyKey(key=b'/', count=3, least=3, certain=True)]
#[pyclass(frozen, module = "umbel")]
pub struct Heavy {
    want: Want,
    inner: Shared<umbel::Heavy>,
}

impl Heavy {
    pub fn new(heavy: umbel::Heavy) -> Heavy {
        Heavy { want: heavy.key_type().into(), inner: Shared::new(heavy) }
    }

    /// A copy of the core's.
    pub fn get(&self, py: Python<'_>) -> umbel::Heavy {
        self.inner.read(py, Clone::clone)
    }

    fn keys_of(&self, py: Python<'_>, found: &[umbel::heavy::HeavyKey]) -> PyResult<Vec<HeavyKey>> {
        found.iter().map(|found| HeavyKey::new(py, found, self.integers())).collect()
    }
}

#[pymethods]
impl Heavy {
    #[new]
    #[pyo3(signature = (places, *, integers=false))]
    fn create(places: u32, integers: bool) -> PyResult<Heavy> {
        let key_type = if integers { KeyType::U64 } else { KeyType::Bytes };
        umbel::Heavy::new(places).map(|heavy| Heavy::new(heavy.with_key_type(key_type))).or_raise()
    }

    /// An empty summary that keeps every key above the share phi of the total weight.
    #[staticmethod]
    #[pyo3(signature = (phi, *, integers=false))]
    fn for_share(phi: f64, integers: bool) -> PyResult<Heavy> {
        let key_type = if integers { KeyType::U64 } else { KeyType::Bytes };
        umbel::Heavy::for_share(phi)
            .map(|heavy| Heavy::new(heavy.with_key_type(key_type)))
            .or_raise()
    }

    /// Adds a key with a weight.
    #[pyo3(signature = (key, weight=1))]
    fn add(&self, py: Python<'_>, key: &Bound<'_, PyAny>, weight: u64) -> PyResult<()> {
        let key = Key::of(key, self.integers())?;
        self.inner.touch(py, |heavy| match key {
            Key::Bytes(key) => heavy.add(key, weight),
            Key::Word(key) => heavy.add_u64(key, weight),
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
            let weights = weights.next(&chunk)?;
            let weight = |row: usize| weights.map_or(1, |weights| weights[row]);
            let mut heavy = inner.lock();
            chunk.with_bytes(|keys| {
                keys.iter().enumerate().for_each(|(row, key)| heavy.add(key, weight(row)));
            });
            Ok(())
        })?;
        weights.end()?;
        Ok(added)
    }

    /// The k keys with the highest counts, the highest first.
    fn top(&self, py: Python<'_>, k: usize) -> PyResult<Vec<HeavyKey>> {
        self.keys_of(py, &self.inner.read(py, |heavy| heavy.top(k)))
    }

    /// The keys that came to more than a share phi of the total weight, or may have, and whether they are all there: a pair.
    fn above(&self, py: Python<'_>, phi: f64) -> PyResult<(Vec<HeavyKey>, bool)> {
        let above = self.inner.read(py, |heavy| heavy.above(phi)).or_raise()?;
        Ok((self.keys_of(py, &above.keys)?, above.complete))
    }

    /// What a key came to at least and at most.
    fn bounds(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<(u64, u64)> {
        let key = Key::of(key, self.integers())?;
        Ok(self.inner.glance(py, |heavy| match key {
            Key::Bytes(key) => heavy.bounds(key),
            Key::Word(key) => heavy.bounds(&key.to_le_bytes()),
        }))
    }

    /// Takes in all that another with as many places counted. The bounds stay.
    fn merge(&self, py: Python<'_>, other: &Heavy) -> PyResult<()> {
        self.inner.write_with(py, &other.inner, |ours, theirs| ours.merge(theirs)).or_raise()
    }

    /// The number of places.
    #[getter]
    fn places(&self, py: Python<'_>) -> u32 {
        self.inner.glance(py, |heavy| heavy.places())
    }

    /// Whether the keys are integers.
    #[getter]
    fn integers(&self) -> bool {
        self.want == Want::Integers
    }

    /// The sum of all weights, 2**64 - 1 at most.
    #[getter]
    fn total(&self, py: Python<'_>) -> u64 {
        self.inner.glance(py, |heavy| heavy.total())
    }

    /// The number of keys added, also those that came before.
    #[getter]
    fn inserted(&self, py: Python<'_>) -> u64 {
        self.inner.glance(py, |heavy| heavy.inserted())
    }

    /// N / places: a count is too high by at most this, and a key that is not kept has come to at most this.
    #[getter]
    fn bound(&self, py: Python<'_>) -> u64 {
        self.inner.glance(py, |heavy| heavy.bound())
    }

    /// A summary of its own with the same content.
    fn copy(&self, py: Python<'_>) -> Heavy {
        Heavy::new(self.inner.read(py, Clone::clone))
    }

    /// Equal parameters and content; metadata and the number of calls do not count.
    fn __eq__(&self, py: Python<'_>, other: &Heavy) -> bool {
        self.inner.read_with(py, &other.inner, |ours, theirs| ours == theirs)
    }

    fn __copy__(&self, py: Python<'_>) -> Heavy {
        self.copy(py)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> Heavy {
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

    /// Opens a file, every byte verified.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Heavy> {
        py.detach(|| umbel::Heavy::open(path)).map(Heavy::new).or_raise()
    }

    /// The bytes that save would write.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.inner.read(py, umbel::Heavy::to_bytes).or_raise()?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// What the bytes of a file hold.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: PyBackedBytes) -> PyResult<Heavy> {
        py.detach(|| umbel::Heavy::from_bytes(&data)).map(Heavy::new).or_raise()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<file::Reduced<'py>> {
        file::reduced(py, self.to_bytes(py)?)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        self.inner.glance(py, |heavy| {
            format!("<umbel.Heavy of {} places, total {}>", heavy.places(), heavy.total())
        })
    }
}
