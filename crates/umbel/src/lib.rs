//! Set membership at any scale: "have we seen this?", answered from a few bits a key.
//!
//! # What to use when
//!
//! | you have | take |
//! |---|---|
//! | many keys, and ask "is this one of them?" | [`Bloom`]: no false negatives, a rate of false positives that you choose |
//! | the same, one set for each group of a table | [`Groups`]: a filter a group, one file, one hash a key |
//! | a filter, and must prove its rate | [`audit`]: exact counts, an interval, a verdict |
//! | n and p, and wonder what it will cost | [`Sizing`] |
//! | numbers, and ask "is one of them within alpha of this?" | [`near`]: exact or with a rate that you choose, from a few bits a number |
//! | keys, and do not know n | [`distinct`]: rows and a HyperLogLog, merged in any order |
//! | fewer keys than a `HashSet` takes room for | a `HashSet`: it is exact |
//!
//! ```
//! use umbel::Bloom;
//!
//! let mut seen = Bloom::new(1_000_000, 0.01)?; // n keys, one false positive in a hundred
//! seen.insert(b"tt0073537");
//! assert!(seen.contains(b"tt0073537"));
//!
//! # let dir = tempfile::tempdir().unwrap();
//! # let path = dir.path().join("seen.umbel");
//! seen.save(&path)?; // complete or not at all
//! assert_eq!(Bloom::open(&path)?, seen); // mapped and verified
//! # Ok::<(), umbel::Error>(())
//! ```
//!
//! # Promises
//!
//! - No false negative, ever. The asked rate of false positives holds up to the n a filter was sized for; beyond, it says so.
//! - Keys are bytes, hashed once with XXH3; the same keys give the same bits on every machine and in every version.
//! - Filters built apart can be merged; any split and order of the keys gives the same file, byte for byte.
//! - A file is complete or absent, and checked before it is believed.
//!
//! # Layout
//!
//! - [`bloom`]: the filter, both layouts, batches, set algebra, shards for several threads;
//! - [`Groups`]: many filters by name;
//! - [`near`]: numbers within a distance: packed lists, and filters that grow;
//! - [`sizing`]: n, p, k against m, and what cannot be;
//! - [`distinct`]: the n to size for, counted in parts;
//! - [`hash`]: strategies, each frozen under an id;
//! - [`audit`]: does the filter keep its promise?
//! - [`format`](mod@format): the file.
//!
//! Inside: `memory` holds the lines of bits (heap, huge pages, mapped file), `simd` the inner loops for each
//! instruction set.

// A library that others build on does not panic for want of care.
#![warn(clippy::unwrap_used, clippy::expect_used)]

pub mod audit;
pub mod bloom;
pub mod distinct;
mod error;
pub mod format;
pub mod groups;
pub mod hash;
mod memory;
mod metadata;
pub mod near;
mod probability;
#[doc(hidden)]
pub mod simd;
pub mod sizing;
mod spread;

pub use bloom::{Bloom, KeyType, Keys, Params};
pub use error::{Error, Result};
pub use groups::Groups;
pub use metadata::Metadata;
pub use near::Near;
pub use sizing::{Layout, Sizing};

/// The README's examples, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
