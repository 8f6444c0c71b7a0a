//! What is asked of a structure.

use super::Grid;
use crate::{Error, Result};

/// The grid, the number of values, the rate of false positives for a whole question, and the seed of the hash.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Params {
    grid: Grid,
    n: u64,
    p: f64,
    seed: u64,
}

impl Params {
    /// For `n` values of different cells; a question that has no neighbour is answered "yes" with probability `p` at most.
    pub fn new(grid: Grid, n: u64, p: f64) -> Result<Params> {
        if !(p > 0.0 && p < 1.0) {
            return Err(Error::Sizing(format!(
                "a false-positive rate lies between 0 and 1, both excluded, for example 0.01; not {p}"
            )));
        }
        Ok(Params { grid, n, p, seed: 0 })
    }

    /// The same with another seed. A service that takes values from strangers chooses its own, so that nobody can
    /// prepare values that answer "yes" to others.
    pub fn with_seed(self, seed: u64) -> Params {
        Params { seed, ..self }
    }

    /// alpha, beta, and what the values are.
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// The same where it stands.
    pub(super) fn grid_ref(&self) -> &Grid {
        &self.grid
    }

    /// n: the number of different cells.
    pub fn n(&self) -> u64 {
        self.n
    }

    /// p: the rate of false positives for a whole question.
    pub fn p(&self) -> f64 {
        self.p
    }

    /// The seed of the hash.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// What both promise: the larger of the two numbers of values and of the two rates.
    pub(super) fn join(&mut self, other: &Params) {
        self.n = self.n.max(other.n);
        self.p = self.p.max(other.p);
    }
}
