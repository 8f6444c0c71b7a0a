//! Count-min with conservative update: better estimates, and nothing but estimates.

use std::io::{self, Write};
use std::path::Path;

use super::batch::{check_keys, check_weights, sum};
use super::block::each_block;
use super::{CountMin, CountMinParams, Grid};
use crate::bloom::{KeyType, Keys};
use crate::format::{self, File, Kind};
use crate::hash::{xxh3, xxh3_u64};
use crate::{Metadata, Result};

/// A count-min sketch that adds only as much as the estimate needs: each counter of a key is raised to the estimate plus
/// the weight, and those that are above it already stay. The promise is that of [`CountMin`], and in practice the estimates are much better.
///
/// The price: what a counter holds depends on the order of the keys. Therefore two of these cannot be merged, subtracted or
/// multiplied, and this type has no method for it; keys must come in one order, from one place. Adding costs about twice as much.
///
/// ```
/// use umbel::{Conservative, CountMinParams};
///
/// let mut hits = Conservative::new(CountMinParams::for_error(0.001, 0.01)?)?;
/// hits.add(b"/index.html", 3);
/// assert_eq!(hits.estimate(b"/index.html"), 3);
/// # Ok::<(), umbel::Error>(())
/// ```
///
/// ```compile_fail
/// # use umbel::{Conservative, CountMinParams};
/// # let params = CountMinParams::for_error(0.001, 0.01).unwrap();
/// let (mut a, b) = (Conservative::new(params).unwrap(), Conservative::new(params).unwrap());
/// a.merge(&b); // there is no such method
/// ```
///
/// Reference: C. Estan, G. Varghese, New directions in traffic measurement and accounting, 2002.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conservative(CountMin);

impl Conservative {
    /// An empty sketch.
    pub fn new(params: CountMinParams) -> Result<Conservative> {
        CountMin::new(params).map(Conservative)
    }

    pub(crate) fn from_parts(params: CountMinParams, grid: Grid, counts: [u64; 2]) -> Conservative {
        Conservative(CountMin::from_parts(params, grid, counts))
    }

    /// Adds a key with a weight.
    #[inline]
    pub fn add(&mut self, key: &[u8], weight: u64) {
        self.add_hash(xxh3(key, self.0.params.seed()), weight);
    }

    /// Adds an integer key with a weight: the same key as `key.to_le_bytes()`.
    #[inline]
    pub fn add_u64(&mut self, key: u64, weight: u64) {
        self.add_hash(xxh3_u64(key, self.0.params.seed()), weight);
    }

    /// Adds a key by its hash, XXH3-64 with the sketch's seed.
    #[inline]
    pub fn add_hash(&mut self, hash: u64, weight: u64) {
        self.0.count(1, weight);
        self.0.grid.raise(hash, weight);
    }

    /// Adds many keys in their order, each with the weight 1.
    pub fn add_batch(&mut self, keys: Keys<'_>) -> Result<()> {
        check_keys(self.0.params.key_type(), keys)?;
        self.add_keys(keys, |_| 1);
        Ok(())
    }

    /// Adds many keys in their order, each with its weight.
    pub fn add_weighted(&mut self, keys: Keys<'_>, weights: &[u64]) -> Result<()> {
        check_keys(self.0.params.key_type(), keys)?;
        check_weights(keys.len(), weights)?;
        self.add_keys(keys, |i| weights[i]);
        Ok(())
    }

    fn add_keys(&mut self, keys: Keys<'_>, weight: impl Fn(usize) -> u64) {
        each_block(keys, self.0.params.seed(), |first, hashes| {
            self.0.grid.raise_block(hashes, |i| weight(first + i));
            self.0.count(hashes.len() as u64, sum(first, hashes.len(), &weight));
        });
    }

    /// What a key came to: never less, and at most [`bound`](Conservative::bound) more for all but a share delta of the keys.
    #[inline]
    pub fn estimate(&self, key: &[u8]) -> u64 {
        self.0.estimate(key)
    }

    /// What an integer key came to.
    #[inline]
    pub fn estimate_u64(&self, key: u64) -> u64 {
        self.0.estimate_u64(key)
    }

    /// What the key with this hash came to.
    #[inline]
    pub fn estimate_hash(&self, hash: u64) -> u64 {
        self.0.estimate_hash(hash)
    }

    /// What each of many keys came to.
    pub fn estimate_batch(&self, keys: Keys<'_>, estimates: &mut [u64]) -> Result<()> {
        self.0.estimate_batch(keys, estimates)
    }

    /// The parameters.
    pub fn params(&self) -> &CountMinParams {
        &self.0.params
    }

    /// N: the sum of all weights, 2^64 - 1 at most.
    pub fn total(&self) -> u64 {
        self.0.total
    }

    /// The number of keys added, also those that came before.
    pub fn inserted(&self) -> u64 {
        self.0.inserted
    }

    /// eps · N, rounded down: how much too high an estimate may be, but for a share delta of the keys.
    pub fn bound(&self) -> u64 {
        self.0.bound()
    }

    /// Whether the total, and perhaps a counter, has reached 2^64 - 1: from there on sums stand for "this or more".
    pub fn is_saturated(&self) -> bool {
        self.0.is_saturated()
    }

    /// Bytes a counter now: 1, 2, 4 or 8, as the largest needs.
    pub fn counter_bytes(&self) -> usize {
        self.0.counter_bytes()
    }

    /// The text pairs that travel with the sketch.
    pub fn metadata(&self) -> &Metadata {
        &self.0.metadata
    }

    /// The text pairs, to be changed.
    pub fn metadata_mut(&mut self) -> &mut Metadata {
        &mut self.0.metadata
    }

    /// Refuses to be asked with keys of another type than the sketch was made for.
    pub fn check_key_type(&self, asked: KeyType) -> Result<()> {
        self.0.check_key_type(asked)
    }

    /// Refuses counters that cannot have come from adding keys: no row may sum up to more than the total.
    pub fn check(&self) -> Result<()> {
        self.0.grid.check(|sum| sum <= self.0.total)
    }

    /// Writes the sketch to a file: complete or not at all.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        format::save(path, |file| self.write_to(file))
    }

    /// Writes what [`save`](Conservative::save) would write.
    pub fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        self.0.write_as(Kind::Conservative, out)
    }

    /// The bytes that [`save`](Conservative::save) would write.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        format::to_bytes(|out| self.write_to(out))
    }

    /// Opens a sketch by mapping its file, and verifies every byte of it.
    pub fn open(path: impl AsRef<Path>) -> Result<Conservative> {
        let path = path.as_ref();
        let sketch = File::open_verified(path)?.into_conservative()?;
        sketch.check().map_err(|error| error.at(path))?;
        Ok(sketch)
    }

    /// Opens a sketch by mapping its file; the counters are not verified, so damage would give wrong answers.
    pub fn open_unverified(path: impl AsRef<Path>) -> Result<Conservative> {
        File::open(path)?.into_conservative()
    }

    /// Opens a sketch, verifies it and reads it into memory.
    pub fn load(path: impl AsRef<Path>) -> Result<Conservative> {
        Ok(Conservative::open(path)?.into_memory())
    }

    /// The same sketch in memory of its own, if it was mapped.
    pub fn into_memory(self) -> Conservative {
        Conservative(self.0.into_memory())
    }

    /// The counters, as those of a plain sketch.
    pub(crate) fn inner(&self) -> &CountMin {
        &self.0
    }

    /// The sketch in the bytes of a file, verified.
    pub fn from_bytes(bytes: &[u8]) -> Result<Conservative> {
        let sketch = File::from_bytes_verified(bytes)?.into_conservative()?;
        sketch.check()?;
        Ok(sketch)
    }
}
