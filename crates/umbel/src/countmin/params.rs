//! The size of a sketch: eps and delta against rows and columns.

use std::f64::consts::E;

use crate::bloom::{KeyType, same};
use crate::hash::Strategy;
use crate::{Error, Result};

/// The most rows of a sketch.
pub const MAX_DEPTH: u32 = 64;
/// The most counters of a sketch: 2^48 bits when each has eight bytes.
pub const MAX_COUNTERS: u64 = 1 << 42;

/// What defines a sketch: two sketches with equal parameters count the same keys in the same places.
///
/// ```
/// use umbel::CountMinParams;
///
/// let params = CountMinParams::for_error(0.001, 0.01)?; // at most 0.1 % of the total too much, for 99 keys in 100
/// assert_eq!((params.width(), params.depth()), (2719, 5));
/// # Ok::<(), umbel::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountMinParams {
    width: u64,
    depth: u32,
    seed: u64,
    key_type: KeyType,
}

impl CountMinParams {
    /// The sketch whose estimates exceed the true count by at most `eps` times the total weight, but for a share `delta` of
    /// the keys: w = ⌈e/eps⌉, d = ⌈ln 1/delta⌉.
    pub fn for_error(eps: f64, delta: f64) -> Result<CountMinParams> {
        CountMinParams::with_size(columns(eps, 1)?, rows(delta)?)
    }

    /// The sketch of `width` counters in each of `depth` rows.
    pub fn with_size(width: u64, depth: u32) -> Result<CountMinParams> {
        check_size(width, depth)?;
        Ok(CountMinParams { width, depth, seed: 0, key_type: KeyType::Bytes })
    }

    /// The same with another seed of the hash. A service that takes keys from strangers chooses its own, so that nobody can
    /// prepare keys that fall into one counter.
    pub fn with_seed(self, seed: u64) -> CountMinParams {
        CountMinParams { seed, ..self }
    }

    /// The same for another type of keys.
    pub fn with_key_type(self, key_type: KeyType) -> CountMinParams {
        CountMinParams { key_type, ..self }
    }

    /// w: counters a row.
    pub fn width(&self) -> u64 {
        self.width
    }

    /// d: rows.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// w · d: all counters.
    pub fn counters(&self) -> u64 {
        self.width * u64::from(self.depth)
    }

    /// The seed of the hash.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// What the keys are.
    pub fn key_type(&self) -> KeyType {
        self.key_type
    }

    /// eps: the share of the total weight by which an estimate may be too high.
    pub fn epsilon(&self) -> f64 {
        E / self.width as f64
    }

    /// delta: the share of keys whose estimate may be higher still.
    pub fn delta(&self) -> f64 {
        (-f64::from(self.depth)).exp()
    }

    /// Refuses parameters under which the same key has other counters, naming the first that differs.
    pub(crate) fn check_alike(&self, other: &CountMinParams) -> Result<()> {
        same("the number of columns (w)", self.width, other.width)?;
        same("the number of rows (d)", self.depth, other.depth)?;
        same("the hash strategy", hashing(self.seed), hashing(other.seed))?;
        same("the key type", self.key_type, other.key_type)
    }
}

/// The seed as messages name it.
pub(crate) fn hashing(seed: u64) -> Strategy {
    Strategy::Xxh3 { seed }
}

/// ⌈parts · e/eps⌉: the columns that keep the errors of `parts` counters together below eps.
pub(crate) fn columns(eps: f64, parts: u32) -> Result<u64> {
    if !(eps > 0.0 && eps < 1.0) {
        return Err(Error::Sizing(format!(
            "eps, the error as a share of the total, lies between 0 and 1, both excluded, for example 0.001; not {eps}"
        )));
    }
    let columns = (f64::from(parts) * E / eps).ceil();
    if columns > MAX_COUNTERS as f64 {
        return Err(too_large(columns));
    }
    Ok(columns as u64)
}

/// ⌈ln 1/delta⌉. A share below 2^-64 is more than a hash of 64 bits can carry.
pub(crate) fn rows(delta: f64) -> Result<u32> {
    if !(delta > 0.0 && delta < 1.0) {
        return Err(Error::Sizing(format!(
            "delta, the share of keys that may exceed the error, lies between 0 and 1, both excluded, for example 0.01; \
             not {delta}"
        )));
    }
    if delta < 2f64.powi(-64) {
        return Err(Error::Sizing(format!(
            "a 64-bit hash cannot carry a delta of {delta:e}: ask for at least 1e-19"
        )));
    }
    Ok((-delta.ln()).ceil().max(1.0) as u32)
}

pub(crate) fn check_size(width: u64, depth: u32) -> Result<()> {
    if width == 0 {
        return Err(Error::Sizing("a sketch needs at least 1 column (w)".into()));
    }
    if !(1..=MAX_DEPTH).contains(&depth) {
        return Err(Error::Sizing(format!(
            "the number of rows (d) lies between 1 and {MAX_DEPTH}; it is not {depth}"
        )));
    }
    let counters = u128::from(width) * u128::from(depth);
    if counters > u128::from(MAX_COUNTERS) || usize::try_from(counters * 8).is_err() {
        return Err(too_large(counters as f64));
    }
    Ok(())
}

pub(crate) fn too_large(counters: f64) -> Error {
    Error::Sizing(format!(
        "{counters:.3e} counters are more than one sketch holds (2^48 bits, or the address space): \
         ask for a larger eps or delta, or fewer columns or rows"
    ))
}
