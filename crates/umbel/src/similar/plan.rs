//! The fewest bits that keep a promise: t, tau, k, q and m by exact binomials.
//!
//! ```text
//! for each t       c = agreement(close, t), u = n · agreement(far, t): with u ≥ c nothing can tell close from far
//!   for each tau     k = the fewest bands with P[Bin(k, c) < tau] ≤ fn
//!                    p = the largest probability with P[Bin(k, p) ≥ tau] ≤ fp; u and the Bloom filter of a band share it
//!                    q, m = the smallest such Bloom filter
//! ```
//!
//! u adds up the probabilities of all items, so that it holds however they lie to each other. False negatives are counted from the close
//! item alone, so that they stay where others are missing: a filter that counts on being full misses more while it is not.

use super::params::{MAX_BANDS, MAX_NUMBERS, MAX_SAMPLES, Promise, Shape};
use super::rates::{binomial_below, binomial_from, fewest_bits};
use super::space::Space;
use crate::sizing::MAX_BITS;
use crate::{Error, Result};

/// A share of the false positives that is not worth a thought.
const NEVER: f64 = 1e-6;
/// Thresholds up to this one find a good shape soon; it then tells which of the others need not be tried.
const FIRST_THRESHOLDS: u32 = 8;
/// Beyond this one nothing is gained any more.
const ALL_THRESHOLDS: u32 = 256;

/// The smallest shape, or why there is none and what could be had.
pub(super) fn shape(space: Space, n: u64, promise: &Promise) -> Result<Shape> {
    let mut best = Best { bits: MAX_BITS as f64, shape: None };
    search(space, n, promise, FIRST_THRESHOLDS, &mut best);
    search(space, n, promise, ALL_THRESHOLDS, &mut best);
    best.shape.ok_or_else(|| refusal(space, n, promise))
}

fn search(space: Space, n: u64, promise: &Promise, thresholds: u32, best: &mut Best) {
    for width in widths(space, promise) {
        Search { space, n, promise, width, thresholds }.run(best);
    }
}

fn is_reached(space: Space, n: u64, promise: &Promise) -> bool {
    let mut best = Best { bits: MAX_BITS as f64, shape: None };
    search(space, n, promise, FIRST_THRESHOLDS, &mut best);
    best.shape.is_some()
}

/// Steps to try: from those that keep close items together to those that hardly tell them from far ones.
fn widths(space: Space, promise: &Promise) -> Vec<f64> {
    let Space::Euclid { .. } = space else { return vec![0.0] };
    let mut width = promise.far.min(2.0 * promise.close.max(promise.far / 64.0));
    let mut widths = Vec::new();
    while width <= 8.0 * promise.far && width.is_finite() {
        widths.push(width);
        width *= 1.25;
    }
    widths
}

struct Best {
    bits: f64,
    shape: Option<Shape>,
}

struct Search<'a> {
    space: Space,
    n: u64,
    promise: &'a Promise,
    width: f64,
    /// The largest threshold to try.
    thresholds: u32,
}

impl Search<'_> {
    fn run(&self, best: &mut Best) {
        let most = self.most_samples();
        let Some(first) = (1..=most).find(|&t| self.far(t) < self.close(t)) else { return };
        // Where very many samples are needed, one more or less does not matter.
        for t in (first..=most).step_by(1 + first as usize / 128) {
            // Once far items hardly ever agree, more samples only keep close ones apart.
            let enough = self.far(t) < NEVER * self.promise.false_positives;
            if !self.with_samples(t, best) || enough {
                return;
            }
        }
    }

    fn most_samples(&self) -> u32 {
        match self.space {
            Space::Hamming { bits } => bits.min(MAX_BANDS),
            _ => MAX_BANDS,
        }
    }

    fn most_bands(&self, t: u32) -> u32 {
        let samples = match self.space.dimension() {
            Some(dimension) => MAX_SAMPLES.min(MAX_NUMBERS / u64::from(dimension)),
            None => MAX_SAMPLES,
        };
        (samples / u64::from(t)).min(MAX_BANDS.into()) as u32
    }

    fn close(&self, t: u32) -> f64 {
        self.space.agreement(self.promise.close, t, self.width)
    }

    fn far(&self, t: u32) -> f64 {
        self.n as f64 * self.space.far_agreement(self.promise.far, t, self.width)
    }

    /// The best with t samples; false when more of them are not worth a try.
    fn with_samples(&self, t: u32, best: &mut Best) -> bool {
        let (close, far) = (self.close(t), self.far(t));
        // At the threshold a band may be found by chance with less than the probability of a close one: no band has fewer bits.
        let least = fewest_bits(self.n, close.min(0.999)).0;
        let most = self.most_bands(t);
        let mut bands = 1;
        for tau in 1..=self.thresholds {
            let Some(k) = self.fewest_bands(tau, bands, most, close) else { return tau > 1 };
            bands = k;
            if f64::from(k) * least >= best.bits {
                return tau > 1;
            }
            let found = self.most_found(tau, k, close);
            if found <= far {
                continue;
            }
            let (bits, probes) = fewest_bits(self.n, 1.0 - (1.0 - found) / (1.0 - far));
            let bits = bits.ceil() + 1.0;
            if f64::from(k) * bits < best.bits {
                let (bands, samples, threshold, width) = (k, t, tau, self.width);
                let shape = Shape { bands, samples, threshold, probes, bits: bits as u64, width };
                *best = Best { bits: f64::from(k) * bits, shape: Some(shape) };
            }
        }
        true
    }

    /// The fewest bands, from `least` on, of which tau are found in all but the allowed share.
    fn fewest_bands(&self, tau: u32, least: u32, most: u32, close: f64) -> Option<u32> {
        let enough = |k: u32| binomial_below(tau, k, close) <= self.promise.false_negatives;
        let mut low = least.max(tau);
        let mut high = low;
        while high < most && !enough(high) {
            (low, high) = (high + 1, most.min(high + high / 4 + 1));
        }
        if low > most || !enough(high.min(most)) {
            return None;
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if enough(middle) { high = middle } else { low = middle + 1 }
        }
        Some(low)
    }

    /// The largest probability at which tau of k bands are found in the allowed share only; it is below that of a close one.
    fn most_found(&self, tau: u32, k: u32, close: f64) -> f64 {
        let (mut low, mut high) = (0.0, close);
        for _ in 0..50 {
            let middle = (low + high) / 2.0;
            if binomial_from(tau, k, middle) <= self.promise.false_positives {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }
}

/// What cannot be reached, and the nearest that can.
fn refusal(space: Space, n: u64, promise: &Promise) -> Error {
    let Promise { close, far, false_positives, false_negatives } = *promise;
    let greatest = if space.greatest() > 2.0 { 1000.0 * far } else { space.greatest() };
    let with_far = |far| Promise { far, ..*promise };
    let with_close = |close| Promise { close, ..*promise };
    let advice = if let Some(far) =
        bisect(far, greatest, |far| is_reached(space, n, &with_far(far)))
    {
        // Rounded to where it can still be reached.
        format!(
            "a far distance of {} could be told from {close}",
            ((1e3 * far).ceil() / 1e3).min(greatest)
        )
    } else if let Some(close) = bisect(close, 0.0, |close| is_reached(space, n, &with_close(close)))
    {
        format!("a close distance of {} could be told from {far}", (1e4 * close).floor() / 1e4)
    } else {
        "ask for higher rates or fewer items".into()
    };
    Error::Sizing(format!(
        "{close} and {far} lie too near to each other to be told apart among {n} {space} with {false_positives} false positives and \
         {false_negatives} false negatives: {advice}"
    ))
}

/// The value nearest to `from`, on the way to `to`, that can be reached; none if not even `to` can.
fn bisect(from: f64, to: f64, reached: impl Fn(f64) -> bool) -> Option<f64> {
    if !reached(to) {
        return None;
    }
    let (mut wrong, mut right) = (from, to);
    for _ in 0..8 {
        let middle = (wrong + right) / 2.0;
        if reached(middle) { right = middle } else { wrong = middle }
    }
    Some(right)
}
