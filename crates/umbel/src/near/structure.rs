//! The four structures, what each would cost, and which to take.

use std::fmt;

use super::elias_fano::Shape;
use super::exact::Exact;
use super::grafite::{Codes, MAX_CODES, least_codes};
use super::growing::Sizes;
use super::level::{BLOCK, LevelSize};
use super::{Number, Params};
use crate::Result;

/// From this many cells a question on, a growing filter has two levels: below, the second would cost bits and save little.
const TWO_LEVELS_FROM: u64 = 512;
/// Lines of memory a question of a list touches: a hint, upper bits, lower bits.
const LIST_LINES: f64 = 3.0;

/// How the cells are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Structure {
    /// The cells themselves, sorted and packed. Never wrong. Takes no more values.
    ExactList,
    /// Codes of the cells, sorted and packed. Takes no more values.
    GrafiteList,
    /// A Bloom filter that is asked for many neighbouring cells at once. Takes values and merges.
    OneLevel,
    /// The same behind a coarse one, for wide questions.
    TwoLevels,
}

impl Structure {
    /// All of them.
    pub const ALL: [Structure; 4] =
        [Structure::ExactList, Structure::GrafiteList, Structure::OneLevel, Structure::TwoLevels];

    /// A name for programs.
    pub fn name(self) -> &'static str {
        match self {
            Structure::ExactList => "exact-list",
            Structure::GrafiteList => "grafite-list",
            Structure::OneLevel => "growing",
            Structure::TwoLevels => "growing-two-levels",
        }
    }

    /// Whether it takes values after it was built.
    pub fn grows(self) -> bool {
        matches!(self, Structure::OneLevel | Structure::TwoLevels)
    }

    /// The growing filter for questions of so many cells.
    pub(super) fn growing(cells: u64) -> Structure {
        if cells < TWO_LEVELS_FROM { Structure::OneLevel } else { Structure::TwoLevels }
    }
}

impl fmt::Display for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Structure::ExactList => "exact list",
            Structure::GrafiteList => "Grafite list",
            Structure::OneLevel => "growing filter",
            Structure::TwoLevels => "growing filter of two levels",
        })
    }
}

/// What one structure would cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// The structure.
    pub structure: Structure,
    /// Bits for each value.
    pub bits_per_value: f64,
    /// Lines of memory (64 bytes) that a question touches, on average, when the answer is "no".
    pub lines: f64,
    /// The rate of false positives of a whole question, at most.
    pub rate: f64,
}

/// What every structure would cost, and which one umbel takes.
///
/// ```
/// use umbel::near::{Grid, Params, Plan, Structure};
///
/// let params = Params::new(Grid::floats(5.0, 0.01)?, 1_000_000, 0.01)?;
/// let plan = Plan::new(&params, None)?;
/// assert_eq!(plan.fixed, Some(Structure::GrafiteList)); // for values that are all there
/// assert_eq!(plan.growing, Some(Structure::TwoLevels)); // for values that are still to come
/// assert!(plan.cost(Structure::GrafiteList).unwrap().bits_per_value < 20.5);
///
/// // All values lie between 0 and 1000: that is 100 001 cells, and a list of them is smaller than any filter.
/// let plan = Plan::new(&params, Some([0.0.into(), 1000.0.into()]))?;
/// assert_eq!(plan.fixed, Some(Structure::ExactList));
/// # Ok::<(), umbel::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The structures that can be had; an exact list only where it is known between what the values lie.
    pub costs: Vec<Cost>,
    /// What is taken when all values are there; none where they are too many for one list.
    pub fixed: Option<Structure>,
    /// What is taken when values are still to come; none where no growing filter can be had.
    pub growing: Option<Structure>,
    /// An exact list is the smaller one where all values lie within so many cells.
    pub exact_up_to: f64,
}

impl Plan {
    /// The plan for these parameters; `ends` are the least and the greatest value, where they are known.
    pub fn new(params: &Params, ends: Option<[Number; 2]>) -> Result<Plan> {
        let ends = match ends {
            Some([a, b]) => {
                let [a, b] = [params.grid().cell(a)?, params.grid().cell(b)?];
                Some([a.min(b), a.max(b)])
            }
            None => None,
        };
        let mut costs = Vec::new();
        costs.extend(ends.and_then(|ends| exact(params, ends).ok()));
        costs.extend(grafite(params).ok());
        costs.extend(
            [Structure::OneLevel, Structure::TwoLevels]
                .map(|s| growing(params, s))
                .into_iter()
                .flatten(),
        );
        let fixed = choose(params, ends);
        // What the exact list costs is not known without the ends, but how many numbers it holds.
        let unknown = fixed == Structure::ExactList && ends.is_none();
        let can_be = match unknown {
            true => Shape::new(params.n(), u64::MAX).check().is_ok(),
            false => costs.iter().any(|cost| cost.structure == fixed),
        };
        let can_grow = costs.iter().any(|cost| cost.structure.grows());
        Ok(Plan {
            fixed: can_be.then_some(fixed),
            growing: can_grow.then(|| Structure::growing(params.grid().most_cells())),
            exact_up_to: least_codes(params),
            costs,
        })
    }

    /// What a structure would cost, if it can be had.
    pub fn cost(&self, structure: Structure) -> Option<&Cost> {
        self.costs.iter().find(|cost| cost.structure == structure)
    }
}

/// The list to build of cells that lie between these: exact, where there are no more of them than codes. It is the
/// smaller one then, but for half a bit at most where the two differ by little; and it is never wrong.
pub(super) fn choose(params: &Params, ends: Option<[i64; 2]>) -> Structure {
    let codes = least_codes(params);
    let exact = ends.is_some_and(|[least, greatest]| (greatest.abs_diff(least) as f64) < codes);
    if exact || codes > MAX_CODES as f64 { Structure::ExactList } else { Structure::GrafiteList }
}

fn exact(params: &Params, [least, greatest]: [i64; 2]) -> Result<Cost> {
    // There are no more different cells than lie between.
    let count = params.n().min(greatest.abs_diff(least).saturating_add(1));
    list(Structure::ExactList, params, Exact::shape(count, least, greatest), 0.0)
}

fn grafite(params: &Params) -> Result<Cost> {
    let codes = Codes::new(params)?;
    let shape = Shape::new(params.n().min(codes.limit), codes.limit - 1);
    let rate = params.n() as f64 * params.grid().most_cells() as f64 / codes.limit as f64;
    list(Structure::GrafiteList, params, shape, rate)
}

fn list(structure: Structure, params: &Params, shape: Shape, rate: f64) -> Result<Cost> {
    shape.check()?;
    let bits_per_value = 8.0 * shape.bytes() as f64 / params.n().max(1) as f64;
    Ok(Cost { structure, bits_per_value, lines: LIST_LINES, rate })
}

fn growing(params: &Params, structure: Structure) -> Result<Cost> {
    let sizes = Sizes::new(params, structure == Structure::TwoLevels)?;
    let (n, cells) = (params.n(), params.grid().most_cells());
    let asked = lines_asked(sizes.fine, n, cells);
    let lines = match sizes.coarse {
        None => asked,
        Some(coarse) => {
            let parts = 1.0 + cells as f64 / (1_u64 << coarse.shift) as f64;
            let passed = coarse.fill_at(n).powi(coarse.probes as i32);
            parts * lines_asked(coarse, n, 1) + passed * asked
        }
    };
    let bits_per_value = sizes.bits() as f64 / n as f64;
    Ok(Cost { structure, bits_per_value, lines, rate: sizes.rate_at(n, cells) })
}

/// How many lines a level looks at for so many cells that are not there: in each block, probe after probe while a cell is left.
fn lines_asked(size: LevelSize, n: u64, cells: u64) -> f64 {
    let blocks = 1.0 + (cells - 1) as f64 / BLOCK as f64;
    let (fill, in_block) = (size.fill_at(n), cells as f64 / blocks);
    let left = |probe: u32| -(in_block * (-fill.powi(probe as i32)).ln_1p()).exp_m1();
    blocks * (0..size.probes).map(left).sum::<f64>()
}
