//! Set membership and counting at any scale: "have we seen this?", answered from a few bits a key, and "how often?", from a table of
//! counters.
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
//! | texts, sets, vectors or bit strings, and ask "is something like this known?" | [`similar`]: wrong on both sides, as rarely as you choose |
//! | keys, and do not know n | [`distinct`]: rows and a HyperLogLog, merged in any order |
//! | a stream of keys with weights, and ask "how often?" | [`CountMin`]: never too low, too high by at most a share of the total that you choose |
//! | the same, read in one order and never merged | [`Conservative`]: the same promise, much better estimates |
//! | integers, and ask for sums over ranges or for quantiles | [`Ranges`] |
//! | a stream, and want its most frequent keys | [`Heavy`]: every key above a share of the total, with certain bounds |
//! | counts of whichever sort a user chooses, or by group | [`Counts`], [`CountGroups`] |
//! | fewer keys than a `HashSet` or `HashMap` takes room for | a `HashSet` or `HashMap`: it is exact |
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
//! - No false negative, no count too low, ever ([`similar`] alone errs on both sides by nature, and says so). The asked rate of false positives holds up to the n a filter was sized for; beyond, it says so.
//! - Keys are bytes, hashed once with XXH3; the same keys give the same bits on every machine and in every version.
//! - Filters and sketches built apart can be merged; any split and order of the keys gives the same file, byte for byte. Two things depend on the order,
//!   and say so: [`Conservative`] cannot be merged, [`Heavy`] keeps its bounds and not its bytes.
//! - A file is complete or absent, and checked before it is believed.
//!
//! # Layout
//!
//! - [`bloom`]: the filter, both layouts, batches, set algebra, shards for several threads;
//! - [`Groups`]: many filters by name;
//! - [`countmin`]: how often, plain and conservative; [`ranges`]: sums and quantiles; [`heavy`]: the most frequent keys;
//!   [`counts`]: any of them under one face, and by group;
//! - [`near`]: numbers within a distance: packed lists, and filters that grow;
//! - [`similar`]: items within a distance, by samples of them;
//! - [`sizing`]: n, p, k against m, and what cannot be;
//! - [`distinct`]: the n to size for, counted in parts;
//! - [`hash`]: strategies, each frozen under an id;
//! - [`audit`]: does the filter keep its promise?
//! - [`format`](mod@format): the file.
//!
//! Inside: `memory` holds the lines of bits and counters (heap, huge pages, mapped file), `simd` the inner loops for each
//! instruction set.

// A library that others build on does not panic for want of care.
#![warn(clippy::unwrap_used, clippy::expect_used)]

pub mod audit;
pub mod bloom;
pub mod countmin;
pub mod counts;
pub mod distinct;
mod error;
pub mod format;
pub mod groups;
pub mod hash;
pub mod heavy;
mod memory;
mod metadata;
pub mod near;
mod probability;
pub mod ranges;
#[doc(hidden)]
pub mod simd;
pub mod similar;
pub mod sizing;
mod spread;

pub use bloom::{Bloom, KeyType, Keys, Params, Span};
pub use countmin::{Conservative, CountMin, CountMinParams};
pub use counts::{CountGroups, Counts, Sketch};
pub use error::{Error, Result};
pub use groups::Groups;
pub use heavy::Heavy;
pub use metadata::Metadata;
pub use near::Near;
pub use ranges::{Ranges, RangesParams};
pub use similar::Similar;
pub use sizing::{Layout, Sizing};

/// The README's examples, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
