//! The exact list: the cells themselves. Never wrong, and the only structure that knows how near.

use super::batch::TOGETHER;
use super::cell::Span;
use super::elias_fano::{EliasFano, Shape};
use crate::{Error, Result};

/// Sorted cells, counted from the least.
#[derive(Clone)]
pub(super) struct Exact {
    least: i64,
    list: EliasFano,
}

impl Exact {
    /// The list of different cells, in ascending order.
    pub(super) fn build(cells: &[i64]) -> Result<Exact> {
        let least = cells.first().copied().unwrap_or(0);
        let greatest = cells.last().copied().unwrap_or(0);
        let shape = Exact::shape(cells.len() as u64, least, greatest);
        let offsets = cells.iter().map(|cell| cell.abs_diff(least));
        Ok(Exact { least, list: EliasFano::build(shape, offsets)? })
    }

    /// The size of a list of `count` cells that lie between these.
    pub(super) fn shape(count: u64, least: i64, greatest: i64) -> Shape {
        Shape::new(count, greatest.abs_diff(least))
    }

    pub(super) fn from_list(least: i64, list: EliasFano) -> Exact {
        Exact { least, list }
    }

    pub(super) fn least(&self) -> i64 {
        self.least
    }

    pub(super) fn greatest(&self) -> i64 {
        self.least.wrapping_add_unsigned(self.list.shape().top())
    }

    pub(super) fn list(&self) -> &EliasFano {
        &self.list
    }

    pub(super) fn into_memory(self) -> Exact {
        Exact { list: self.list.into_memory(), ..self }
    }

    #[inline]
    pub(super) fn any_in(&self, cells: Span) -> bool {
        let (first, last) = self.offsets(cells);
        self.list.any_in(first, last)
    }

    pub(super) fn any_in_batch(&self, cells: &[Span], answers: &mut [bool]) {
        let mut ranges = [(0, 0); TOGETHER];
        ranges.iter_mut().zip(cells).for_each(|(range, &cells)| *range = self.offsets(cells));
        self.list.any_in_batch(&ranges[..cells.len()], answers);
    }

    /// The cells counted from the least. If all are below it, a range behind the greatest: then the least is not the
    /// least integer, nor is the greatest that far from it.
    #[inline(always)]
    fn offsets(&self, Span { first, last }: Span) -> (u64, u64) {
        let first = first.max(self.least);
        if first > last {
            return (u64::MAX, u64::MAX);
        }
        (first.abs_diff(self.least), last.abs_diff(self.least))
    }

    /// Refuses a list that contradicts itself, or whose ends are not those it names.
    pub(super) fn check(&self) -> Result<()> {
        self.list.view().check()?;
        let Some(last) = self.list.shape().count().checked_sub(1) else { return Ok(()) };
        if (self.list.view().get(0), self.list.view().get(last))
            == (Some(0), Some(self.list.shape().top()))
        {
            return Ok(());
        }
        Err(Error::Format("the least or the greatest cell is not in the list".into()))
    }

    /// The greatest stored cell up to this one and the least from it on.
    pub(super) fn around(&self, cell: i64) -> [Option<i64>; 2] {
        let stored = |at: u64| {
            self.list.view().get(at).map(|offset| self.least.wrapping_add_unsigned(offset))
        };
        if cell < self.least {
            return [None, stored(0)];
        }
        let at = self.list.view().rank(cell.abs_diff(self.least));
        match stored(at) {
            Some(found) if found == cell => [Some(cell); 2],
            next => [at.checked_sub(1).and_then(stored), next],
        }
    }
}
