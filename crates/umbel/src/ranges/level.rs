//! The counters of one level.

use super::RangesParams;
use crate::Result;
use crate::countmin::{AHEAD, BLOCK, Grid, Table};
use crate::hash::xxh3_u64;
use crate::simd;

/// One level: a counter a run, or a sketch of the runs.
#[derive(Clone, PartialEq)]
pub(crate) enum Level {
    Exact(Table),
    Sketched {
        grid: Grid,
        /// The seed of the level: were it the same for all, errors on one level would come again on others.
        seed: u64,
    },
}

impl Level {
    pub(super) fn zeroed(params: &RangesParams, level: u32) -> Result<Level> {
        if params.is_exact(level) {
            return Table::zeroed(params.counters(level) as usize).map(Level::Exact);
        }
        let grid = Grid::zeroed(params.width(), params.depth())?;
        Ok(Level::sketched(params, level, grid))
    }

    /// The level with these counters.
    pub(crate) fn from_table(params: &RangesParams, level: u32, table: Table) -> Level {
        if params.is_exact(level) {
            return Level::Exact(table);
        }
        Level::sketched(params, level, Grid::from_table(table, params.width(), params.depth()))
    }

    fn sketched(params: &RangesParams, level: u32, grid: Grid) -> Level {
        Level::Sketched { grid, seed: params.seed().wrapping_add(level.into()) }
    }

    pub(crate) fn table(&self) -> &Table {
        match self {
            Level::Exact(table) => table,
            Level::Sketched { grid, .. } => grid.table(),
        }
    }

    pub(super) fn into_memory(self) -> Level {
        match self {
            Level::Exact(table) => Level::Exact(table.into_memory()),
            Level::Sketched { grid, seed } => Level::Sketched { grid: grid.into_memory(), seed },
        }
    }

    pub(super) fn is_exact(&self) -> bool {
        matches!(self, Level::Exact(_))
    }

    pub(super) fn add(&mut self, node: u64, weight: u64) {
        match self {
            Level::Exact(table) => table.add(node as usize, weight),
            Level::Sketched { grid, seed } => grid.add(xxh3_u64(node, *seed), weight),
        }
    }

    /// Adds to each of at most [`BLOCK`] nodes its weight.
    pub(super) fn add_block(&mut self, nodes: &[u64], weight: impl Fn(usize) -> u64) {
        match self {
            Level::Exact(table) => {
                let mut places = [0; BLOCK + AHEAD];
                places.iter_mut().zip(nodes).for_each(|(place, &node)| *place = node as usize);
                table.add_ahead(&places[..nodes.len() + AHEAD], weight);
            }
            Level::Sketched { grid, seed } => {
                let mut hashes = [0; BLOCK];
                let hashes = &mut hashes[..nodes.len()];
                simd::hash_batch(simd::Level::best(), nodes, *seed, hashes);
                grid.add_block(hashes, weight);
            }
        }
    }

    pub(super) fn estimate(&self, node: u64) -> u64 {
        match self {
            Level::Exact(table) => table.get(node as usize),
            Level::Sketched { grid, seed } => grid.estimate(xxh3_u64(node, *seed)),
        }
    }

    /// Adds every counter of a level of the same size.
    pub(super) fn merge(&mut self, other: &Level) {
        match (self, other) {
            (Level::Exact(ours), Level::Exact(theirs)) => ours.merge(theirs),
            (Level::Sketched { grid: ours, .. }, Level::Sketched { grid: theirs, .. }) => {
                ours.merge(theirs);
            }
            _ => unreachable!("levels of the same parameters are alike"),
        }
    }

    /// Refuses counters that cannot have come from adding keys.
    pub(super) fn check(&self, total: u64) -> Result<()> {
        match self {
            Level::Exact(table) => table.check(table.len(), |sum| sum == total),
            Level::Sketched { grid, .. } => grid.check(|sum| sum == total),
        }
    }
}
