//! Many questions at once: several times faster, as memory works on all of them at the same time.

use super::cell::Span;
use super::elias_fano::{EliasFano, GROUP};
use super::{Near, Number, Store, fixed};
use crate::simd::prefetch;
use crate::simd::select::{Select, Work, run};
use crate::{Error, Result};

/// Questions that are worked on together.
pub(super) const TOGETHER: usize = 32;

impl Near {
    /// Adds many values to a growing filter. If one is refused, none is added.
    pub fn insert_batch<T: Into<Number> + Copy>(&mut self, values: &[T]) -> Result<()> {
        let grid = self.params.grid();
        let cells = values.iter().map(|&y| grid.cell(y)).collect::<Result<Vec<_>>>()?;
        self.insert_cells(&cells)?;
        self.inserted = self.inserted.saturating_add(cells.len() as u64);
        Ok(())
    }

    pub(super) fn insert_cells(&mut self, cells: &[i64]) -> Result<()> {
        let structure = self.structure();
        let Store::Growing(filter) = &mut self.store else { return Err(fixed(structure)) };
        filter.insert_batch(cells);
        Ok(())
    }

    /// Answers many questions; see [`contains`](Near::contains). There must be as many answers as questions. An error
    /// is that of the first question that is refused; the answers mean nothing then.
    pub fn contains_batch<T: Into<Number> + Copy>(
        &self,
        questions: &[T],
        answers: &mut [bool],
    ) -> Result<()> {
        self.contains_batch_within(questions, self.params.grid().alpha(), answers)
    }

    /// The same for a smaller distance; see [`contains_within`](Near::contains_within).
    pub fn contains_batch_within<T: Into<Number> + Copy>(
        &self,
        questions: &[T],
        alpha: f64,
        answers: &mut [bool],
    ) -> Result<()> {
        if questions.len() != answers.len() {
            let (needed, given) = (questions.len(), answers.len());
            return Err(Error::Answers { keys: needed, needed, given });
        }
        let grid = self.params.grid_ref();
        grid.check_distance(alpha)?;
        let mut cells = [Span::default(); TOGETHER];
        for (questions, answers) in questions.chunks(TOGETHER).zip(answers.chunks_mut(TOGETHER)) {
            for (cells, &x) in cells.iter_mut().zip(questions) {
                *cells = grid.span(x.into(), alpha)?;
            }
            let cells = &cells[..questions.len()];
            answers.fill(false);
            match &self.store {
                Store::Exact(list) => list.any_in_batch(cells, answers),
                Store::Grafite(list) => list.any_in_batch(cells, answers),
                Store::Growing(filter) => filter.any_in_batch(cells, answers),
            }
        }
        Ok(())
    }
}

impl EliasFano {
    /// Whether a number lies in each of the ranges. The answers are false before.
    pub(super) fn any_in_batch(&self, ranges: &[(u64, u64)], answers: &mut [bool]) {
        run(AnyInEach { list: self, ranges, answers });
    }
}

struct AnyInEach<'a> {
    list: &'a EliasFano,
    ranges: &'a [(u64, u64)],
    answers: &'a mut [bool],
}

impl Work for AnyInEach<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Select>(self) {
        let AnyInEach { list, ranges, answers } = self;
        let list = list.view();
        let shape = list.shape;
        if shape.count() == 0 {
            return;
        }
        let bucket = |range: &(u64, u64)| shape.bucket(range.0.min(shape.top()));
        for range in ranges {
            ask_for(list.starts, bucket(range) / GROUP);
        }
        for range in ranges {
            ask_for(list.upper, list.group(bucket(range)) / 64);
        }
        let mut places = [(); TOGETHER].map(|()| 0..0);
        for (range, places) in ranges.iter().zip(&mut places) {
            *places = list.bucket::<S>(bucket(range));
            ask_for(list.lower, shape.low_bit(places.start) / 64);
        }
        for ((&(first, last), places), answer) in ranges.iter().zip(places).zip(answers) {
            *answer = first <= shape.top() && list.any_from::<S>(places, first, last);
        }
    }
}

#[inline(always)]
fn ask_for<T>(memory: &[T], at: u64) {
    prefetch(memory.as_ptr().wrapping_add(at as usize));
}
