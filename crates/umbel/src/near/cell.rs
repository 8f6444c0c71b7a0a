//! From values to cells: the whole meaning of "near" is here.
//!
//! A value has one cell, a question a range of cells; the answer is "yes" when a stored cell lies in the range. Every
//! step from a value to its cell is monotone, rounding included, so a value within alpha of x has its cell in the range
//! of x, whatever beta is.

use std::ops::RangeInclusive;

use super::{Number, Values};
use crate::bloom::same;
use crate::{Error, Result};

/// From this many cells off zero on, floats cannot tell neighbouring cells apart.
const LIMIT: f64 = (1_u64 << 53) as f64;

/// Ends of a range that lie a step of floats further reach at most this much of a cell further, where the steps between
/// floats are at most 2^-12 beta.
const OUTWARDS: f64 = 1.0 / 1024.0;

/// The distance alpha that is asked for, the resolution beta, and what the values are.
///
/// ```
/// use umbel::near::Grid;
///
/// let grid = Grid::floats(0.3, 0.1)?; // within 0.3, rounded to tenths
/// assert_eq!(grid.cell(5.03)?, 50);
/// assert_eq!(grid.cells(5.0, 0.3)?, 47..=53);
/// assert!(grid.cell(f64::NAN).is_err());
/// # Ok::<(), umbel::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid {
    alpha: f64,
    beta: f64,
    /// beta for integers, at hand as an integer.
    step: i64,
    values: Values,
}

/// The cells from one to another, both included.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Span {
    pub(super) first: i64,
    pub(super) last: i64,
}

impl Grid {
    /// Floats within `alpha`, rounded to multiples of `beta`.
    pub fn floats(alpha: f64, beta: f64) -> Result<Grid> {
        // A negative zero would be a second name for zero.
        Grid::with(alpha + 0.0, beta, Values::Floats)
    }

    /// Integers within `alpha`, rounded to multiples of `beta`; 1 keeps them as they are. All of it is exact.
    pub fn integers(alpha: u64, beta: u64) -> Result<Grid> {
        let most = LIMIT as u64;
        if alpha > most || beta > most {
            return Err(Error::Sizing(format!(
                "alpha and beta are at most 2^53 for integers, not {}: take smaller ones",
                alpha.max(beta)
            )));
        }
        Grid::with(alpha as f64, beta as f64, Values::Integers)
    }

    /// Everything as in a file.
    pub(crate) fn with(alpha: f64, beta: f64, values: Values) -> Result<Grid> {
        if !(beta > 0.0 && beta.is_finite()) {
            return Err(Error::Sizing(format!(
                "beta, the resolution, is a number above 0, for example 0.01; not {beta}"
            )));
        }
        if !(alpha.is_finite() && alpha.is_sign_positive()) {
            return Err(Error::Sizing(format!(
                "alpha, the distance, is a number from 0 on, for example 5; not {alpha}"
            )));
        }
        if alpha / beta >= LIMIT {
            return Err(Error::Sizing(format!(
                "alpha is below 2^53 times beta; {} is not, for a beta of {}: take a larger beta",
                Number::Float(alpha),
                Number::Float(beta)
            )));
        }
        let whole = |x: f64| x.fract() == 0.0 && x <= LIMIT;
        if values == Values::Integers && !(whole(alpha) && whole(beta)) {
            return Err(Error::Sizing(format!(
                "alpha and beta are whole numbers up to 2^53 for integers, not {alpha} and {beta}"
            )));
        }
        Ok(Grid { alpha, beta, step: beta as i64, values })
    }

    /// The distance asked for.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// The resolution.
    pub fn beta(&self) -> f64 {
        self.beta
    }

    /// What the values are.
    pub fn values(&self) -> Values {
        self.values
    }

    /// L: the most cells that a question asks for. Where the steps between floats come close to the size of a cell,
    /// from |x| + alpha = 2^40 beta on, it may be up to eight more.
    pub fn most_cells(&self) -> u64 {
        match self.values {
            Values::Floats => (2.0 * (self.alpha / self.beta) + OUTWARDS) as u64 + 2,
            Values::Integers => (2 * self.alpha as u64).div_ceil(self.beta as u64) + 1,
        }
    }

    /// The cell of a value.
    #[inline]
    pub fn cell(&self, y: impl Into<Number>) -> Result<i64> {
        let y = y.into();
        let cell = match self.values {
            Values::Floats => self.accept(y).map(|y| self.float_cell(y)),
            Values::Integers => integer(y).map(|y| self.integer_cell(y)),
        };
        cell.ok_or_else(|| self.refuse(y))
    }

    /// Whether a value has a cell.
    #[inline]
    pub fn accepts(&self, y: impl Into<Number>) -> bool {
        match self.values {
            Values::Floats => self.accept(y.into()).is_some(),
            Values::Integers => integer(y.into()).is_some(),
        }
    }

    /// The cells of all values within `alpha` of x; `alpha` is at most the grid's own.
    pub fn cells(&self, x: impl Into<Number>, alpha: f64) -> Result<RangeInclusive<i64>> {
        self.check_distance(alpha)?;
        self.span(x.into(), alpha).map(|span| span.first..=span.last)
    }

    /// The same for a distance that was checked.
    #[inline(always)]
    pub(super) fn span(&self, x: Number, alpha: f64) -> Result<Span> {
        let span = match self.values {
            Values::Floats => self.accept(x).map(|x| self.float_span(x, alpha)),
            Values::Integers => integer(x).map(|x| self.integer_span(x, alpha as i64)),
        };
        span.ok_or_else(|| self.refuse(x))
    }

    /// Refuses a distance beyond the one it was made for.
    #[inline]
    pub(super) fn check_distance(&self, alpha: f64) -> Result<()> {
        if (0.0..=self.alpha).contains(&alpha) { Ok(()) } else { Err(self.refuse_distance(alpha)) }
    }

    /// Refuses a grid that has other cells, naming the first field that differs.
    pub(super) fn check_alike(&self, other: &Grid) -> Result<()> {
        same("the type of the values", self.values, other.values)?;
        same("the distance (alpha)", self.alpha, other.alpha)?;
        same("the resolution (beta)", self.beta, other.beta)
    }

    /// The least and the greatest cell that a value may have.
    pub(super) fn ends(&self) -> [i64; 2] {
        match self.values {
            Values::Floats => [1 - LIMIT as i64, LIMIT as i64 - 1],
            Values::Integers => [i64::MIN, i64::MAX].map(|y| self.integer_cell(y)),
        }
    }

    /// The value in the middle of a cell.
    pub fn middle(&self, cell: i64) -> Number {
        match self.values {
            Values::Floats => Number::Float(cell as f64 * self.beta),
            Values::Integers => Number::Integer(cell.saturating_mul(self.step)),
        }
    }

    /// The number as a float, if one equals it and has a cell.
    #[inline(always)]
    fn accept(&self, y: Number) -> Option<f64> {
        // False also for what is not a number.
        float(y).filter(|y| (y / self.beta).abs() < LIMIT)
    }

    #[inline]
    fn float_cell(&self, y: f64) -> i64 {
        // Rounded, halves away from zero: the library's way is a call where the processor cannot be relied on to have it.
        let cells = (y / self.beta).clamp(-LIMIT, LIMIT);
        let whole = cells as i64;
        let rest = cells - whole as f64;
        whole + i64::from(rest >= 0.5) - i64::from(rest <= -0.5)
    }

    /// Rounding is monotone, so that the rounded sums would do for floats. Decimals become floats by three more
    /// roundings (x, y, alpha), of half a step at most each: a step further, those that are within alpha as they are
    /// written are so too.
    #[inline]
    fn float_span(&self, x: f64, alpha: f64) -> Span {
        let step = step_at(x.abs() + alpha);
        let (least, greatest) = (x - alpha - step, x + alpha + step);
        Span { first: self.float_cell(least), last: self.float_cell(greatest) }
    }

    /// ⌊(y + ⌊beta/2⌋) / beta⌋, without overflow.
    #[inline]
    fn integer_cell(&self, y: i64) -> i64 {
        let beta = self.step;
        if beta == 1 {
            return y; // the usual case, without a division
        }
        y.div_euclid(beta) + i64::from(y.rem_euclid(beta) + beta / 2 >= beta)
    }

    /// Ends beyond the integers stop at the last: there is no value behind it.
    #[inline]
    fn integer_span(&self, x: i64, alpha: i64) -> Span {
        let (least, greatest) = (x.saturating_sub(alpha), x.saturating_add(alpha));
        Span { first: self.integer_cell(least), last: self.integer_cell(greatest) }
    }

    #[cold]
    fn refuse(&self, y: Number) -> Error {
        Error::Value(match (self.values, y) {
            (_, Number::Float(y)) if !y.is_finite() => {
                format!("{y} is not a number that has neighbours: leave it out")
            }
            (Values::Integers, _) => {
                format!(
                    "this holds 64-bit integers, and {y} is none: leave it out, or build it for floats"
                )
            }
            (Values::Floats, y) if float(y).is_none() => {
                format!("this holds floats, and no float equals {y}: build it for integers")
            }
            (Values::Floats, y) => format!(
                "{y} is too far from zero for steps of {}: the limit is 2^53 steps; take a larger beta",
                self.beta
            ),
        })
    }

    #[cold]
    fn refuse_distance(&self, alpha: f64) -> Error {
        let advice = if alpha > self.alpha { ": build it with a larger alpha" } else { "" };
        let most = self.alpha;
        Error::Value(format!("this was built for distances from 0 to {most}, not {alpha}{advice}"))
    }
}

/// How far apart floats are where this one is. The largest is taken for the one before it, which has one above it.
#[inline]
fn step_at(x: f64) -> f64 {
    let x = x.min(f64::MAX.next_down());
    x.next_up() - x
}

/// The number as a float, if there is one that equals it.
#[inline(always)]
fn float(x: Number) -> Option<f64> {
    match x {
        Number::Float(x) => Some(x),
        Number::Integer(x) => (i128::from(x) == x as f64 as i128).then_some(x as f64),
    }
}

/// The number as an integer, if there is one that equals it.
#[inline(always)]
fn integer(x: Number) -> Option<i64> {
    match x {
        Number::Integer(x) => Some(x),
        Number::Float(x) => {
            let equal = x.fract() == 0.0 && i128::from(x as i64) == x as i128;
            equal.then_some(x as i64)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;

    /// For floats of all sizes, and for those next to halves.
    #[test]
    fn cells_are_rounded_as_the_library_rounds() {
        let grid = Grid::floats(1.0, 1.0).unwrap();
        let mut x = 7;
        for round in 0..2_000_000_u64 {
            x = mix(x ^ round);
            let float = match round % 4 {
                0 => f64::from_bits(x),
                1 => (x >> (x % 64)) as f64 / 2.0,
                2 => ((x >> (x % 64)) as f64 / 2.0).next_down(),
                _ => -((x >> (x % 64)) as f64 / 2.0).next_up(),
            };
            if !float.is_nan() {
                let rounded = float.round().clamp(-LIMIT, LIMIT) as i64;
                assert_eq!(grid.float_cell(float), rounded, "{float:e}");
            }
        }
    }
}
