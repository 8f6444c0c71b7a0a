//! Bloom filters: "certainly not" or "probably yes", from about ten bits a key.
//!
//! **When.** You have many keys, ask often, and can live with a small, chosen share of wrong "yes" answers; a "no" is
//! always right. Nothing can be removed.
//!
//! **Cost.** At 1 %: 10.1 bits a key in the blocked layout, and one cache line a lookup; 9.6 bits in the classic
//! layout, and up to seven lines. See [`sizing`](crate::sizing).
//!
//! ```
//! use umbel::Bloom;
//!
//! let mut seen = Bloom::new(1_000_000, 0.01)?;
//! assert!(seen.insert(b"tt0073537")); // new
//! assert!(!seen.insert(b"tt0073537")); // seen before
//! assert!(seen.contains(b"tt0073537"));
//! assert!(!seen.contains(b"tt0073604"));
//! # Ok::<(), umbel::Error>(())
//! ```
//!
//! Many keys at once are several times faster: hashes are worked out and memory is asked for lines long before they are
//! needed.
//!
//! ```
//! use umbel::{Bloom, Keys};
//!
//! let mut seen = Bloom::for_integers(1_000_000, 0.01)?;
//! seen.insert_batch(Keys::U64(&[1, 2, 3]))?;
//! let mut answers = [false; 2];
//! seen.contains_batch(Keys::U64(&[3, 4]), &mut answers)?;
//! assert_eq!(answers, [true, false]);
//! # Ok::<(), umbel::Error>(())
//! ```
//!
//! References: B. Bloom, Space/time trade-offs in hash coding with allowable errors, 1970; F. Putze, P. Sanders,
//! J. Singler, Cache-, hash- and space-efficient Bloom filters, 2007.

mod algebra;
mod batch;
mod blocked;
mod classic;
mod facts;
mod gaps;
mod keys;
mod params;
mod partial;
mod shard;
mod store;
mod together;

pub use facts::Overfull;
pub use keys::{Keys, Span};
pub(crate) use params::same;
pub use params::{KeyType, Params};
pub use partial::{Coding, Indexes, Partial, SLICE_BITS};
pub use shard::{Router, Shard};
pub use together::contains_together;

use crate::hash::{Strategy, xxh3};
use crate::memory::Memory;
use crate::simd::Level;
use crate::{Error, Metadata, Result, Sizing};
use blocked::Blocked;

/// A Bloom filter. See the [module](self) for what it is and costs.
#[derive(Clone)]
pub struct Bloom {
    params: Params,
    bits: Memory,
    /// The number of insert calls, if it is `counted`: of one key each, `singles`, which begin at 0 and never become too many for
    /// 64 bits, so that adding one needs no test; and of all others.
    inserted: u64,
    singles: u64,
    counted: bool,
    metadata: Metadata,
    level: Level,
    /// Nothing in the classic layout.
    blocked: Option<Blocked>,
}

impl Bloom {
    /// An empty filter for `n` keys at the false-positive rate `p`.
    pub fn new(n: u64, p: f64) -> Result<Bloom> {
        Bloom::with(Params::new(Sizing::new(n, p)?))
    }

    /// An empty filter for `n` keys that are 64-bit integers, and says so in its file.
    pub fn for_integers(n: u64, p: f64) -> Result<Bloom> {
        Bloom::with(Params::new(Sizing::new(n, p)?).with_key_type(KeyType::U64))
    }

    /// An empty filter with these parameters.
    pub fn with(params: Params) -> Result<Bloom> {
        let bits = Memory::zeroed(params.sizing().lines() as usize)?;
        Ok(Bloom::from_parts(params, bits, Some(0)))
    }

    /// A filter without metadata.
    pub(crate) fn from_parts(params: Params, bits: Memory, inserted: Option<u64>) -> Bloom {
        let (level, counted) = (Level::best(), inserted.is_some());
        let (inserted, metadata) = (inserted.unwrap_or(0), Metadata::default());
        let blocked = Blocked::of(&params, level);
        Bloom { params, bits, inserted, singles: 0, counted, metadata, level, blocked }
    }

    /// The same filter, worked on with another instruction set: for tests and benches.
    #[doc(hidden)]
    pub fn with_level(self, level: Level) -> Bloom {
        Bloom { level, blocked: Blocked::of(&self.params, level), ..self }
    }

    /// Adds a key; says whether it was certainly new.
    #[inline]
    pub fn insert(&mut self, key: &[u8]) -> bool {
        self.singles += 1;
        match self.blocked {
            Some(blocked) => blocked.insert(&mut self.bits, key),
            None => self.insert_classic(key),
        }
    }

    /// Whether a key may have been added. `false` is certain.
    #[inline]
    pub fn contains(&self, key: &[u8]) -> bool {
        match self.blocked {
            Some(blocked) => blocked.contains(&self.bits, key),
            None => self.contains_classic(key),
        }
    }

    /// Adds an integer key: the same key as `key.to_le_bytes()`.
    #[inline]
    pub fn insert_u64(&mut self, key: u64) -> bool {
        self.singles += 1;
        // One width of vectors: with a second one here the first takes a fifth longer.
        if let Some(blocked) = &self.blocked
            && blocked.is_whole()
            && let Some(lines) = self.bits.writable()
        {
            return blocked.insert_u64(lines, key);
        }
        self.insert_u64_called(key)
    }

    /// Whether an integer key may have been added.
    #[inline]
    pub fn contains_u64(&self, key: u64) -> bool {
        match self.blocked {
            Some(blocked) if blocked.is_inlined() => blocked.contains_u64(&self.bits, key),
            _ => self.contains_u64_called(key),
        }
    }

    /// Adds a key by its hash, XXH3-64 with the filter's seed: for those who have it already.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> Result<bool> {
        self.check_hashes()?;
        self.singles += 1;
        Ok(match self.blocked {
            Some(blocked) => blocked.insert_hash(&mut self.bits, hash),
            None => self.insert_hash_classic(hash),
        })
    }

    /// Whether the key with this hash may have been added.
    #[inline]
    pub fn contains_hash(&self, hash: u64) -> Result<bool> {
        self.check_hashes()?;
        Ok(match self.blocked {
            Some(blocked) => blocked.contains_hash(&self.bits, hash),
            None => self.contains_hash_classic(hash),
        })
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// The size: layout, m, k, n.
    pub fn sizing(&self) -> Sizing {
        self.params.sizing()
    }

    /// The number of insert calls, also those for keys that were there already; it adds up when filters are merged,
    /// and is unknown after an intersection.
    pub fn inserted(&self) -> Option<u64> {
        self.counted.then(|| self.inserts())
    }

    /// The text pairs that travel with the filter.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The text pairs, to be changed.
    pub fn metadata_mut(&mut self) -> &mut Metadata {
        &mut self.metadata
    }

    /// Refuses to be asked with keys of another type than the filter was made for. Whoever lets users ask a filter
    /// calls this once before: a mix of types would answer "no" to keys that are there.
    pub fn check_key_type(&self, asked: KeyType) -> Result<()> {
        let holds = self.params.key_type();
        if holds == asked { Ok(()) } else { Err(Error::KeyType { holds, asked }) }
    }

    /// Refuses hashes where the strategy needs the keys.
    pub(crate) fn check_hashes(&self) -> Result<()> {
        match self.params.strategy() {
            Strategy::Xxh3 { .. } => Ok(()),
            seeded => Err(Error::NeedsKeys { strategy: seeded.name() }),
        }
    }

    pub(crate) fn bits(&self) -> &Memory {
        &self.bits
    }

    /// What has been counted, known to be all or not.
    fn inserts(&self) -> u64 {
        self.inserted.saturating_add(self.singles)
    }

    #[inline(always)]
    fn count_inserts(&mut self, count: u64) {
        self.inserted = self.inserted.saturating_add(count);
    }

    /// What cannot be inlined is behind one call, so that what can stands behind one test; cold, so that it is laid out of the way of that.
    #[cold]
    #[inline(never)]
    fn insert_u64_called(&mut self, key: u64) -> bool {
        match self.blocked {
            Some(blocked) => blocked.insert_u64(self.bits.lines_mut(), key),
            None => self.insert_classic(&key.to_le_bytes()),
        }
    }

    #[inline(never)]
    fn contains_u64_called(&self, key: u64) -> bool {
        match self.blocked {
            Some(blocked) => blocked.contains_u64(&self.bits, key),
            None => self.contains_classic(&key.to_le_bytes()),
        }
    }

    /// Sets the bits of a key in the classic layout, which alone takes every strategy.
    #[inline(never)]
    fn insert_classic(&mut self, key: &[u8]) -> bool {
        let m = self.params.sizing().bits();
        match self.params.strategy() {
            &Strategy::Xxh3 { seed } => self.insert_hash_classic(xxh3(key, seed)),
            Strategy::Seeded { family, seeds } => {
                let lines = self.bits.lines_mut();
                let mut set = |seed| classic::set(lines, family.index(key, seed, m));
                seeds.iter().fold(false, |new, &seed| set(seed) | new)
            }
        }
    }

    #[inline(never)]
    fn contains_classic(&self, key: &[u8]) -> bool {
        let m = self.params.sizing().bits();
        match self.params.strategy() {
            &Strategy::Xxh3 { seed } => self.contains_hash_classic(xxh3(key, seed)),
            Strategy::Seeded { family, seeds } => {
                seeds.iter().all(|&seed| classic::get(&self.bits, family.index(key, seed, m)))
            }
        }
    }

    fn insert_hash_classic(&mut self, hash: u64) -> bool {
        let sizing = self.params.sizing();
        classic::insert(self.bits.lines_mut(), sizing.bits(), sizing.probes(), hash)
    }

    fn contains_hash_classic(&self, hash: u64) -> bool {
        let sizing = self.params.sizing();
        classic::contains(&self.bits, sizing.bits(), sizing.probes(), hash)
    }
}

/// Equal parameters and equal bits; metadata and the number of insert calls do not count.
impl PartialEq for Bloom {
    fn eq(&self, other: &Bloom) -> bool {
        self.params == other.params && *self.bits == *other.bits
    }
}

impl Eq for Bloom {}

impl std::fmt::Debug for Bloom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bloom")
            .field("params", &self.params)
            .field("inserted", &self.inserted())
            .field("metadata", &self.metadata)
            .finish_non_exhaustive()
    }
}
