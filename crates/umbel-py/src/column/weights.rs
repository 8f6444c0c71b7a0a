//! What each key of a column counts.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::Column;
use super::chunk::{Cells, Chunk, Want};

/// Weights for the rows of a column, or 1 for each.
pub struct Weights {
    all: Option<Vec<u64>>,
    taken: usize,
    /// Those of the rows that are not null.
    some: Vec<u64>,
}

impl Weights {
    /// The weights in a column of whole numbers from 0 on. Where the number of keys is known, there must be as many.
    pub fn of(keys: &Bound<'_, PyAny>, weights: Option<&Bound<'_, PyAny>>) -> PyResult<Weights> {
        let Some(weights) = weights else {
            return Ok(Weights { all: None, taken: 0, some: Vec::new() });
        };
        let (mut all, mut nulls) = (Vec::new(), false);
        Column::of(weights)?.each(weights.py(), Want::Weights, |chunk| {
            nulls |= chunk.len() < chunk.rows;
            if let Cells::Words(words) = chunk.cells {
                all.extend_from_slice(words);
            }
            Ok(())
        })?;
        if nulls {
            return Err(PyValueError::new_err("a weight is null: give 0 for what does not count"));
        }
        if let Ok(keys) = keys.len()
            && keys != all.len()
        {
            return Err(unequal(keys, all.len()));
        }
        Ok(Weights { all: Some(all), taken: 0, some: Vec::new() })
    }

    /// The weights of the next chunk's keys; none where each is 1.
    pub fn next(&mut self, chunk: &Chunk<'_>) -> umbel::Result<Option<&[u64]>> {
        let Some(all) = &self.all else { return Ok(None) };
        let first = self.taken;
        self.taken += chunk.rows;
        let Some(weights) = all.get(first..self.taken) else {
            return Err(umbel::Error::Weights { keys: self.taken, given: all.len() });
        };
        let Some(places) = chunk.places else { return Ok(Some(weights)) };
        self.some.clear();
        self.some.extend(places.iter().map(|&place| weights[place as usize]));
        Ok(Some(&self.some))
    }

    /// Refuses weights that were left over.
    pub fn end(&self) -> PyResult<()> {
        match &self.all {
            Some(all) if all.len() != self.taken => Err(unequal(self.taken, all.len())),
            _ => Ok(()),
        }
    }
}

fn unequal(keys: usize, given: usize) -> PyErr {
    crate::error::raise(umbel::Error::Weights { keys, given })
}
