//! Counts of any sort: a sketch, heavy hitters, or both from one stream.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::column::{Column, Want, Weights};
use crate::conservative::Conservative;
use crate::countmin::CountMin;
use crate::error::OrRaise;
use crate::heavy::Heavy;
use crate::key::Key;
use crate::ranges::Ranges;
use crate::shared::Shared;
use crate::{answers, file, metadata};

/// A sketch and heavy hitters of one stream, as the command writes them with --heavy.
///
/// Counts(sketch, heavy) takes copies of a CountMin, Conservative or Ranges, and of a Heavy; both are new, or counted the same stream.
///
/// >>> from umbel import CountMin, Counts, Heavy
/// >>> hits = Counts(CountMin(), Heavy(100))
/// >>> hits.update(["/", "/", "/about"])
/// 3
/// >>> hits.estimate("/"), hits.heavy.top(1)[0].key
/// (2, b'/')
#[pyclass(frozen, module = "umbel")]
pub struct Counts {
    want: Want,
    inner: Shared<umbel::Counts>,
}

impl Counts {
    pub fn new(counts: umbel::Counts) -> Counts {
        Counts { want: counts.key_type().into(), inner: Shared::new(counts) }
    }

    /// A copy of the core's.
    pub fn get(&self, py: Python<'_>) -> umbel::Counts {
        self.inner.read(py, Clone::clone)
    }
}

#[pymethods]
impl Counts {
    #[new]
    #[pyo3(signature = (sketch, heavy=None))]
    fn create(
        py: Python<'_>,
        sketch: &Bound<'_, PyAny>,
        heavy: Option<&Heavy>,
    ) -> PyResult<Counts> {
        let counts = if let Ok(sketch) = sketch.cast::<CountMin>() {
            sketch.get().get(py).into()
        } else if let Ok(sketch) = sketch.cast::<Conservative>() {
            sketch.get().get(py).into()
        } else if let Ok(ranges) = sketch.cast::<Ranges>() {
            ranges.get().get(py).into()
        } else if let Ok(heavy) = sketch.cast::<Heavy>() {
            heavy.get().get(py).into()
        } else {
            return Err(PyTypeError::new_err("a sketch is a CountMin, Conservative or Ranges"));
        };
        let heavy = heavy.map(|heavy| heavy.get(py));
        let both = |counts: umbel::Counts| match heavy {
            Some(heavy) => counts.with_heavy(heavy),
            None => Ok(counts),
        };
        both(counts).map(Counts::new).or_raise()
    }

    /// Adds a key with a weight.
    #[pyo3(signature = (key, weight=1))]
    fn add(&self, py: Python<'_>, key: &Bound<'_, PyAny>, weight: u64) -> PyResult<()> {
        let key = Key::of(key, self.integers())?;
        let add = |counts: &mut umbel::Counts| match key {
            Key::Bytes(key) => counts.add(key, weight),
            Key::Word(key) => counts.add(&key.to_le_bytes(), weight),
        };
        self.inner.touch(py, add).or_raise()
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
            chunk.with_bytes(|keys| match weights {
                Some(weights) => inner.lock().add_weighted(keys, weights),
                None => inner.lock().add_batch(keys),
            })
        })?;
        weights.end()?;
        Ok(added)
    }

    /// What a key came to: never less.
    fn estimate(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<u64> {
        let key = Key::of(key, self.integers())?;
        let estimate = |counts: &umbel::Counts| match key {
            Key::Bytes(key) => counts.estimate(key),
            Key::Word(key) => counts.estimate(&key.to_le_bytes()),
        };
        self.inner.glance(py, estimate).or_raise()
    }

    /// What each of many keys came to: a numpy array of uint64, or a list where there is no numpy. A null came to 0.
    fn estimate_batch<'py>(
        &self,
        py: Python<'py>,
        keys: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut estimates = Vec::new();
        Column::of(keys)?.each(py, self.want, |chunk| {
            let counts = self.inner.reader();
            chunk.answer(&mut estimates, |some| {
                chunk.with_bytes(|keys| counts.estimate_batch(keys, some))
            })
        })?;
        answers::counts(py, &estimates)
    }

    /// Takes in all that others of the same sort and parameters counted.
    fn merge(&self, py: Python<'_>, other: &Counts) -> PyResult<()> {
        self.inner.write_with(py, &other.inner, |ours, theirs| ours.merge(theirs)).or_raise()
    }

    /// A copy of the heavy hitters, if they are kept.
    #[getter]
    fn heavy(&self, py: Python<'_>) -> Option<Heavy> {
        self.inner.read(py, |counts| counts.heavy().cloned()).map(Heavy::new)
    }

    /// A copy of the sketch, if there is one.
    #[getter]
    fn sketch<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        use umbel::Sketch;
        let sketch = self.inner.read(py, |counts| counts.sketch().cloned());
        sketch
            .map(|sketch| match sketch {
                Sketch::Plain(sketch) => file::object(py, CountMin::new(sketch)),
                Sketch::Conservative(sketch) => file::object(py, Conservative::new(sketch)),
                Sketch::Ranges(ranges) => file::object(py, Ranges::new(ranges)),
            })
            .transpose()
    }

    /// Whether the keys are integers.
    #[getter]
    fn integers(&self) -> bool {
        self.want == Want::Integers
    }

    /// The sum of all weights, 2**64 - 1 at most.
    #[getter]
    fn total(&self, py: Python<'_>) -> u64 {
        self.inner.glance(py, |counts| counts.total())
    }

    /// The number of keys added, also those that came before.
    #[getter]
    fn inserted(&self, py: Python<'_>) -> u64 {
        self.inner.glance(py, |counts| counts.inserted())
    }

    /// How much too high an estimate may be.
    #[getter]
    fn bound(&self, py: Python<'_>) -> u64 {
        self.inner.glance(py, |counts| counts.bound())
    }

    /// Counts of their own with the same content.
    fn copy(&self, py: Python<'_>) -> Counts {
        Counts::new(self.inner.read(py, Clone::clone))
    }

    /// Equal parameters and content; metadata and the number of calls do not count.
    fn __eq__(&self, py: Python<'_>, other: &Counts) -> bool {
        self.inner.read_with(py, &other.inner, |ours, theirs| ours == theirs)
    }

    fn __copy__(&self, py: Python<'_>) -> Counts {
        self.copy(py)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> Counts {
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
    fn open(py: Python<'_>, path: PathBuf, verify: bool) -> PyResult<Counts> {
        file::open_as(py, path, verify, umbel::Counts::open, umbel::Counts::open_unverified)
            .map(Counts::new)
    }

    /// The bytes that save would write.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.inner.read(py, umbel::Counts::to_bytes).or_raise()?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// What the bytes of a file hold.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: PyBackedBytes) -> PyResult<Counts> {
        py.detach(|| umbel::Counts::from_bytes(&data)).map(Counts::new).or_raise()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<file::Reduced<'py>> {
        file::reduced(py, self.to_bytes(py)?)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        self.inner.glance(py, |counts| {
            format!("<umbel.Counts: {}, total {}>", counts.kind(), counts.total())
        })
    }
}
