//! What there is to say about a running service.

use umbel::bloom::Overfull;

use crate::Sketch;

/// How things stand.
#[derive(Debug, Clone, PartialEq)]
pub struct Status {
    /// Seconds since the start.
    pub seconds: f64,
    /// Lines taken in since the start.
    pub trained: u64,
    /// Lines taken in a second, now.
    pub trained_per_second: Option<f64>,
    /// Training lines that could not be used: empty, or over the limit.
    pub unused: u64,
    /// Questions answered since the start.
    pub asked: u64,
    /// Questions answered a second, now.
    pub asked_per_second: Option<f64>,
    /// Connections now.
    pub connections: usize,
    /// The snapshot that counts.
    pub snapshot: Option<u64>,
    /// What the sketch tells of itself.
    pub facts: Facts,
}

/// What a sketch tells of itself.
#[derive(Debug, Clone, PartialEq)]
pub enum Facts {
    /// A filter.
    Filter {
        /// Keys taken in, also by earlier processes.
        inserted: Option<u64>,
        /// The share of bits that are set.
        fill: f64,
        /// About how many different keys it holds.
        estimated_keys: f64,
        /// The rate of false positives to expect now.
        expected_rate_now: f64,
        /// Whether it is fuller than it was sized for.
        overfull: Option<Overfull>,
    },
    /// A count-min sketch.
    Count {
        /// Keys taken in, also by earlier processes.
        inserted: u64,
        /// How much too high an estimate may be now,
        bound: u64,
        /// but for this share of the keys.
        delta: f64,
    },
}

impl Facts {
    /// Reads all of the sketch: not under a lock.
    pub(crate) fn of(sketch: &Sketch) -> Facts {
        match sketch {
            Sketch::Filter(filter) => Facts::Filter {
                inserted: filter.inserted(),
                fill: filter.fill(),
                estimated_keys: filter.estimated_len(),
                expected_rate_now: filter.expected_rate_now(),
                overfull: filter.overfull(),
            },
            Sketch::Count(count) => Facts::Count {
                inserted: count.inserted(),
                bound: count.bound(),
                delta: count.params().delta(),
            },
        }
    }
}
