//! What is near.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use umbel::near::{Builder, Grid, Number, Values};

use crate::bloom::warn;
use crate::column::{Cells, Column, Want, number};
use crate::error::OrRaise;
use crate::shared::Shared;
use crate::{answers, file, metadata};

/// "Is a stored number within alpha of x?", from a few bits a number.
///
/// Near.build takes all numbers at once and makes the smallest structure; Near.growing takes them one by one, and merges. Numbers are rounded to multiples of
/// beta: a number within alpha of a stored one is always found; one that has none within alpha + beta is found with a probability of at most p.
///
/// >>> from umbel import Near
/// >>> near = Near.build([12.0, 42.0], alpha=5.0, beta=1.0, p=0.01)
/// >>> 14.0 in near, 22.1 in near
/// (True, False)
/// >>> near.contains([37.0, 30.0, None]).tolist()
/// [True, False, False]
/// >>> near.structure
/// 'exact list'
/// >>> near.nearest(14.0)
/// (12.0, 2.0)
#[pyclass(frozen, module = "umbel")]
pub struct Near {
    inner: Shared<umbel::Near>,
}

impl Near {
    pub fn new(near: umbel::Near) -> Near {
        Near { inner: Shared::new(near) }
    }
}

#[pymethods]
impl Near {
    /// The smallest structure for numbers that are all there: a list or another iterable, a numpy or Arrow array, a column of pandas or polars. Nulls are
    /// left out.
    #[staticmethod]
    #[pyo3(signature = (values, alpha, beta, p=0.01, *, integers=false, seed=0))]
    fn build(
        py: Python<'_>,
        values: &Bound<'_, PyAny>,
        alpha: f64,
        beta: f64,
        p: f64,
        integers: bool,
        seed: u64,
    ) -> PyResult<Near> {
        let mut builder = Builder::new(grid(alpha, beta, integers)?).with_seed(seed);
        Column::of(values)?.each(py, Want::Numbers, |chunk| match chunk.cells {
            Cells::Floats(values) => builder.extend(values.iter().copied()),
            Cells::Words(values) => builder.extend(signed(values).iter().copied()),
            Cells::Numbers(values) => builder.extend(values.iter().copied()),
            Cells::Bytes(_) | Cells::Items(_) => Ok(()),
        })?;
        py.detach(|| builder.build(p)).map(Near::new).or_raise()
    }

    /// An empty filter that takes numbers, sized for n of them.
    #[staticmethod]
    #[pyo3(signature = (n, alpha, beta, p=0.01, *, integers=false))]
    fn growing(
        py: Python<'_>,
        n: u64,
        alpha: f64,
        beta: f64,
        p: f64,
        integers: bool,
    ) -> PyResult<Near> {
        let grid = grid(alpha, beta, integers)?;
        py.detach(|| umbel::Near::growing(grid, n, p)).map(Near::new).or_raise()
    }

    /// Whether a stored number may be within alpha; False is certain.
    fn __contains__(&self, x: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (py, x) = (x.py(), number(x)?);
        self.inner.glance(py, |near| near.contains(x)).or_raise()
    }

    /// Whether a stored number may be within a distance of at most the alpha it was built for.
    fn contains_within(&self, x: &Bound<'_, PyAny>, alpha: f64) -> PyResult<bool> {
        let (py, x) = (x.py(), number(x)?);
        self.inner.glance(py, |near| near.contains_within(x, alpha)).or_raise()
    }

    /// Answers many questions: a numpy array of bool, or a list where there is no numpy. The answer for a null is False. alpha may be smaller than the one it was
    /// built for.
    #[pyo3(signature = (xs, alpha=None))]
    fn contains<'py>(
        &self,
        py: Python<'py>,
        xs: &Bound<'py, PyAny>,
        alpha: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut answers = Vec::new();
        Column::of(xs)?.each(py, Want::Numbers, |chunk| {
            let near = self.inner.reader();
            let alpha = alpha.unwrap_or_else(|| near.params().grid().alpha());
            chunk.answer(&mut answers, |answers| match chunk.cells {
                Cells::Floats(xs) => near.contains_batch_within(xs, alpha, answers),
                Cells::Words(xs) => near.contains_batch_within(signed(xs), alpha, answers),
                Cells::Numbers(xs) => near.contains_batch_within(xs, alpha, answers),
                Cells::Bytes(_) | Cells::Items(_) => Ok(()),
            })
        })?;
        answers::bools(py, &answers)
    }

    /// Adds a number to a growing filter; says whether it was certainly new.
    fn add(&self, y: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (py, y) = (y.py(), number(y)?);
        self.inner.touch(py, |near| near.insert(y)).or_raise()
    }

    /// Adds many numbers to a growing filter. Returns how many; nulls are no numbers.
    fn update(&self, py: Python<'_>, values: &Bound<'_, PyAny>) -> PyResult<u64> {
        let mut added = 0;
        let change = self.inner.change(py);
        let inner = change.writers();
        Column::of(values)?.each(py, Want::Numbers, |chunk| {
            let mut near = inner.lock();
            added += chunk.len() as u64;
            let mut insert = |y: Number| near.insert(y).map(drop);
            match chunk.cells {
                Cells::Floats(values) => values.iter().try_for_each(|&y| insert(y.into())),
                Cells::Words(values) => signed(values).iter().try_for_each(|&y| insert(y.into())),
                Cells::Numbers(values) => values.iter().try_for_each(|&y| insert(y)),
                Cells::Bytes(_) | Cells::Items(_) => Ok(()),
            }
        })?;
        Ok(added)
    }

    /// The stored number nearest to x, known to within half of beta, and its distance: a pair; None if nothing is stored. Only an exact list knows it.
    fn nearest<'py>(&self, x: &Bound<'py, PyAny>) -> PyResult<Option<(Bound<'py, PyAny>, f64)>> {
        let (py, x) = (x.py(), number(x)?);
        let nearest = self.inner.glance(py, |near| near.nearest(x)).or_raise()?;
        nearest
            .map(|nearest| {
                let value = match nearest.value {
                    Number::Float(value) => value.into_pyobject(py)?.into_any(),
                    Number::Integer(value) => value.into_pyobject(py)?.into_any(),
                };
                Ok((value, nearest.distance))
            })
            .transpose()
    }

    /// Takes in all numbers of another growing filter with the same parameters. Warns when it then holds more than it was sized for.
    fn merge(&self, py: Python<'_>, other: &Near) -> PyResult<()> {
        let overfull = self.inner.write_with(py, &other.inner, |ours, theirs| ours.merge(theirs));
        warn(py, overfull.or_raise()?)
    }

    fn __ior__(&self, py: Python<'_>, other: &Near) -> PyResult<()> {
        self.merge(py, other)
    }

    fn __or__(&self, py: Python<'_>, other: &Near) -> PyResult<Near> {
        let both = self.copy(py);
        both.merge(py, other)?;
        Ok(both)
    }

    /// How the numbers are kept.
    #[getter]
    fn structure(&self, py: Python<'_>) -> String {
        self.inner.glance(py, |near| near.structure().to_string())
    }

    /// Why they are kept in this way.
    fn why(&self, py: Python<'_>) -> String {
        self.inner.glance(py, umbel::Near::why)
    }

    /// The distance that is asked for.
    #[getter]
    fn alpha(&self, py: Python<'_>) -> f64 {
        self.inner.glance(py, |near| near.params().grid().alpha())
    }

    /// What numbers are rounded to.
    #[getter]
    fn beta(&self, py: Python<'_>) -> f64 {
        self.inner.glance(py, |near| near.params().grid().beta())
    }

    /// Whether the numbers are integers.
    #[getter]
    fn integers(&self, py: Python<'_>) -> bool {
        self.inner.glance(py, |near| near.params().grid().values() == Values::Integers)
    }

    /// The number of values it was given.
    #[getter]
    fn inserted(&self, py: Python<'_>) -> u64 {
        self.inner.glance(py, |near| near.inserted())
    }

    /// Bits of memory the answers come from.
    #[getter]
    fn bits(&self, py: Python<'_>) -> u64 {
        self.inner.glance(py, |near| near.bits())
    }

    /// The rate of false positives of a question, at most.
    fn expected_rate_now(&self, py: Python<'_>) -> f64 {
        self.inner.read(py, umbel::Near::expected_rate_now)
    }

    /// A structure of its own with the same content.
    fn copy(&self, py: Python<'_>) -> Near {
        Near::new(self.inner.read(py, Clone::clone))
    }

    fn __copy__(&self, py: Python<'_>) -> Near {
        self.copy(py)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> Near {
        self.copy(py)
    }

    /// Equal parameters and equal bits; metadata and the number of calls do not count.
    fn __eq__(&self, py: Python<'_>, other: &Near) -> bool {
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
    fn open(py: Python<'_>, path: PathBuf, verify: bool) -> PyResult<Near> {
        file::open_as(py, path, verify, umbel::Near::open, umbel::Near::open_unverified)
            .map(Near::new)
    }

    /// The bytes that save would write.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.inner.read(py, umbel::Near::to_bytes).or_raise()?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// What the bytes of a file hold.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: PyBackedBytes) -> PyResult<Near> {
        py.detach(|| umbel::Near::from_bytes(&data)).map(Near::new).or_raise()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<file::Reduced<'py>> {
        file::reduced(py, self.to_bytes(py)?)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        self.inner.glance(py, |near| {
            let grid = near.params().grid();
            format!(
                "<umbel.Near within {} of {} values, {}>",
                grid.alpha(),
                near.inserted(),
                near.structure()
            )
        })
    }
}

fn grid(alpha: f64, beta: f64, integers: bool) -> PyResult<Grid> {
    if !integers {
        return Grid::floats(alpha, beta).or_raise();
    }
    // What is no whole number is refused by its own name.
    let whole = |x: f64| x.fract() == 0.0 && (0.0..=9007199254740992.0).contains(&x);
    if whole(alpha) && whole(beta) {
        return Grid::integers(alpha as u64, beta as u64).or_raise();
    }
    Err(pyo3::exceptions::PyValueError::new_err(format!(
        "alpha and beta are whole numbers from 0 to 2^53 for integers, not {alpha} and {beta}"
    )))
}

fn signed(words: &[u64]) -> &[i64] {
    bytemuck::cast_slice(words)
}
