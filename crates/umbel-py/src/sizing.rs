//! What a filter costs.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use umbel::Layout;
use umbel::hash::Family;
use umbel_io::Plan;

use crate::error::OrRaise;

/// The size of a filter: layout, bits, probes, and the number of keys it is meant for.
#[pyclass(frozen, eq, module = "umbel")]
#[derive(Clone, PartialEq)]
pub struct Sizing(pub umbel::Sizing);

#[pymethods]
impl Sizing {
    /// "blocked" (all bits of a key in one cache line) or "classic".
    #[getter]
    fn layout(&self) -> &'static str {
        self.0.layout().name()
    }

    /// m: the number of bits.
    #[getter]
    fn bits(&self) -> u64 {
        self.0.bits()
    }

    /// k: the number of probes a key.
    #[getter]
    fn probes(&self) -> u32 {
        self.0.probes()
    }

    /// n: the number of keys up to which the expected rate holds.
    #[getter]
    fn capacity(&self) -> u64 {
        self.0.capacity()
    }

    /// The memory the bits take.
    #[getter]
    fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    /// m / n.
    #[getter]
    fn bits_per_key(&self) -> f64 {
        self.0.bits_per_key()
    }

    /// The rate of false positives when the filter holds the keys it was sized for.
    #[getter]
    fn expected_rate(&self) -> f64 {
        self.0.expected_rate()
    }

    /// The rate of false positives to expect when the filter holds n different keys.
    fn rate_at(&self, n: u64) -> f64 {
        self.0.rate_at(n)
    }

    fn __repr__(&self) -> String {
        let size = &self.0;
        format!(
            "Sizing(layout='{}', bits={}, probes={}, capacity={}, expected_rate={:.3e})",
            size.layout(),
            size.bits(),
            size.probes(),
            size.capacity(),
            size.expected_rate()
        )
    }
}

/// What a filter for n keys at the rate p of false positives would cost.
///
/// >>> import umbel
/// >>> plan = umbel.size(1_000_000, 0.01)
/// >>> plan.layout, plan.probes, plan.bytes
/// ('blocked', 8, 1262464)
/// >>> umbel.size(355_416, 0.01, layout="classic").bits
/// 3406684
#[pyfunction]
#[pyo3(signature = (n, p=None, *, k=None, m=None, layout=None))]
pub fn size(
    n: u64,
    p: Option<f64>,
    k: Option<u32>,
    m: Option<u64>,
    layout: Option<&str>,
) -> PyResult<Sizing> {
    let plan = Plan { p, k, m, layout: named_layout(layout)?, ..Plan::default() };
    plan.params(n).map(|params| Sizing(params.sizing())).or_raise()
}

/// The layout of this name.
pub fn named_layout(name: Option<&str>) -> PyResult<Option<Layout>> {
    match name {
        None => Ok(None),
        Some("blocked") => Ok(Some(Layout::Blocked)),
        Some("classic") => Ok(Some(Layout::Classic)),
        Some(other) => Err(PyValueError::new_err(format!(
            "a layout is \"blocked\" or \"classic\", not {other:?}"
        ))),
    }
}

/// The hash family of this name; none is xxh3.
pub fn named_family(name: &str) -> PyResult<Option<Family>> {
    let families =
        [Family::Murmur2, Family::Murmur3, Family::PolynomialMod, Family::PolynomialWrap];
    if name == "xxh3" {
        return Ok(None);
    }
    families.into_iter().find(|family| family.name() == name).map(Some).ok_or_else(|| {
        let names = families.map(Family::name).join(", ");
        PyValueError::new_err(format!("a hash is one of xxh3, {names}, not {name:?}"))
    })
}
