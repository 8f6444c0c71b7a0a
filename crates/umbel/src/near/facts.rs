//! What a structure can say of itself.

use std::cmp::Ordering;

use super::structure::choose;
use super::{Near, Number, Store, Structure};
use crate::bloom::Overfull;
use crate::memory::Memory;
use crate::{Error, Result};

/// The stored cell that is nearest to a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nearest {
    /// The cell.
    pub cell: i64,
    /// The value in its middle; what was stored lies within half of beta of it.
    pub value: Number,
    /// How far that value is from the one asked for.
    pub distance: f64,
}

impl Near {
    /// How the values are kept.
    pub fn structure(&self) -> Structure {
        match &self.store {
            Store::Exact(_) => Structure::ExactList,
            Store::Grafite(_) => Structure::GrafiteList,
            Store::Growing(filter) if filter.sizes().coarse.is_none() => Structure::OneLevel,
            Store::Growing(_) => Structure::TwoLevels,
        }
    }

    /// Why the values are kept in this way.
    pub fn why(&self) -> String {
        let (n, p) = (self.params.n(), self.params.p());
        let cells = self.params.grid().most_cells();
        match &self.store {
            Store::Exact(list)
                if choose(&self.params, Some([list.least(), list.greatest()]))
                    != Structure::ExactList =>
            {
                format!(
                    "it was asked for: a filter at the rate {p} would be smaller, and wrong at that rate"
                )
            }
            Store::Exact(list) => format!(
                "{n} different cells lie among {}: a list of them is smaller than a filter at the rate {p}, and never wrong",
                u128::from(list.greatest().abs_diff(list.least())) + 1
            ),
            Store::Grafite(list) => format!(
                "no more values come, and an exact list of {n} cells would be larger unless they lay among {}",
                list.codes().limit
            ),
            Store::Growing(filter) if filter.sizes().coarse.is_none() => {
                format!(
                    "values may be added; a question asks for up to {cells} cells, few enough for one level"
                )
            }
            Store::Growing(_) => {
                format!(
                    "values may be added; a question asks for up to {cells} cells, so a coarse level says most noes"
                )
            }
        }
    }

    /// The stored cell nearest to x, at any distance; none if nothing is stored. Of two at the same distance it is the
    /// lesser. Only an exact list knows it.
    pub fn nearest(&self, x: impl Into<Number>) -> Result<Option<Nearest>> {
        let Store::Exact(list) = &self.store else {
            return Err(Error::Unsupported(format!(
                "the {} does not know distances: only an exact list does",
                self.structure()
            )));
        };
        let (x, grid) = (x.into(), self.params.grid());
        let found = list.around(grid.cell(x)?).into_iter().flatten();
        let nearest =
            found.map(|cell| (cell, grid.middle(cell))).min_by(|a, b| compare(x, a.1, b.1));
        Ok(nearest.map(|(cell, value)| Nearest { cell, value, distance: distance(x, value) }))
    }

    /// Bits of memory the answers come from.
    pub fn bits(&self) -> u64 {
        self.bodies().iter().map(|body| 8 * size_of_val(&body[..]) as u64).sum()
    }

    /// The rate of false positives of a whole question, at most: for a list from its size, for a growing filter from its bits.
    pub fn expected_rate_now(&self) -> f64 {
        let cells = self.params.grid().most_cells();
        match &self.store {
            Store::Exact(_) => 0.0,
            Store::Grafite(list) => {
                let codes = list.codes().limit as f64;
                (list.list().shape().count() as f64 * cells as f64 / codes).min(1.0)
            }
            Store::Growing(filter) => filter.rate_now(cells),
        }
    }

    /// A warning when a growing filter holds more values than it was sized for, beyond what the uncertainty of the
    /// estimate explains.
    pub fn overfull(&self) -> Option<Overfull> {
        let Store::Growing(filter) = &self.store else { return None };
        let capacity = self.params.n();
        if self.inserted <= capacity {
            return None;
        }
        let estimated = filter.estimated_len();
        (estimated > capacity as f64 + 4.0 * filter.deviation(capacity) + 1.0).then(|| Overfull {
            estimated,
            capacity,
            rate_now: self.expected_rate_now(),
            promised: self.params.p(),
        })
    }

    /// The lines of bits, as they stand in a file.
    pub(super) fn bodies(&self) -> Vec<&Memory> {
        match &self.store {
            Store::Exact(list) => vec![list.list().memory()],
            Store::Grafite(list) => vec![list.list().memory()],
            Store::Growing(filter) => filter.levels().map(|level| level.lines()).collect(),
        }
    }
}

/// Which of two values is nearer to x. The values are of one type, and x equals a number of that type.
fn compare(x: Number, a: Number, b: Number) -> Ordering {
    match (x, a, b) {
        (Number::Integer(x), Number::Integer(a), Number::Integer(b)) => {
            x.abs_diff(a).cmp(&x.abs_diff(b))
        }
        _ => distance(x, a).total_cmp(&distance(x, b)),
    }
}

fn distance(a: Number, b: Number) -> f64 {
    match (a, b) {
        (Number::Integer(a), Number::Integer(b)) => a.abs_diff(b) as f64,
        _ => (float(a) - float(b)).abs(),
    }
}

fn float(x: Number) -> f64 {
    match x {
        Number::Float(x) => x,
        Number::Integer(x) => x as f64,
    }
}
