//! Heavy hitters: which keys come most often, found in a fixed number of places.
//!
//! **When.** You want the keys themselves: the top twenty, or all that make up more than a thousandth of the stream, without
//! keeping the rest.
//!
//! **How.** SpaceSaving: m places for keys. A key that is kept counts up; a new one takes the place of the one with the least count,
//! and starts from that count, which is noted as its error.
//!
//! ```
//! use umbel::Heavy;
//!
//! let mut pages = Heavy::new(100)?;
//! for page in ["/", "/", "/about", "/"] {
//!     pages.add(page.as_bytes(), 1);
//! }
//! let top = pages.top(1);
//! assert_eq!((&*top[0].key, top[0].count, top[0].certain), (&b"/"[..], 3, true));
//! # Ok::<(), umbel::Error>(())
//! ```
//!
//! **Bounds.** With N the total weight: every key above N/m is kept; a count is never below the true one, and above it by at most its
//! error, which is at most N/m. These bounds are certain, and they survive merging. The kept keys themselves depend on the order of
//! the stream and of merging; only their bounds do not.
//!
//! References: A. Metwally, D. Agrawal, A. El Abbadi, Efficient computation of frequent and top-k elements in data streams, 2005;
//! P. Agarwal and others, Mergeable summaries, 2012.

mod merge;
mod places;
mod query;
mod store;

pub use query::{Above, HeavyKey};

pub(crate) use places::Place;

use crate::bloom::KeyType;
use crate::{Error, Metadata, Result};
use places::Places;

/// The keys that come most often. See the [module](self).
#[derive(Clone)]
pub struct Heavy {
    kept: Places,
    key_type: KeyType,
    total: u64,
    inserted: u64,
    metadata: Metadata,
}

/// The same places, keys and bounds; metadata and the number of calls do not count.
impl PartialEq for Heavy {
    fn eq(&self, other: &Heavy) -> bool {
        (self.key_type, self.places(), self.total) == (other.key_type, other.places(), other.total)
            && self.keys() == other.keys()
    }
}

impl Eq for Heavy {}

impl Heavy {
    /// An empty summary that keeps `places` keys.
    pub fn new(places: u32) -> Result<Heavy> {
        if places == 0 {
            return Err(Error::Sizing("heavy hitters need at least 1 place".into()));
        }
        Ok(Heavy {
            kept: Places::new(places),
            key_type: KeyType::Bytes,
            total: 0,
            inserted: 0,
            metadata: Metadata::default(),
        })
    }

    /// An empty summary that keeps every key above the share `phi` of the total weight: ⌈1/phi⌉ places.
    pub fn for_share(phi: f64) -> Result<Heavy> {
        check_share(phi)?;
        let places = (1.0 / phi).ceil();
        if places > f64::from(u32::MAX) {
            return Err(Error::Sizing(format!(
                "a share of {phi:e} needs more than 2^32 places: ask for a larger share"
            )));
        }
        Heavy::new(places as u32)
    }

    /// The same for another type of keys.
    pub fn with_key_type(self, key_type: KeyType) -> Heavy {
        Heavy { key_type, ..self }
    }

    /// Adds a key with a weight.
    pub fn add(&mut self, key: &[u8], weight: u64) {
        self.count(1, weight);
        if weight > 0 {
            self.kept.add(key, weight);
        }
    }

    /// Adds an integer key with a weight: the same key as `key.to_le_bytes()`.
    pub fn add_u64(&mut self, key: u64, weight: u64) {
        self.add(&key.to_le_bytes(), weight);
    }

    /// m: the number of places.
    pub fn places(&self) -> u32 {
        self.kept.capacity()
    }

    /// The number of keys that are kept.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Whether no key is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What the keys are.
    pub fn key_type(&self) -> KeyType {
        self.key_type
    }

    /// N: the sum of all weights, 2^64 - 1 at most.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The number of keys added, also those that came before; it adds up when summaries are merged.
    pub fn inserted(&self) -> u64 {
        self.inserted
    }

    /// N/m, rounded down: a count is too high by at most this, and a key that is not kept has come to at most this.
    pub fn bound(&self) -> u64 {
        self.total / u64::from(self.places())
    }

    /// The most that a key which is not kept can have come to: the least count, or nothing as long as places are free. At most
    /// [`bound`](Heavy::bound).
    pub fn missed(&self) -> u64 {
        self.kept.missed()
    }

    /// Whether the total has reached 2^64 - 1: from there on counts stand for "this or more".
    pub fn is_saturated(&self) -> bool {
        self.total == u64::MAX
    }

    /// The text pairs that travel with the summary.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The text pairs, to be changed.
    pub fn metadata_mut(&mut self) -> &mut Metadata {
        &mut self.metadata
    }

    fn count(&mut self, calls: u64, weight: u64) {
        self.inserted = self.inserted.saturating_add(calls);
        self.total = self.total.saturating_add(weight);
    }
}

pub(super) fn check_share(phi: f64) -> Result<()> {
    if phi > 0.0 && phi < 1.0 {
        return Ok(());
    }
    Err(Error::Sizing(format!(
        "a share of the total lies between 0 and 1, both excluded, for example 0.001; not {phi}"
    )))
}

impl std::fmt::Debug for Heavy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Heavy")
            .field("places", &self.places())
            .field("len", &self.len())
            .field("total", &self.total)
            .field("inserted", &self.inserted)
            .field("metadata", &self.metadata)
            .finish_non_exhaustive()
    }
}
