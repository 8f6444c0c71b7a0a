//! "Is a stored number within alpha of x?", from a few bits a number.
//!
//! **When.** You have very many numbers (times, prices, masses, positions) and ask of others whether one of them is
//! near; you can live with a small, chosen share of wrong "yes" answers; a "no" is always right. Where memory is no
//! matter, a sorted array with binary search is the better choice: it is exact, it is simple, and it needs 64 bits a
//! number.
//!
//! ```
//! use umbel::near::{Grid, Near, Structure};
//!
//! let near = Near::build(Grid::floats(5.0, 1.0)?, 0.01, [12.0, 42.0])?; // alpha 5, beta 1, one wrong yes in a hundred
//! assert!(near.contains(12.0)?);
//! assert!(near.contains(14.0)?); // 12 is within 5
//! assert!(near.contains(37.0)?); // so is 42, just
//! assert!(!near.contains(22.1)?);
//! assert!(!near.contains_within(14.0, 1.0)?); // no stored number within 1
//!
//! assert_eq!(near.structure(), Structure::ExactList); // two numbers: a list of them is smaller than any filter
//! let nearest = near.nearest(22.1)?.unwrap(); // and knows more than a filter does
//! assert_eq!((nearest.cell, nearest.distance), (12, 22.1 - 12.0));
//! # Ok::<(), umbel::Error>(())
//! ```
//!
//! Numbers that come one by one go into a growing filter, which also merges:
//!
//! ```
//! use umbel::near::{Grid, Near};
//!
//! let grid = Grid::integers(5, 1)?;
//! let (mut monday, mut tuesday) = (Near::growing(grid, 1000, 0.01)?, Near::growing(grid, 1000, 0.01)?);
//! monday.insert(12)?;
//! tuesday.insert(42)?;
//! monday.merge(&tuesday)?;
//! assert!(monday.contains(40)? && !monday.contains(22)?);
//! # Ok::<(), umbel::Error>(())
//! ```
//!
//! # Meaning
//!
//! Numbers are rounded to cells, multiples of beta. Of a stored y and an asked x:
//!
//! - |x - y| ≤ alpha: the answer is "yes", always, for any beta and any number that is accepted;
//! - no stored y with |x - y| ≤ alpha + beta + 2 ulp(|x| + alpha): the answer is "no", but for a share of at most p of
//!   all seeds. p is for the whole question, not for a cell of it;
//! - between, either answer.
//!
//! Distances are those between the floats as they are. Since 0.45 - 0.35 is a little more than 0.1 as floats, questions
//! reach a step (ulp) further than alpha, so that decimals are answered as they are written. For integers everything is
//! exact, and there are no ulps.
//!
//! NaN, infinities, and floats from 2^53 beta on are refused, stored or asked: that is an error and not a "no". -0.0 is
//! 0.0. A question may be for a smaller distance than alpha, not for a larger one.
//!
//! The rate p holds for questions of up to L = ⌊2 alpha/beta⌋ + 2 cells, and all are where floats are 2^12 times finer
//! than beta: for |x| + alpha up to 2^40 beta. Further off, up to eight cells more are asked for, at p/L each.
//!
//! # Cost
//!
//! | structure | bits a number | lines of memory for a "no" | |
//! |---|---|---|---|
//! | exact list | log₂(U/n) + 3 | 3 | U cells from the least to the greatest; never wrong, knows the distance |
//! | Grafite list | log₂(L/p) + 3 | 3 | |
//! | growing filter | 1.44 log₂(L/p) | 2 to 12, for up to 512 cells | takes values, merges |
//! | the same of two levels | 1.44 log₂(L/p) + 5.8 | 4, and a sixteenth of what one level looks at | from L = 512 on |
//!
//! A list is built from all its numbers; the exact one is taken where U ≤ n L / p, as it is the smaller one then.
//! [`Plan`] gives the figures for your numbers, [`Near::why`] the reason for a choice.

mod batch;
mod builder;
mod cell;
mod check;
mod elias_fano;
mod exact;
mod facts;
mod grafite;
mod growing;
mod level;
mod number;
mod params;
mod record;
mod store;
mod structure;
mod view;

pub use builder::Builder;
pub use cell::Grid;
pub use facts::Nearest;
pub use number::{Number, Values};
pub use params::Params;
pub(crate) use record::Record;
pub use structure::{Cost, Plan, Structure};

use exact::Exact;
use grafite::Grafite;
use growing::{Growing, Sizes};

use crate::bloom::{Overfull, same};
use crate::{Error, Metadata, Result};

/// Numbers, and whether one of them is near. See the [module](self) for what it is and costs.
#[derive(Clone)]
pub struct Near {
    params: Params,
    store: Store,
    inserted: u64,
    metadata: Metadata,
}

#[derive(Clone)]
enum Store {
    Exact(Exact),
    Grafite(Grafite),
    Growing(Growing),
}

impl Near {
    /// The smallest structure for values that are all there, at the rate `p` for a whole question.
    pub fn build<T: Into<Number>>(
        grid: Grid,
        p: f64,
        values: impl IntoIterator<Item = T>,
    ) -> Result<Near> {
        let mut builder = Builder::new(grid);
        builder.extend(values)?;
        builder.build(p)
    }

    /// An empty filter that takes values, sized for `n` of them at the rate `p` for a whole question.
    pub fn growing(grid: Grid, n: u64, p: f64) -> Result<Near> {
        Near::growing_with(Params::new(grid, n, p)?)
    }

    /// An empty growing filter with these parameters.
    pub fn growing_with(params: Params) -> Result<Near> {
        Near::with(params, Structure::growing(params.grid().most_cells()))
    }

    /// An empty growing filter with these parameters, of one level or two.
    pub fn with(params: Params, structure: Structure) -> Result<Near> {
        if !structure.grows() {
            return Err(Error::Unsupported(format!(
                "the {structure} cannot begin empty: gather its values in a Builder"
            )));
        }
        let sizes = Sizes::new(&params, structure == Structure::TwoLevels)?;
        let store = Store::Growing(Growing::new(sizes, params.seed())?);
        Ok(Near { params, store, inserted: 0, metadata: Metadata::default() })
    }

    /// An empty growing filter with the parameters and the size of this one, so that the two can be merged.
    pub fn empty_like(&self) -> Result<Near> {
        let Store::Growing(filter) = &self.store else { return Err(fixed(self.structure())) };
        let store = Store::Growing(Growing::new(filter.sizes(), self.params.seed())?);
        Ok(Near { params: self.params, store, inserted: 0, metadata: Metadata::default() })
    }

    /// Whether a stored value may be within alpha of x. `false` is certain.
    #[inline]
    pub fn contains(&self, x: impl Into<Number>) -> Result<bool> {
        self.contains_within(x, self.params.grid().alpha())
    }

    /// Whether a stored value may be within `alpha` of x, a distance of at most the alpha it was built for.
    #[inline]
    pub fn contains_within(&self, x: impl Into<Number>, alpha: f64) -> Result<bool> {
        let grid = self.params.grid_ref();
        grid.check_distance(alpha)?;
        let cells = grid.span(x.into(), alpha)?;
        Ok(match &self.store {
            Store::Exact(list) => list.any_in(cells),
            Store::Grafite(list) => list.any_in(cells),
            Store::Growing(filter) => filter.any_in(cells),
        })
    }

    /// Adds a value to a growing filter; says whether its cell was certainly new.
    pub fn insert(&mut self, y: impl Into<Number>) -> Result<bool> {
        let cell = self.params.grid().cell(y)?;
        let structure = self.structure();
        let Store::Growing(filter) = &mut self.store else { return Err(fixed(structure)) };
        self.inserted = self.inserted.saturating_add(1);
        Ok(filter.insert(cell))
    }

    /// Takes in all values of another growing filter: afterwards it is the same, bit for bit, as if every value had been
    /// inserted here. Returns a warning when the result holds more values than it was sized for.
    ///
    /// Filters of other parameters are refused. If the two were sized for different numbers of values, the larger holds.
    pub fn merge(&mut self, other: &Near) -> Result<Option<Overfull>> {
        self.check_alike(other)?;
        if let (Store::Growing(ours), Store::Growing(theirs)) = (&mut self.store, &other.store) {
            ours.merge(theirs);
        }
        self.params.join(&other.params);
        self.inserted = self.inserted.saturating_add(other.inserted);
        self.metadata.keep_common(&other.metadata);
        Ok(self.overfull())
    }

    fn check_alike(&self, other: &Near) -> Result<()> {
        self.params.grid().check_alike(&other.params.grid())?;
        same("the seed of the hash", self.params.seed(), other.params.seed())?;
        match (&self.store, &other.store) {
            (Store::Growing(ours), Store::Growing(theirs)) => ours.check_alike(theirs),
            (Store::Growing(_), _) => Err(fixed(other.structure())),
            _ => Err(fixed(self.structure())),
        }
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// The number of values it was given, also those whose cell was there already; it adds up when filters are merged.
    pub fn inserted(&self) -> u64 {
        self.inserted
    }

    /// The text pairs that travel with it.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The text pairs, to be changed.
    pub fn metadata_mut(&mut self) -> &mut Metadata {
        &mut self.metadata
    }
}

fn fixed(structure: Structure) -> Error {
    Error::Unsupported(format!(
        "the {structure} takes no more values: build it again from all of them, or build a growing filter"
    ))
}

impl std::fmt::Debug for Near {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Near")
            .field("structure", &self.structure())
            .field("params", &self.params)
            .field("inserted", &self.inserted)
            .field("metadata", &self.metadata)
            .finish_non_exhaustive()
    }
}
