//! One question of a list, all of it in one function: from the number to its cells, to their codes, to the answer.

use super::Number;
use super::cell::{Grid, Span};
use crate::Result;
use crate::simd::select::{Select, Work};

/// A list of cells, or of what stands for them.
pub(super) trait List {
    /// Whether one of these cells may be in it.
    fn any_in<S: Select>(&self, cells: Span) -> bool;
}

/// Is a cell of the list within `alpha` of x?
pub(super) struct Question<'a, L> {
    pub(super) grid: &'a Grid,
    pub(super) list: &'a L,
    pub(super) x: Number,
    pub(super) alpha: f64,
}

impl<L: List> Work for Question<'_, L> {
    type Output = Result<bool>;

    #[inline(always)]
    fn run<S: Select>(self) -> Result<bool> {
        self.grid.check_distance(self.alpha)?;
        Ok(self.list.any_in::<S>(self.grid.span(self.x, self.alpha)?))
    }
}
