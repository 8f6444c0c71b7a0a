//! What a filter can say of itself.

use super::Similar;
use crate::bloom::Overfull;

impl Similar {
    /// The share of bits that are set.
    pub fn fill(&self) -> f64 {
        let words = self.bits.iter().flat_map(|line| line.0);
        words.map(|word| u64::from(word.count_ones())).sum::<u64>() as f64
            / self.params.bits() as f64
    }

    /// About how many items it holds that have nothing in common, from its fill: similar items share bands. Infinite when every bit is set.
    pub fn estimated_len(&self) -> f64 {
        let shape = self.params.shape();
        // -0.0 for an empty filter would print as such.
        (-(shape.bits as f64) / f64::from(shape.probes) * (-self.fill()).ln_1p()).max(0.0)
    }

    /// The rate of false positives to expect now, at most: from the bits, and as if all items that were given lay just at the far distance.
    pub fn expected_rate_now(&self) -> f64 {
        let shape = self.params.shape();
        self.params.false_positives_from(self.inserted, self.fill().powi(shape.probes as i32))
    }

    /// A warning when it holds more items than it was sized for, beyond what the uncertainty of the estimate explains.
    pub fn overfull(&self) -> Option<Overfull> {
        let capacity = self.params.n();
        if self.inserted <= capacity {
            return None;
        }
        let (shape, estimated) = (self.params.shape(), self.estimated_len());
        let (m, q) = (self.params.bits() as f64, f64::from(shape.probes));
        let load = q * capacity as f64 / shape.bits as f64;
        // The standard deviation of the estimate at full capacity.
        let deviation = (m * (load.exp_m1() - load)).sqrt() / (q * f64::from(shape.bands));
        (estimated > capacity as f64 + 4.0 * deviation + 1.0).then(|| Overfull {
            estimated,
            capacity,
            rate_now: self.expected_rate_now(),
            promised: self.params.false_positives(),
        })
    }
}
