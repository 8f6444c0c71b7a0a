//! Sketches as sums of streams: merge and inner product.

use super::CountMin;
use crate::{Error, Result};

/// Counters multiplied at a time.
const PIECE: usize = 512;

/// The inner product of two sketches: the sum over all keys of the product of their weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InnerProduct {
    /// Never below the true product (as long as neither sketch is saturated).
    pub estimate: u128,
    /// eps · |a| · |b|: how much too high the estimate may be, with a probability of at least 1 - delta.
    pub bound: f64,
}

impl CountMin {
    /// Takes in all that `other` counted: afterwards the sketch is the same, byte for byte, as if every key had been added here.
    /// Sketches of other parameters are refused.
    pub fn merge(&mut self, other: &CountMin) -> Result<()> {
        self.params.check_alike(&other.params)?;
        self.table.merge(&other.table);
        self.count(other.inserted, other.total);
        self.metadata.keep_common(&other.metadata);
        Ok(())
    }

    /// The size of the join with `other`; with itself, the second moment.
    pub fn inner_product(&self, other: &CountMin) -> Result<InnerProduct> {
        self.params.check_alike(&other.params)?;
        let rows = (0..self.params.depth() as usize).map(|row| self.row_product(other, row));
        Ok(InnerProduct {
            estimate: rows.min().unwrap_or(0),
            bound: self.params.epsilon() * (self.total as f64 * other.total as f64),
        })
    }

    fn row_product(&self, other: &CountMin, row: usize) -> u128 {
        let width = self.params.width() as usize;
        let (mut ours, mut theirs) = ([0; PIECE], [0; PIECE]);
        let mut product = 0_u128;
        for start in (0..width).step_by(PIECE) {
            let count = PIECE.min(width - start);
            self.table.read(row * width + start, &mut ours[..count]);
            other.table.read(row * width + start, &mut theirs[..count]);
            for (&a, &b) in ours[..count].iter().zip(&theirs[..count]) {
                product = product.saturating_add(u128::from(a) * u128::from(b));
            }
        }
        product
    }

    /// Refuses counters that cannot have come from adding keys: each row must sum up to the total, and no counter may be
    /// wider than the largest needs. The verified ways to open a sketch call this.
    pub fn check(&self) -> Result<()> {
        self.table.check()?;
        let width = self.params.width() as usize;
        for row in 0..self.params.depth() as usize {
            let sum = self.table.sum(row * width..(row + 1) * width);
            if sum != self.total {
                return Err(Error::Format(format!(
                    "row {row} of the sketch sums up to {sum}, but the total is {}",
                    self.total
                )));
            }
        }
        Ok(())
    }
}
