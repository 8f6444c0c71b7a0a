//! What is similar.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use umbel::similar::{Params, Promise, Space};

use crate::bloom::warn;
use crate::column::items;
use crate::error::OrRaise;
use crate::shared::Shared;
use crate::{answers, file, metadata};

/// "Is a stored item close to this one?", for texts, sets, vectors and bit strings, from some hundred bits an item.
///
/// You name two distances, and how often it may be wrong. Something stored within the close distance is found, but for a share false_negatives; where all that is
/// stored lies at the far distance or beyond, the answer is no, but for a share false_positives. Between, either answer. Equal items are always found.
///
/// | made by | items | distance |
/// |---|---|---|
/// | texts | str or bytes, as sets of shingles of so many words | 1 - common / all |
/// | sets | iterables of str or bytes | 1 - common / all |
/// | cosine | lists of numbers or arrays, not all 0 | 1 - cos of the angle |
/// | euclid | lists of numbers or arrays | length of the difference |
/// | hamming | bytes, eight bits in each, the first one highest, as numpy.packbits has them | share of bits that differ |
///
/// >>> from umbel import Similar
/// >>> seen = Similar.texts(1000, close=0.2, far=0.95, shingle=2)
/// >>> seen.add("An umbel is a flower head of many blooms on one stem, and blooms in early June.")
/// >>> "an umbel is a flower head of many blooms on one stem - and blooms in early June!" in seen
/// True
/// >>> "Grass has no umbels; its flowers stand in spikes or panicles." in seen
/// False
/// >>> points = Similar.euclid(1000, 3, close=1.0, far=100.0)
/// >>> points.update([[0.0, 0.0, 0.0], [900.0, 0.0, 0.0], None])
/// 2
/// >>> points.contains([[0.1, 0.0, 0.0], [400.0, 0.0, 0.0], None]).tolist()
/// [True, False, False]
#[pyclass(frozen, module = "umbel")]
pub struct Similar {
    space: Space,
    inner: Shared<umbel::Similar>,
}

/// What is asked for, beside the space.
struct Asked {
    n: u64,
    promise: Promise,
    seed: u64,
    force: bool,
}

impl Similar {
    pub fn new(filter: umbel::Similar) -> Similar {
        Similar { space: filter.params().space(), inner: Shared::new(filter) }
    }

    fn create(py: Python<'_>, space: Space, asked: &Asked) -> PyResult<Similar> {
        let size = if asked.force { Params::at_any_cost } else { Params::new };
        py.detach(|| {
            umbel::Similar::new(size(space, asked.n, &asked.promise)?.with_seed(asked.seed))
        })
        .map(Similar::new)
        .or_raise()
    }
}

#[pymethods]
impl Similar {
    /// An empty filter for n texts. Words are runs of ASCII letters, digits and whatever is not ASCII; shingle of them in a row are compared.
    #[staticmethod]
    #[pyo3(signature = (n, close, far, *, shingle=5, false_positives=0.01, false_negatives=0.01, seed=0))]
    #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
    fn texts(
        py: Python<'_>,
        n: u64,
        close: f64,
        far: f64,
        shingle: u32,
        false_positives: f64,
        false_negatives: f64,
        seed: u64,
    ) -> PyResult<Similar> {
        let promise = Promise { close, far, false_positives, false_negatives };
        Similar::create(py, Space::Texts { shingle }, &Asked { n, promise, seed, force: false })
    }

    /// An empty filter for n sets of tokens.
    #[staticmethod]
    #[pyo3(signature = (n, close, far, *, false_positives=0.01, false_negatives=0.01, seed=0))]
    fn sets(
        py: Python<'_>,
        n: u64,
        close: f64,
        far: f64,
        false_positives: f64,
        false_negatives: f64,
        seed: u64,
    ) -> PyResult<Similar> {
        let promise = Promise { close, far, false_positives, false_negatives };
        Similar::create(py, Space::Sets, &Asked { n, promise, seed, force: false })
    }

    /// An empty filter for n vectors, compared by their angle. Refused where the vectors themselves would take less, unless force is True.
    #[staticmethod]
    #[pyo3(signature = (n, dimension, close, far, *, false_positives=0.01, false_negatives=0.01, seed=0, force=false))]
    #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
    fn cosine(
        py: Python<'_>,
        n: u64,
        dimension: u32,
        close: f64,
        far: f64,
        false_positives: f64,
        false_negatives: f64,
        seed: u64,
        force: bool,
    ) -> PyResult<Similar> {
        let promise = Promise { close, far, false_positives, false_negatives };
        Similar::create(py, Space::Cosine { dimension }, &Asked { n, promise, seed, force })
    }

    /// An empty filter for n vectors, compared by the length of their difference. Refused where the vectors themselves would take less, unless force is True.
    #[staticmethod]
    #[pyo3(signature = (n, dimension, close, far, *, false_positives=0.01, false_negatives=0.01, seed=0, force=false))]
    #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
    fn euclid(
        py: Python<'_>,
        n: u64,
        dimension: u32,
        close: f64,
        far: f64,
        false_positives: f64,
        false_negatives: f64,
        seed: u64,
        force: bool,
    ) -> PyResult<Similar> {
        let promise = Promise { close, far, false_positives, false_negatives };
        Similar::create(py, Space::Euclid { dimension }, &Asked { n, promise, seed, force })
    }

    /// An empty filter for n strings of so many bits. Refused where the strings themselves would take less, unless force is True.
    #[staticmethod]
    #[pyo3(signature = (n, bits, close, far, *, false_positives=0.01, false_negatives=0.01, seed=0, force=false))]
    #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
    fn hamming(
        py: Python<'_>,
        n: u64,
        bits: u32,
        close: f64,
        far: f64,
        false_positives: f64,
        false_negatives: f64,
        seed: u64,
        force: bool,
    ) -> PyResult<Similar> {
        let promise = Promise { close, far, false_positives, false_negatives };
        Similar::create(py, Space::Hamming { bits }, &Asked { n, promise, seed, force })
    }

    /// Whether a stored item may be close.
    fn __contains__(&self, item: &Bound<'_, PyAny>) -> PyResult<bool> {
        items::one(item, self.space, |item| self.inner.reader().contains(item))
    }

    /// Answers many questions: a numpy array of bool, or a list where there is no numpy. The answer for a null is False. Vectors may come in a numpy array of two
    /// dimensions.
    fn contains<'py>(
        &self,
        py: Python<'py>,
        items: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut answers = Vec::new();
        items::each(items, self.space, |chunk| {
            let filter = self.inner.reader();
            chunk.answer(&mut answers, |answers| filter.contains_batch(chunk.items(), answers))
        })?;
        answers::bools(py, &answers)
    }

    /// Adds an item.
    fn add(&self, py: Python<'_>, item: &Bound<'_, PyAny>) -> PyResult<()> {
        let change = self.inner.change(py);
        let inner = change.writers();
        items::one(item, self.space, |item| inner.lock().insert(item))
    }

    /// Adds many items. Returns how many; nulls are no items.
    fn update(&self, py: Python<'_>, items: &Bound<'_, PyAny>) -> PyResult<u64> {
        let mut added = 0;
        let change = self.inner.change(py);
        let inner = change.writers();
        items::each(items, self.space, |chunk| {
            added += chunk.len() as u64;
            inner.lock().insert_batch(chunk.items())
        })?;
        Ok(added)
    }

    /// Takes in all items of another filter with the same parameters. Warns when it then holds more than it was sized for.
    fn merge(&self, py: Python<'_>, other: &Similar) -> PyResult<()> {
        let overfull = self.inner.write_with(py, &other.inner, |ours, theirs| ours.merge(theirs));
        warn(py, overfull.or_raise()?)
    }

    fn __ior__(&self, py: Python<'_>, other: &Similar) -> PyResult<()> {
        self.merge(py, other)
    }

    fn __or__(&self, py: Python<'_>, other: &Similar) -> PyResult<Similar> {
        let both = self.copy(py);
        both.merge(py, other)?;
        Ok(both)
    }

    /// The name of the distance: hamming, cosine, euclid or jaccard.
    #[getter]
    fn metric(&self) -> &'static str {
        self.space.metric()
    }

    /// What the items are.
    #[getter]
    fn items(&self) -> String {
        self.space.to_string()
    }

    /// The number of items up to which the rates hold.
    #[getter]
    fn capacity(&self, py: Python<'_>) -> u64 {
        self.inner.glance(py, |filter| filter.params().n())
    }

    /// Items up to this distance are close.
    #[getter]
    fn close(&self, py: Python<'_>) -> f64 {
        self.inner.glance(py, |filter| filter.params().close())
    }

    /// Items from this distance on are far.
    #[getter]
    fn far(&self, py: Python<'_>) -> f64 {
        self.inner.glance(py, |filter| filter.params().far())
    }

    /// The rate of false positives when it is full, at most.
    #[getter]
    fn false_positives(&self, py: Python<'_>) -> f64 {
        self.inner.glance(py, |filter| filter.params().false_positives())
    }

    /// The rate of false negatives, at most.
    #[getter]
    fn false_negatives(&self, py: Python<'_>) -> f64 {
        self.inner.glance(py, |filter| filter.params().false_negatives())
    }

    /// Bits of memory the answers come from.
    #[getter]
    fn bits(&self, py: Python<'_>) -> u64 {
        self.inner.glance(py, |filter| filter.params().bits())
    }

    /// The number of items it was given, equal ones too.
    #[getter]
    fn inserted(&self, py: Python<'_>) -> u64 {
        self.inner.glance(py, |filter| filter.inserted())
    }

    /// About how many items it holds that have nothing in common, from its fill.
    fn estimated_len(&self, py: Python<'_>) -> f64 {
        self.inner.read(py, umbel::Similar::estimated_len)
    }

    /// The share of bits that are set.
    fn fill(&self, py: Python<'_>) -> f64 {
        self.inner.read(py, umbel::Similar::fill)
    }

    /// The rate of false positives to expect now, at most.
    fn expected_rate_now(&self, py: Python<'_>) -> f64 {
        self.inner.read(py, umbel::Similar::expected_rate_now)
    }

    /// What there is to say when it holds more items than it was sized for; None when it does not.
    fn overfull(&self, py: Python<'_>) -> Option<String> {
        self.inner.read(py, umbel::Similar::overfull).map(|warning| warning.to_string())
    }

    /// A filter of its own with the same content.
    fn copy(&self, py: Python<'_>) -> Similar {
        Similar::new(self.inner.read(py, Clone::clone))
    }

    fn __copy__(&self, py: Python<'_>) -> Similar {
        self.copy(py)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> Similar {
        self.copy(py)
    }

    /// Equal parameters and equal bits; metadata and the number of calls do not count.
    fn __eq__(&self, py: Python<'_>, other: &Similar) -> bool {
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
    fn open(py: Python<'_>, path: PathBuf, verify: bool) -> PyResult<Similar> {
        file::open_as(py, path, verify, umbel::Similar::open, umbel::Similar::open_unverified)
            .map(Similar::new)
    }

    /// The bytes that save would write.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.inner.read(py, umbel::Similar::to_bytes).or_raise()?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// What the bytes of a file hold.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: PyBackedBytes) -> PyResult<Similar> {
        py.detach(|| umbel::Similar::from_bytes(&data)).map(Similar::new).or_raise()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<file::Reduced<'py>> {
        file::reduced(py, self.to_bytes(py)?)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        self.inner.glance(py, |filter| {
            let (params, given) = (filter.params(), filter.inserted());
            let (space, close, far) = (params.space(), params.close(), params.far());
            format!("<umbel.Similar {given} {space}, close {close}, far {far}>")
        })
    }
}
