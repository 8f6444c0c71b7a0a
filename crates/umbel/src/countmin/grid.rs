//! d rows of w counters, and where those of a key are: a remix of its hash for each row, reduced to the columns.
//!
//! ```text
//! x = hash
//! for row in 0..d:
//!     place = row · w + hi(x, w)
//!     x = mix(x)
//! ```
//! A batch goes row by row through a block of keys, so that the places of a row are worked out together, without waiting, and
//! memory is asked for them in time.

use super::block::Rows;
use super::params::MAX_DEPTH;
use super::table::Table;
use crate::Result;
use crate::hash::{mix, reduce};

/// Keys whose counters are asked for together where keys must be taken one after the other.
const TOGETHER: usize = 16;
/// Counters multiplied at a time.
const PIECE: usize = 512;

/// Rows of counters.
#[derive(Clone, PartialEq)]
pub(crate) struct Grid {
    table: Table,
    width: u64,
    depth: u32,
}

impl Grid {
    /// All counters at zero.
    pub(crate) fn zeroed(width: u64, depth: u32) -> Result<Grid> {
        let table = Table::zeroed((width * u64::from(depth)) as usize)?;
        Ok(Grid { table, width, depth })
    }

    /// The table has as many counters as that makes.
    pub(crate) fn from_table(table: Table, width: u64, depth: u32) -> Grid {
        Grid { table, width, depth }
    }

    pub(crate) fn table(&self) -> &Table {
        &self.table
    }

    /// The same counters in memory of their own, if they were mapped.
    pub(crate) fn into_memory(self) -> Grid {
        Grid { table: self.table.into_memory(), ..self }
    }

    /// Adds a weight to the counters of a key.
    #[inline]
    pub(crate) fn add(&mut self, hash: u64, weight: u64) {
        places(self.width, self.depth, hash).for_each(|place| self.table.add(place, weight));
    }

    /// The least of a key's counters.
    #[inline]
    pub(crate) fn estimate(&self, hash: u64) -> u64 {
        let counters = places(self.width, self.depth, hash).map(|place| self.table.get(place));
        counters.min().unwrap_or(0)
    }

    /// Raises the counters of a key to the least of them plus the weight, where they are below.
    #[inline]
    pub(crate) fn raise(&mut self, hash: u64, weight: u64) {
        let mut known = [0; MAX_DEPTH as usize];
        let places = places(self.width, self.depth, hash);
        let count = known.iter_mut().zip(places).map(|(known, place)| *known = place).count();
        let counters = known[..count].iter().map(|&place| self.table.get(place));
        let value = counters.min().unwrap_or(0).saturating_add(weight);
        for &place in &known[..count] {
            let missing = value.saturating_sub(self.table.get(place));
            self.table.add(place, missing);
        }
    }

    /// Adds to the counters of each key of a block its weight.
    pub(crate) fn add_block(&mut self, hashes: &[u64], weight: impl Fn(usize) -> u64) {
        let mut rows = Rows::new(hashes);
        for row in 0..self.depth as usize {
            let places = rows.next(row * self.width as usize, self.width);
            self.table.add_ahead(places, &weight);
        }
    }

    /// Raises the counters of each key of a block, one key after the other.
    pub(crate) fn raise_block(&mut self, hashes: &[u64], weight: impl Fn(usize) -> u64) {
        let far = !self.table.is_near();
        for (i, hashes) in hashes.chunks(TOGETHER).enumerate() {
            if far {
                let all = hashes.iter().flat_map(|&hash| places(self.width, self.depth, hash));
                all.for_each(|place| self.table.ask_for(place));
            }
            for (j, &hash) in hashes.iter().enumerate() {
                self.raise(hash, weight(i * TOGETHER + j));
            }
        }
    }

    /// The least of the counters of each key of a block.
    pub(crate) fn estimate_block(&self, hashes: &[u64], estimates: &mut [u64]) {
        estimates.fill(u64::MAX);
        let mut rows = Rows::new(hashes);
        for row in 0..self.depth as usize {
            let places = rows.next(row * self.width as usize, self.width);
            self.table.lower(places, estimates);
        }
    }

    /// Adds every counter of a grid of the same size.
    pub(crate) fn merge(&mut self, other: &Grid) {
        self.table.merge(&other.table);
    }

    /// The least of the products of the rows with those of a grid of the same size.
    pub(crate) fn product(&self, other: &Grid) -> u128 {
        let products = (0..self.depth as usize).map(|row| self.row_product(other, row));
        products.min().unwrap_or(0)
    }

    fn row_product(&self, other: &Grid, row: usize) -> u128 {
        let width = self.width as usize;
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

    /// Refuses counters that are wider than the largest needs, and rows whose sum is not right.
    pub(crate) fn check(&self, right: impl Fn(u64) -> bool) -> Result<()> {
        self.table.check(self.width as usize, right)
    }
}

/// The places of one key, row by row.
#[inline(always)]
fn places(width: u64, depth: u32, hash: u64) -> impl Iterator<Item = usize> {
    let remixes = std::iter::successors(Some(hash), |&x| Some(mix(x)));
    let place = move |(row, x)| (row * width + reduce(x, width)) as usize;
    (0..u64::from(depth)).zip(remixes).map(place)
}
