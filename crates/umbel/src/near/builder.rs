//! Lists are built from all their values.

use super::exact::Exact;
use super::grafite::Grafite;
use super::structure::choose;
use super::{Grid, Near, Number, Params, Store, Structure};
use crate::{Metadata, Result};

/// Gathers the cells of values, eight bytes each, in any order and in any number of parts.
///
/// ```
/// use umbel::near::{Builder, Grid};
///
/// let grid = Grid::integers(5, 1)?;
/// let (mut monday, mut tuesday) = (Builder::new(grid), Builder::new(grid));
/// monday.push(12)?;
/// tuesday.push(42)?;
/// monday.join(tuesday)?;
/// let near = monday.build(0.01)?;
/// assert!(near.contains(40)?);
/// # Ok::<(), umbel::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Builder {
    grid: Grid,
    seed: u64,
    cells: Vec<i64>,
}

impl Builder {
    /// No values yet.
    pub fn new(grid: Grid) -> Builder {
        Builder { grid, seed: 0, cells: Vec::new() }
    }

    /// The same with another seed of the hash.
    pub fn with_seed(self, seed: u64) -> Builder {
        Builder { seed, ..self }
    }

    /// Adds a value.
    #[inline]
    pub fn push(&mut self, y: impl Into<Number>) -> Result<()> {
        self.cells.push(self.grid.cell(y)?);
        Ok(())
    }

    /// Adds all values.
    pub fn extend<T: Into<Number>>(&mut self, values: impl IntoIterator<Item = T>) -> Result<()> {
        values.into_iter().try_for_each(|y| self.push(y))
    }

    /// Adds all values of a builder with the same grid.
    pub fn join(&mut self, other: Builder) -> Result<()> {
        self.grid.check_alike(&other.grid)?;
        self.cells.extend(other.cells);
        Ok(())
    }

    /// The number of values, repeated ones included.
    pub fn len(&self) -> u64 {
        self.cells.len() as u64
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The exact list where it is smaller than any filter would be, else the Grafite list at the rate `p`.
    pub fn build(self, p: f64) -> Result<Near> {
        self.finish(p, None)
    }

    /// The structure of the caller's choice. A growing filter is sized for the values that are there.
    pub fn build_as(self, structure: Structure, p: f64) -> Result<Near> {
        self.finish(p, Some(structure))
    }

    /// The growing filter that suits the grid, sized for the values that are there.
    pub fn build_growing(self, p: f64) -> Result<Near> {
        let structure = Structure::growing(self.grid.most_cells());
        self.build_as(structure, p)
    }

    fn finish(mut self, p: f64, structure: Option<Structure>) -> Result<Near> {
        let inserted = self.len();
        self.cells.sort_unstable();
        self.cells.dedup();
        let cells = &self.cells[..];
        let params = Params::new(self.grid, cells.len() as u64, p)?.with_seed(self.seed);
        let ends = [cells.first().copied().unwrap_or(0), cells.last().copied().unwrap_or(0)];
        let store = match structure.unwrap_or_else(|| choose(&params, Some(ends))) {
            Structure::ExactList => Store::Exact(Exact::build(cells)?),
            Structure::GrafiteList => Store::Grafite(Grafite::build(&params, cells)?),
            growing => {
                // Nothing has no size.
                let params = Params::new(self.grid, params.n().max(1), p)?.with_seed(self.seed);
                let mut near = Near::with(params, growing)?;
                near.insert_cells(cells)?;
                near.inserted = inserted;
                return Ok(near);
            }
        };
        Ok(Near { params, store, inserted, metadata: Metadata::default() })
    }
}
