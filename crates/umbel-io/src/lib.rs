//! Bytes in, keys out, in order, in parallel.
//!
//! ```text
//! Source ──> Tasks ──────> Parser ──> Batch ──> your closure ──> in order
//!   file, stdin,  blocks of    key and    rows with     hash, insert,    lines out,
//!   decompressed  text, row    group      their keys    look up          counts
//!                 groups
//! ```
//!
//! - [`source`]: files and stdin, decompressed by their first bytes;
//! - [`shape`]: which part of a record is the key, which the group;
//! - [`driver`]: one parallel loop for building, screening and auditing: tasks carry numbers, so results come in the
//!   input's order whatever the number of threads.

#![warn(clippy::unwrap_used, clippy::expect_used)]

pub mod audit;
pub mod batch;
mod block;
mod buckets;
pub mod build;
pub mod count;
mod delimited;
pub mod driver;
mod error;
pub mod exact;
mod field;
pub mod filters;
mod frames;
mod gather;
mod groups;
mod guard;
pub mod handed;
mod lane;
pub mod look;
pub mod meter;
pub mod near;
pub mod number;
mod order;
mod parser;
mod pieces;
pub mod plan;
mod positioned;
pub mod remembered;
pub mod round;
pub mod screen;
pub mod shape;
mod shelf;
mod simd;
pub mod similar;
pub mod source;
mod split;
mod table;
pub mod tally;
mod task;
mod threads;
pub mod unread;
pub mod value;
mod visible;
pub mod which;

pub use batch::Batch;
pub use build::Build;
pub use driver::{Driver, Outcome};
pub use error::{Error, Result};
pub use filters::Filters;
pub use look::Look;
pub use meter::Meter;
pub use plan::Plan;
pub use positioned::ReadAt;
pub use shape::{Column, Shape};
pub use source::{Remote, Source};
pub use tally::Tally;
pub use visible::visible;

use threads::lock;
