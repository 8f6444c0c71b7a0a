//! How often bands are found, and what so many of them come to.

use crate::probability::binomial_tail;

/// The probability that a band is found among `n` others of m bits and q probes, though none of them is the same: the rate of a Bloom filter.
pub(super) fn found_anyway(n: u64, bits: u64, probes: u32) -> f64 {
    let set = n as f64 * f64::from(probes);
    // One bit of one is set by anything.
    let fill = match bits {
        1 => 1.0,
        bits => -(set * (-1.0 / bits as f64).ln_1p()).exp_m1(),
    };
    // 64-bit hashes of different bands may meet.
    (fill.powi(probes as i32) + n as f64 / 2f64.powi(64)).min(1.0)
}

/// The fewest bits, and their probes, at which a band is found anyway with this probability.
pub(super) fn fewest_bits(n: u64, anyway: f64) -> (f64, u32) {
    let best = -anyway.log2();
    let size = |probes: f64| {
        let probes = probes.clamp(1.0, 64.0);
        (-probes * n as f64 / (-anyway.powf(1.0 / probes)).ln_1p(), probes as u32)
    };
    let (below, above) = (size(best.floor()), size(best.ceil()));
    if below.0 <= above.0 { below } else { above }
}

/// At least `threshold` of `bands`, each found with probability `found`.
pub(super) fn binomial_from(threshold: u32, bands: u32, found: f64) -> f64 {
    binomial_tail(threshold.into(), bands.into(), found)
}

/// Fewer than `threshold` of `bands`, each found with probability `found`.
pub(super) fn binomial_below(threshold: u32, bands: u32, found: f64) -> f64 {
    binomial_tail(u64::from(bands - threshold) + 1, bands.into(), 1.0 - found)
}
