//! What the bits tell: how full, how many keys, which rate.

use std::fmt;

use super::Bloom;
use crate::sizing::Layout;

/// The filter holds more keys than it was sized for, and its rate is higher than promised.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overfull {
    /// About how many distinct keys it holds.
    pub estimated: f64,
    /// How many it was sized for.
    pub capacity: u64,
    /// The rate of false positives to expect now.
    pub rate_now: f64,
    /// The rate that was promised.
    pub promised: f64,
}

impl fmt::Display for Overfull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A filter whose every bit is set cannot tell.
        let holds = if self.estimated.is_finite() {
            format!("about {:.0} keys", self.estimated)
        } else {
            "more keys than can be told".into()
        };
        write!(
            f,
            "the filter holds {holds} but was sized for {}: expect {} % false positives instead of {} %; \
             build it with a larger n",
            self.capacity,
            percent(self.rate_now),
            percent(self.promised)
        )
    }
}

/// A rate in percent, such that one above 0 does not look like 0.
fn percent(rate: f64) -> String {
    let percent = 100.0 * rate;
    if percent < 0.001 { format!("{percent:.1e}") } else { format!("{percent:.3}") }
}

impl Bloom {
    /// The number of bits that are set.
    pub fn ones(&self) -> u64 {
        self.bits.iter().flat_map(|line| line.0).map(|word| u64::from(word.count_ones())).sum()
    }

    /// The share of bits that are set.
    pub fn fill(&self) -> f64 {
        self.ones() as f64 / self.sizing().bits() as f64
    }

    /// About how many distinct keys the filter holds, from its fill. Infinite when every bit is set.
    pub fn estimated_len(&self) -> f64 {
        let sizing = self.sizing();
        // -0.0 for an empty filter would print as such.
        (-(sizing.bits() as f64) / f64::from(sizing.probes()) * (-self.fill()).ln_1p()).max(0.0)
    }

    /// The rate of false positives to expect now, computed from the bits themselves: the share of all possible
    /// answers that would be "yes".
    pub fn expected_rate_now(&self) -> f64 {
        match self.sizing().layout() {
            Layout::Classic => self.fill().powi(self.sizing().probes() as i32),
            Layout::Blocked => {
                let share = |word: u64| f64::from(word.count_ones()) / 64.0;
                let admitted =
                    self.bits.iter().map(|line| line.0.map(share).iter().product::<f64>());
                admitted.sum::<f64>() / self.bits.len() as f64
            }
        }
    }

    /// A warning when the filter holds more keys than it was sized for, beyond what the uncertainty of the
    /// estimate explains.
    pub fn overfull(&self) -> Option<Overfull> {
        let sizing = self.sizing();
        let capacity = sizing.capacity();
        let estimated = self.estimated_len();
        let (m, k) = (sizing.bits() as f64, f64::from(sizing.probes()));
        // The standard deviation of the estimate at full capacity.
        let load = k * capacity as f64 / m;
        let deviation = (m * (load.exp_m1() - load)).sqrt() / k;
        (estimated > capacity as f64 + 4.0 * deviation + 1.0).then(|| Overfull {
            estimated,
            capacity,
            rate_now: self.expected_rate_now(),
            promised: sizing.expected_rate(),
        })
    }
}
