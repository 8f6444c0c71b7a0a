//! What of a Spark query is in the sketch of a state, for `umbel.spark.stream`. The package does not show it.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

/// The positions of a state: how far each source has come.
#[pyclass(frozen, module = "umbel._umbel")]
pub struct Positions(umbel_stream::Positions);

#[pymethods]
impl Positions {
    #[new]
    fn create() -> Positions {
        Positions(umbel_stream::Positions::default())
    }

    /// What a file of positions holds.
    #[staticmethod]
    fn from_bytes(data: PyBackedBytes) -> PyResult<Positions> {
        let positions = umbel_stream::Positions::from_bytes(&data);
        positions.map(Positions).ok_or_else(|| PyValueError::new_err("the file is damaged"))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    /// The last batch of a query; None if there is none.
    fn batch(&self, query: &str) -> Option<u64> {
        self.0.batch(query)
    }

    /// The ids of all queries.
    fn queries(&self) -> Vec<&str> {
        self.0.queries().collect()
    }

    /// The same with the batches of a query up to this one.
    fn with_batch(&self, query: &str, batch: u64) -> Positions {
        Positions(self.0.clone().with_batch(query, batch))
    }
}
