//! What the kept keys tell: the top k, all above a share.

use std::sync::Arc;

use super::places::Place;
use super::{Heavy, check_share};
use crate::Result;

/// A kept key with the bounds of what it came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeavyKey {
    /// The key.
    pub key: Arc<[u8]>,
    /// What it came to at most.
    pub count: u64,
    /// What it came to at least.
    pub least: u64,
    /// Whether it certainly belongs to what was asked for; otherwise it may.
    pub certain: bool,
}

impl HeavyKey {
    fn new(place: Place, certain: impl Fn(u64) -> bool) -> HeavyKey {
        let least = place.count - place.error;
        HeavyKey { key: place.key, count: place.count, least, certain: certain(least) }
    }
}

/// The keys above a share of the total weight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Above {
    /// Those that are above it, or may be: by descending count, then by their bytes.
    pub keys: Vec<HeavyKey>,
    /// Whether every key above the share is among them. It is if there are at least 1/phi places.
    pub complete: bool,
}

impl Heavy {
    /// The `k` keys with the highest counts, the highest first. A key is certain when it is among the true top k whatever the
    /// errors are.
    pub fn top(&self, k: usize) -> Vec<HeavyKey> {
        let mut places = self.kept.sorted();
        let next = places.get(k).map_or(0, |place| place.count).max(self.missed());
        places.truncate(k);
        places.into_iter().map(|place| HeavyKey::new(place, |least| least >= next)).collect()
    }

    /// The keys that came to more than a share `phi` of the total weight, or may have.
    pub fn above(&self, phi: f64) -> Result<Above> {
        check_share(phi)?;
        // A whole number is above a limit when it is above the limit's whole part.
        let limit = (phi * self.total as f64) as u64;
        let places = self.kept.sorted().into_iter().filter(|place| place.count > limit);
        let keys = places.map(|place| HeavyKey::new(place, |least| least > limit)).collect();
        Ok(Above { keys, complete: self.missed() <= limit })
    }

    /// All kept keys, the highest count first; certain are those whose count is exact.
    pub fn keys(&self) -> Vec<HeavyKey> {
        let exact = |place: Place| {
            let count = place.count;
            HeavyKey::new(place, |least| least == count)
        };
        self.kept.sorted().into_iter().map(exact).collect()
    }

    /// What a key came to at least and at most. For a key that is not kept: nothing, and [`missed`](Heavy::missed).
    pub fn bounds(&self, key: &[u8]) -> (u64, u64) {
        match self.kept.get(key) {
            Some(place) => (place.count - place.error, place.count),
            None => (0, self.missed()),
        }
    }
}
