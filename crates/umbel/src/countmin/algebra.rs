//! Sketches as sums of streams: merge and inner product.

use super::CountMin;
use crate::Result;

/// The inner product of two sketches: the sum over all keys of the product of their weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InnerProduct {
    /// Never below the true product, as long as neither sketch is saturated.
    pub estimate: u128,
    /// eps · |a| · |b|: how much too high the estimate may be, with a probability of at least 1 - delta.
    pub bound: f64,
}

impl CountMin {
    /// Takes in all that `other` counted: afterwards the sketch is the same, byte for byte, as if every key had been added here.
    /// Sketches of other parameters are refused.
    pub fn merge(&mut self, other: &CountMin) -> Result<()> {
        self.params.check_alike(&other.params)?;
        self.grid.merge(&other.grid);
        self.count(other.inserted, other.total);
        self.metadata.keep_common(&other.metadata);
        Ok(())
    }

    /// The size of the join with `other`; with itself, the second moment.
    pub fn inner_product(&self, other: &CountMin) -> Result<InnerProduct> {
        self.params.check_alike(&other.params)?;
        Ok(InnerProduct {
            estimate: self.grid.product(&other.grid),
            bound: self.params.epsilon() * (self.total as f64 * other.total as f64),
        })
    }

    /// Refuses counters that cannot have come from adding keys: each row must sum up to the total, and no counter may be
    /// wider than the largest needs. The verified ways to open a sketch call this.
    pub fn check(&self) -> Result<()> {
        self.grid.check(|sum| sum == self.total)
    }
}
