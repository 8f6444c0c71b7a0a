//! From the bytes of a key to the bits of a filter. Each strategy is frozen under an id and a name: a published one
//! is never edited, only joined by a new one.
//!
//! | id | name | hash | layouts |
//! |---|---|---|---|
//! | 1 | `xxh3` | XXH3-64 with a 64-bit seed, once a key; all probes are derived from it | both |
//! | 2 | `murmur2` | MurmurHash2, once a probe, as Hadoop's `MurmurHash` | classic |
//! | 3 | `murmur3` | MurmurHash3 x86 32-bit, once a probe | classic |
//! | 4 | `polynomial-mod` | h = (s·h + c) mod m over UTF-16 units | classic, no promised rate |
//! | 5 | `polynomial-wrap` | h = h·s + c in 32 bits over UTF-16 units | classic, no promised rate |
//!
//! `xxh3` is the one to use. The others reproduce filters that other programs define by these hashes.
//! FORMAT.md gives the arithmetic of each.

use std::fmt;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::{Error, Result};

/// The most bits that a 32-bit hash can address.
const MAX_BITS_32: u64 = 1 << 31;

/// XXH3-64 of a key's bytes.
#[inline]
pub fn xxh3(key: &[u8], seed: u64) -> u64 {
    xxh3_64_with_seed(key, seed)
}

/// XXH3-64 of the eight little-endian bytes of `key`: the same as [`xxh3`] of `key.to_le_bytes()`, without the
/// detour through memory, and simple enough to be vectorised over a batch.
#[inline(always)]
pub fn xxh3_u64(key: u64, seed: u64) -> u64 {
    xxh3_u64_with(key, xxh3_u64_secret(seed))
}

/// What [`xxh3_u64`] makes of the seed: the same for all keys.
#[inline(always)]
pub(crate) fn xxh3_u64_secret(seed: u64) -> u64 {
    // The default secret's bytes 8..16 xor 16..24.
    const SECRET: u64 = 0x1CAD_21F7_2C81_017C ^ 0xDB97_9083_E96D_D4DE;
    SECRET.wrapping_sub(seed ^ (u64::from((seed as u32).swap_bytes()) << 32))
}

/// The multiplier of [`xxh3_u64`].
pub(crate) const PRIME: u64 = 0x9FB2_1C65_1E98_DF25;

/// [`xxh3_u64`] with the secret of its seed.
#[inline(always)]
pub(crate) fn xxh3_u64_with(key: u64, secret: u64) -> u64 {
    let mut h = key.rotate_left(32) ^ secret;
    h ^= h.rotate_left(49) ^ h.rotate_left(24);
    h = h.wrapping_mul(PRIME);
    h ^= (h >> 35).wrapping_add(8);
    h = h.wrapping_mul(PRIME);
    h ^ (h >> 28)
}

/// The multiplier of [`mix`].
pub(crate) const MULTIPLIER: u64 = 0xD6E8_FEB8_6659_FD93;

/// The remix between probes: a bijection in which every input bit reaches the upper output bits.
#[inline(always)]
pub(crate) fn mix(x: u64) -> u64 {
    (x ^ (x >> 32)).wrapping_mul(MULTIPLIER)
}

/// A number below `n` that is uniform when `x` is: the upper half of the product, no division.
#[inline(always)]
pub(crate) fn reduce(x: u64, n: u64) -> u64 {
    ((u128::from(x) * u128::from(n)) >> 64) as u64
}

/// How keys become bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Strategy {
    /// XXH3-64 with this seed. A service that takes keys from strangers chooses its own seed, so that nobody can
    /// prepare keys that fill one place.
    Xxh3 {
        /// The seed; 0 unless there is a reason.
        seed: u64,
    },
    /// One hash of this family for each seed; the number of seeds is k.
    Seeded {
        /// The hash family.
        family: Family,
        /// One seed a probe.
        seeds: Vec<u32>,
    },
}

impl Default for Strategy {
    fn default() -> Self {
        Strategy::Xxh3 { seed: 0 }
    }
}

impl Strategy {
    /// A seeded family with the seeds 0, 1, … k-1.
    pub fn seeded(family: Family, k: u32) -> Strategy {
        Strategy::Seeded { family, seeds: (0..k).collect() }
    }

    /// The id in the file.
    pub fn id(&self) -> u16 {
        match self {
            Strategy::Xxh3 { .. } => 1,
            Strategy::Seeded { family, .. } => family.id(),
        }
    }

    /// The name in messages, reports and on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Strategy::Xxh3 { .. } => "xxh3",
            Strategy::Seeded { family, .. } => family.name(),
        }
    }

    /// Whether a filter of this strategy keeps the rate it was sized for. The polynomial families do not:
    /// their probes are far from independent.
    pub fn keeps_rate(&self) -> bool {
        !matches!(
            self,
            Strategy::Seeded { family: Family::PolynomialMod | Family::PolynomialWrap, .. }
        )
    }

    /// The seeds: one for xxh3, one a probe for the others.
    pub fn seeds(&self) -> Vec<u64> {
        match self {
            Strategy::Xxh3 { seed } => vec![*seed],
            Strategy::Seeded { seeds, .. } => seeds.iter().map(|&s| s.into()).collect(),
        }
    }

    /// The strategy with this id and these seeds.
    pub(crate) fn from_parts(id: u16, seeds: &[u64]) -> Result<Strategy> {
        if id == 1 {
            return match *seeds {
                [seed] => Ok(Strategy::Xxh3 { seed }),
                _ => Err(Error::Strategy(format!("xxh3 has one seed, not {}", seeds.len()))),
            };
        }
        let family = Family::ALL.into_iter().find(|f| f.id() == id).ok_or_else(|| {
            Error::Strategy(format!(
                "hash strategy {id} is unknown to this version of umbel; a newer one may read it"
            ))
        })?;
        let seeds = seeds.iter().map(|&s| u32::try_from(s)).collect::<Result<_, _>>();
        let seeds = seeds.map_err(|_| {
            Error::Strategy(format!("the seeds of {} are below 2^32", family.name()))
        })?;
        Ok(Strategy::Seeded { family, seeds })
    }

    /// Whether a classic filter of `m` bits and `k` probes can be filled by this strategy.
    pub(crate) fn check(&self, m: u64, k: u32) -> Result<()> {
        let Strategy::Seeded { family, seeds } = self else { return Ok(()) };
        if seeds.len() as u64 != u64::from(k) {
            return Err(Error::Strategy(format!(
                "{} needs one seed a probe: k is {k}, but {} seeds were given",
                family.name(),
                seeds.len()
            )));
        }
        if m > MAX_BITS_32 && *family != Family::PolynomialMod {
            return Err(Error::Strategy(format!(
                "{} is a 32-bit hash and cannot address {m} bits: take xxh3, or at most 2^31 bits",
                family.name()
            )));
        }
        Ok(())
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Strategy::Xxh3 { seed: 0 } => f.write_str("xxh3"),
            Strategy::Xxh3 { seed } => write!(f, "xxh3 with seed {seed}"),
            Strategy::Seeded { family, seeds } => {
                write!(f, "{} with seeds {seeds:?}", family.name())
            }
        }
    }
}

/// The hash families that take one seed a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// MurmurHash2 as in Hadoop.
    Murmur2,
    /// MurmurHash3 x86 32-bit.
    Murmur3,
    /// A polynomial in the seed modulo the number of bits.
    PolynomialMod,
    /// A polynomial in the seed in wrapping 32-bit arithmetic.
    PolynomialWrap,
}

impl Family {
    /// Every family.
    pub const ALL: [Family; 4] =
        [Family::Murmur2, Family::Murmur3, Family::PolynomialMod, Family::PolynomialWrap];

    /// The id in the file.
    pub fn id(self) -> u16 {
        match self {
            Family::Murmur2 => 2,
            Family::Murmur3 => 3,
            Family::PolynomialMod => 4,
            Family::PolynomialWrap => 5,
        }
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Family::Murmur2 => "murmur2",
            Family::Murmur3 => "murmur3",
            Family::PolynomialMod => "polynomial-mod",
            Family::PolynomialWrap => "polynomial-wrap",
        }
    }

    /// The bit of `key` for one seed, in a filter of `m` bits, which are 2^48 at most.
    ///
    /// # Panics
    /// When `m` is 0: there is no bit.
    pub fn index(self, key: &[u8], seed: u32, m: u64) -> u64 {
        match self {
            Family::Murmur2 => (i64::from(murmur2(key, seed)) % m as i64).unsigned_abs(),
            Family::Murmur3 => i64::from(murmur3(key, seed)).rem_euclid(m as i64) as u64,
            Family::PolynomialMod => polynomial_mod(key, seed, m),
            Family::PolynomialWrap => u64::from(polynomial_wrap(key, seed).unsigned_abs()) % m,
        }
    }
}

/// MurmurHash2, 32 bits, with the tail as Hadoop reads it: its last byte lowest, each byte a signed number.
fn murmur2(key: &[u8], seed: u32) -> i32 {
    const M: u32 = 0x5bd1_e995;
    let mut h = seed ^ key.len() as u32;
    let (words, tail) = key.as_chunks::<4>();
    for word in words {
        let k = u32::from_le_bytes(*word).wrapping_mul(M);
        h = h.wrapping_mul(M) ^ (k ^ (k >> 24)).wrapping_mul(M);
    }
    for (i, &byte) in tail.iter().rev().enumerate() {
        h ^= (i32::from(byte as i8) << (8 * i)) as u32;
    }
    if !tail.is_empty() {
        h = h.wrapping_mul(M);
    }
    h = (h ^ (h >> 13)).wrapping_mul(M);
    (h ^ (h >> 15)) as i32
}

/// MurmurHash3 x86 32-bit.
fn murmur3(key: &[u8], seed: u32) -> i32 {
    let scramble = |k: u32| k.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
    let mut h = seed;
    let (words, tail) = key.as_chunks::<4>();
    for word in words {
        h ^= scramble(u32::from_le_bytes(*word));
        h = h.rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    let last = tail.iter().rev().fold(0, |k, &byte| (k << 8) | u32::from(byte));
    h ^= scramble(last) ^ key.len() as u32;
    h = (h ^ (h >> 16)).wrapping_mul(0x85eb_ca6b);
    h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
    (h ^ (h >> 16)) as i32
}

fn polynomial_mod(key: &[u8], seed: u32, m: u64) -> u64 {
    let step = |h: u64, c: u16| {
        ((u128::from(seed) * u128::from(h) + u128::from(c)) % u128::from(m)) as u64
    };
    String::from_utf8_lossy(key).encode_utf16().fold(0, step)
}

fn polynomial_wrap(key: &[u8], seed: u32) -> i32 {
    let step = |h: i32, c: u16| h.wrapping_mul(seed as i32).wrapping_add(i32::from(c));
    String::from_utf8_lossy(key).encode_utf16().fold(0, step)
}
