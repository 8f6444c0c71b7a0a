//! Bytes in, keys out, in order, in parallel.
//!
//! ```text
//! Source ──> BlockReader ──> Parser ──> Batch ──> your closure ──> in order
//!   file, stdin,   whole        key and    rows of      hash, insert,    lines out,
//!   decompressed   records      group      one block    look up          counts
//! ```
//!
//! - [`source`]: files and stdin, decompressed by their first bytes;
//! - [`shape`]: which part of a record is the key, which the group;
//! - [`driver`]: one parallel loop for building, screening and auditing: blocks carry numbers, so results come in the
//!   input's order whatever the number of threads.

#![warn(clippy::unwrap_used, clippy::expect_used)]

pub mod batch;
mod block;
pub mod driver;
mod error;
mod groups;
pub mod meter;
mod parser;
pub mod round;
pub mod shape;
mod simd;
pub mod source;
mod split;

pub use batch::Batch;
pub use driver::{Driver, Outcome, Tally};
pub use error::{Error, Result};
pub use meter::Meter;
pub use shape::{Column, Shape};
pub use source::Source;
