//! What is promised, and the shape that keeps it.

use super::plan;
use super::rates::{binomial_below, binomial_from, found_anyway};
use super::space::Space;
use crate::bloom::same;
use crate::sizing::MAX_BITS;
use crate::{Error, Result};

/// The most bands, and the most samples of one.
pub(super) const MAX_BANDS: u32 = 1 << 16;
/// The most samples of all bands.
pub(super) const MAX_SAMPLES: u64 = 1 << 20;
/// The most numbers in the samples of vectors: 512 MiB of them.
pub(super) const MAX_NUMBERS: u64 = 1 << 27;
const MAX_PROBES: u32 = 64;

/// What a filter promises: two distances, and how often it may be wrong on either side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Promise {
    /// Items up to this distance are close.
    pub close: f64,
    /// Items from this distance on are far; between the two either answer is right.
    pub far: f64,
    /// The share of questions with nothing nearer than far that are answered "yes" all the same.
    pub false_positives: f64,
    /// The share of questions with something close that are answered "no" all the same.
    pub false_negatives: f64,
}

impl Promise {
    /// These distances, with one wrong answer in a hundred on either side.
    pub fn new(close: f64, far: f64) -> Promise {
        Promise { close, far, false_positives: 0.01, false_negatives: 0.01 }
    }

    pub(super) fn check(&self, space: Space) -> Result<()> {
        check_distances(space, self.close, self.far)?;
        for (name, rate) in
            [("false positives", self.false_positives), ("false negatives", self.false_negatives)]
        {
            if !(rate > 0.0 && rate < 1.0) {
                return Err(Error::Sizing(format!(
                    "a rate of {name} lies between 0 and 1, both excluded, for example 0.01; not {rate}"
                )));
            }
        }
        if self.false_positives + self.false_negatives >= 1.0 {
            return Err(Error::Sizing(
                "rates that together come to 1 are those of a coin: ask for lower ones".into(),
            ));
        }
        Ok(())
    }
}

fn check_distances(space: Space, close: f64, far: f64) -> Result<()> {
    space.check()?;
    let greatest = space.greatest();
    let fits = close >= 0.0 && close.is_sign_positive() && close < far && far <= greatest;
    if !fits {
        let limit = if greatest < 3.0 { format!(", at most {greatest}") } else { String::new() };
        return Err(Error::Sizing(format!(
            "the close distance is from 0 on and below the far one{limit}: {close} and {far} are not"
        )));
    }
    Ok(())
}

/// The numbers that decide how items become bits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    /// k: bands.
    pub bands: u32,
    /// t: samples a band.
    pub samples: u32,
    /// tau: so many bands must be found. 1 is LSHBloom, k asks for all, between is a distance-sensitive filter of Kirsch and Mitzenmacher.
    pub threshold: u32,
    /// q: probes a band. Each band is a Bloom filter of its own.
    pub probes: u32,
    /// m: bits a band.
    pub bits: u64,
    /// The width of a step for Euclid, 0 for the others.
    pub width: f64,
}

impl Shape {
    /// All bits: k · m.
    pub(super) fn total_bits(&self) -> u128 {
        u128::from(self.bands) * u128::from(self.bits)
    }

    fn check(&self, space: Space) -> Result<()> {
        let refuse = |what: String| Err(Error::Sizing(what));
        let samples = u64::from(self.bands) * u64::from(self.samples);
        let numbers = space.dimension().map(|dimension| samples.saturating_mul(dimension.into()));
        match space {
            _ if !(1..=MAX_BANDS).contains(&self.bands) => {
                refuse(format!("bands are 1 to 2^16, not {}", self.bands))
            }
            _ if !(1..=MAX_BANDS).contains(&self.samples) || samples > MAX_SAMPLES => {
                refuse(format!("samples are 1 to 2^16 a band and 2^20 in all, not {samples}"))
            }
            _ if !(1..=self.bands).contains(&self.threshold) => refuse(format!(
                "the threshold is 1 to {}, the number of bands; not {}",
                self.bands, self.threshold
            )),
            _ if !(1..=MAX_PROBES).contains(&self.probes) => {
                refuse(format!("probes are 1 to {MAX_PROBES} a band, not {}", self.probes))
            }
            _ if self.bits == 0 || self.total_bits() > u128::from(MAX_BITS) => {
                refuse("bits are at least 1 a band, and at most 2^48 in all".into())
            }
            Space::Hamming { bits } if self.samples > bits => {
                refuse(format!("{} positions cannot be sampled from {bits} bits", self.samples))
            }
            Space::Euclid { .. } if !(self.width > 0.0 && self.width.is_finite()) => {
                refuse(format!("the width of a step is above 0, not {}", self.width))
            }
            Space::Euclid { .. } if numbers > Some(MAX_NUMBERS) => refuse(too_many_numbers()),
            Space::Euclid { .. } => Ok(()),
            _ if self.width.to_bits() != 0 => refuse("only Euclid has steps with a width".into()),
            _ if numbers > Some(MAX_NUMBERS) => refuse(too_many_numbers()),
            _ => Ok(()),
        }
    }
}

fn too_many_numbers() -> String {
    "the samples of such long vectors need more than 2^27 numbers".into()
}

/// The space, the number of items, the distances, the shape, and the seed of the samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Params {
    space: Space,
    n: u64,
    close: f64,
    far: f64,
    shape: Shape,
    seed: u64,
}

impl Params {
    /// The fewest bits that keep the promise for `n` items. Refused if storing the items takes fewer:
    /// see [`at_any_cost`](Params::at_any_cost).
    pub fn new(space: Space, n: u64, promise: &Promise) -> Result<Params> {
        let params = Params::at_any_cost(space, n, promise)?;
        if let Some(bits) = space.item_bits() {
            params.check_worth(bits as f64)?;
        }
        Ok(params)
    }

    /// The same, whatever the items themselves would take.
    pub fn at_any_cost(space: Space, n: u64, promise: &Promise) -> Result<Params> {
        check_items(n)?;
        promise.check(space)?;
        let shape = plan::shape(space, n, promise)?;
        Params::with_shape(space, n, promise.close, promise.far, shape)
    }

    /// A shape of the caller's choice; the rates follow from it.
    pub fn with_shape(space: Space, n: u64, close: f64, far: f64, shape: Shape) -> Result<Params> {
        check_items(n)?;
        check_distances(space, close, far)?;
        shape.check(space)?;
        Ok(Params { space, n, close, far, shape, seed: 0 })
    }

    /// The same with another seed: other samples, other bits. A service that takes items from strangers chooses its own.
    pub fn with_seed(self, seed: u64) -> Params {
        Params { seed, ..self }
    }

    /// Refuses a filter that costs more than its items, which take `item_bits` each.
    pub fn check_worth(&self, item_bits: f64) -> Result<()> {
        let bits = self.bits_per_item();
        if bits > item_bits {
            return Err(Error::Sizing(format!(
                "this filter would take {bits:.0} bits an item, and the items themselves {item_bits:.0}: \
                 store them, or ask for less (a larger gap between close and far, higher rates)"
            )));
        }
        Ok(())
    }

    /// What the items are.
    pub fn space(&self) -> Space {
        self.space
    }

    /// n: the number of items up to which the rates hold.
    pub fn n(&self) -> u64 {
        self.n
    }

    /// Items up to this distance are close.
    pub fn close(&self) -> f64 {
        self.close
    }

    /// Items from this distance on are far.
    pub fn far(&self) -> f64 {
        self.far
    }

    /// Bands, samples, threshold, probes and bits.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The seed of the samples.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// All bits of the filter.
    pub fn bits(&self) -> u64 {
        self.shape.total_bits() as u64
    }

    /// Bits for each of the n items.
    pub fn bits_per_item(&self) -> f64 {
        self.bits() as f64 / self.n as f64
    }

    /// The rate of false positives when it holds n items, all of them far from the one asked for; at most, over all seeds.
    pub fn false_positives(&self) -> f64 {
        self.false_positives_at(self.n)
    }

    /// The same when it holds `n` items.
    pub fn false_positives_at(&self, n: u64) -> f64 {
        let Shape { probes, bits, .. } = self.shape;
        self.false_positives_from(n, found_anyway(n, bits, probes))
    }

    /// The same, where a band that nobody put there is found with probability `anyway`.
    pub(super) fn false_positives_from(&self, n: u64, anyway: f64) -> f64 {
        let Shape { bands, samples, threshold, width, .. } = self.shape;
        let one = self.space.far_agreement(self.far, samples, width);
        let agree = (n as f64 * one).min(1.0);
        binomial_from(threshold, bands, 1.0 - (1.0 - agree) * (1.0 - anyway))
    }

    /// The rate of false negatives, whatever else it holds: an item is asked for that is just close to a stored one.
    pub fn false_negatives(&self) -> f64 {
        let Shape { bands, samples, threshold, width, .. } = self.shape;
        binomial_below(threshold, bands, self.space.agreement(self.close, samples, width))
    }

    /// Refuses parameters under which items have other bits.
    pub(super) fn check_alike(&self, other: &Params) -> Result<()> {
        let (ours, theirs) = (self.shape, other.shape);
        same("the metric", self.space.metric(), other.space.metric())?;
        same("the items", self.space.to_string(), other.space.to_string())?;
        same("the close distance", self.close, other.close)?;
        same("the far distance", self.far, other.far)?;
        same("the number of bands (k)", ours.bands, theirs.bands)?;
        same("the samples a band (t)", ours.samples, theirs.samples)?;
        same("the threshold (tau)", ours.threshold, theirs.threshold)?;
        same("the probes a band (q)", ours.probes, theirs.probes)?;
        same("the bits a band (m)", ours.bits, theirs.bits)?;
        same("the width of a step", ours.width, theirs.width)?;
        same("the seed of the samples", self.seed, other.seed)
    }

    /// Sized for so many items at least.
    pub(super) fn raise(&mut self, n: u64) {
        self.n = self.n.max(n);
    }
}

fn check_items(n: u64) -> Result<()> {
    if n == 0 {
        return Err(Error::Sizing("a filter for 0 items cannot be sized: give at least 1".into()));
    }
    Ok(())
}
