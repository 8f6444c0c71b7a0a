//! "Is a stored item close to this one?", for bit strings, vectors, texts and sets.
//!
//! **When.** You have very many items and ask of others whether something like them is known: near-duplicate texts, fingerprints, embeddings; both
//! distances (what is close, what is far) are known, and a good gap lies between; a small, chosen share of wrong answers **on either side** does no harm.
//! This is no index: it says that something close is there, not what. Where the gap is narrow or the items are few, an index or the items themselves
//! are the better choice, and sizing says so.
//!
//! ```
//! use umbel::similar::{Item, Params, Promise, Similar, Space};
//!
//! // Texts as sets of shingles of two words; at most 20 % of their shingles differ, or at least 95 % do.
//! let params = Params::new(Space::Texts { shingle: 2 }, 1000, &Promise::new(0.2, 0.95))?;
//! let mut seen = Similar::new(params)?;
//! seen.insert("An umbel is a flower head of many blooms on one stem, and blooms in early June.")?;
//! assert!(seen.contains("An umbel is a flower head of many blooms on one stem - and blooms in early June!")?);
//! assert!(!seen.contains("Grass has no umbels; its flowers stand in spikes or panicles.")?);
//! # Ok::<(), umbel::Error>(())
//! ```
//!
//! # Meaning
//!
//! The promise has two sides, as this filter errs on both:
//!
//! - something stored lies within the close distance: the answer is "yes", but for a share of at most `false_negatives` of all seeds;
//! - nothing stored lies nearer than the far distance, and no more than n items are stored: the answer is "no", but for a share of at most
//!   `false_positives` of all seeds;
//! - between, either answer. Items that are equal (distance 0) are always found.
//!
//! A share of seeds, not of questions: one filter has one seed, and its questions share that luck.
//!
//! | space | distance | a sample | two samples agree with probability |
//! |---|---|---|---|
//! | [`Hamming`](Space::Hamming) | share of positions that differ | the bit at a random position | 1 - d, all positions of a band different |
//! | [`Cosine`](Space::Cosine) | 1 - cos | the side of a random hyperplane | 1 - angle / π |
//! | [`Euclid`](Space::Euclid) | length of the difference | the step of a random staircase (p-stable) | erf(w/√2 d) - √(2/π) d/w (1 - exp(-w²/2d²)) |
//! | [`Texts`](Space::Texts), [`Sets`](Space::Sets) | 1 - common / all (Jaccard) | the least hash of all elements (MinHash) | 1 - d |
//!
//! # How
//!
//! k bands, each of t samples and with a Bloom filter of its own (m bits, q probes); the answer is "yes" when at least tau bands are found. tau = 1 is LSHBloom, tau = k
//! asks for all, between and with one probe it is the distance-sensitive filter of Kirsch and Mitzenmacher (2006). [`Params::new`] finds the
//! numbers that take the fewest bits, by exact binomials.
//!
//! # Cost
//!
//! Bits an item, at 1 % on both sides:
//!
//! | | n | bits |
//! |---|---|---|
//! | Jaccard .2 against .95 | 10^6 | 327 |
//! | cosine .02 against .9 | 10^4 | 353 |
//! | Hamming .05 against .5 | 10^4 | 180 |
//! | cosine .1 against .5 | 1000 | 68 000: store the vectors |
//!
//! A narrow gap is dear, and t k samples have to be taken of every item.

mod algebra;
mod batch;
mod facts;
mod gauss;
mod item;
mod minima;
mod params;
mod plan;
mod positions;
mod products;
mod rates;
mod record;
mod sampler;
mod scratch;
mod space;
mod store;

use std::sync::{Arc, OnceLock};

pub use item::Item;
pub use params::{Params, Promise, Shape};
pub(crate) use record::Record;
pub use scratch::Bands;
pub use space::Space;

use sampler::Sampler;

use crate::hash::{mix, reduce};
use crate::memory::Memory;
use crate::{Error, Metadata, Result};

/// Items, and whether one of them is close. See the [module](self) for what it is and costs.
#[derive(Clone)]
pub struct Similar {
    params: Params,
    /// Made when the first item comes: a file is opened without.
    sampler: OnceLock<Arc<Sampler>>,
    bits: Memory,
    inserted: u64,
    metadata: Metadata,
}

impl Similar {
    /// An empty filter.
    pub fn new(params: Params) -> Result<Similar> {
        let lines = params.bits().div_ceil(512);
        let bits = Memory::zeroed(usize::try_from(lines).unwrap_or(usize::MAX))?;
        Ok(Similar::from_parts(params, bits, 0, Metadata::default()))
    }

    /// The samples alone, to find bands in other threads while this filter is written to.
    pub fn samples(&self) -> Samples {
        let sampler = self.sampler.get_or_init(|| Arc::new(Sampler::new(&self.params)));
        Samples { space: self.params.space(), sampler: Arc::clone(sampler) }
    }

    fn from_parts(params: Params, bits: Memory, inserted: u64, metadata: Metadata) -> Similar {
        Similar { params, sampler: OnceLock::new(), bits, inserted, metadata }
    }

    /// Whether a stored item may be close. Both answers may be wrong, as rarely as was promised.
    pub fn contains<'a>(&self, item: impl Into<Item<'a>>) -> Result<bool> {
        let mut bands = Bands::default();
        self.bands(item, &mut bands)?;
        self.contains_bands(bands.as_slice())
    }

    /// Adds an item.
    pub fn insert<'a>(&mut self, item: impl Into<Item<'a>>) -> Result<()> {
        let mut bands = Bands::default();
        self.bands(item, &mut bands)?;
        self.insert_bands(bands.as_slice())
    }

    /// Finds the bands of an item, in place of those that stand there: the larger part of the work, and one that several threads can do at once.
    pub fn bands<'a>(&self, item: impl Into<Item<'a>>, bands: &mut Bands) -> Result<()> {
        self.samples().bands(item, bands)
    }

    /// Whether an item with these bands may be close to a stored one.
    pub fn contains_bands(&self, bands: &[u64]) -> Result<bool> {
        let threshold = self.params.shape().threshold as usize;
        self.check_bands(bands)?;
        let (mut found, mut left) = (0, bands.len());
        for (band, &hash) in bands.iter().enumerate() {
            found += usize::from(self.has(band, hash));
            left -= 1;
            if found >= threshold || found + left < threshold {
                break;
            }
        }
        Ok(found >= threshold)
    }

    /// Adds an item with these bands.
    pub fn insert_bands(&mut self, bands: &[u64]) -> Result<()> {
        self.check_bands(bands)?;
        let shape = self.params.shape();
        let lines = self.bits.lines_mut();
        for (band, &hash) in bands.iter().enumerate() {
            for index in indexes(band, hash, shape.bits, shape.probes) {
                lines[(index / 512) as usize].0[(index / 64 % 8) as usize] |= 1 << (index % 64);
            }
        }
        self.inserted = self.inserted.saturating_add(1);
        Ok(())
    }

    fn check_bands(&self, bands: &[u64]) -> Result<()> {
        let k = self.params.shape().bands as usize;
        if bands.len() == k {
            return Ok(());
        }
        Err(Error::Value(format!(
            "{} bands are not those of an item of this filter, which has {k}",
            bands.len()
        )))
    }

    /// Whether a band is found.
    #[inline]
    fn has(&self, band: usize, hash: u64) -> bool {
        let shape = self.params.shape();
        indexes(band, hash, shape.bits, shape.probes).all(|index| {
            self.bits[(index / 512) as usize].0[(index / 64 % 8) as usize] >> (index % 64) & 1 == 1
        })
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// The number of items it was given, equal ones too; it adds up when filters are merged.
    pub fn inserted(&self) -> u64 {
        self.inserted
    }

    /// The text pairs that travel with it.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The text pairs, to be changed.
    pub fn metadata_mut(&mut self) -> &mut Metadata {
        &mut self.metadata
    }
}

/// The samples that a filter takes of items. Shared, and the same for all filters with the same parameters.
#[derive(Clone)]
pub struct Samples {
    space: Space,
    sampler: Arc<Sampler>,
}

impl Samples {
    /// Finds the bands of an item, as [`Similar::bands`] does.
    pub fn bands<'a>(&self, item: impl Into<Item<'a>>, bands: &mut Bands) -> Result<()> {
        let item = item.into();
        self.space.check_item(&item)?;
        self.sampler.bands(&item, bands)
    }
}

/// The bits of a band.
#[inline]
fn indexes(band: usize, hash: u64, bits: u64, probes: u32) -> impl Iterator<Item = u64> {
    let start = band as u64 * bits;
    let hashes = std::iter::successors(Some(hash), |&x| Some(mix(x))).take(probes as usize);
    hashes.map(move |x| start + reduce(x, bits))
}

impl std::fmt::Debug for Similar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Similar")
            .field("params", &self.params)
            .field("inserted", &self.inserted)
            .field("metadata", &self.metadata)
            .finish_non_exhaustive()
    }
}
