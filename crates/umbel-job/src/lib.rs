//! umbel's work in parts, on whatever engine carries it.
//!
//! ```text
//! client   plans stretches of the input ──> a carrier (Hadoop, Spark) ──> puts records together
//! mapper   one stretch ──> parts: counts, slices of filters, what was counted
//! reducer  all parts under one key ──> their union
//! ```
//!
//! - [`jobs`]: jobs from their inputs to their results, whoever carries them; [`plan`]: inputs, cut into stretches;
//! - [`job`]: what a job is to do, as its tasks are told; [`record`]: what goes between them;
//! - [`map`], [`reduce`]: what tasks do; [`stretch`]: parts of texts; [`lines`]: those that are kept;
//! - [`location`]: files of this machine and of HDFS ([`hdfs`]) as inputs; [`installed`]: the Hadoop of this machine;
//! - [`unfinished`]: what is removed when it does not become whole.
//!
//! Every part is a commutative monoid, so attempts that are killed, repeated or run twice change nothing, as long as the engine takes the
//! output of one attempt of each task.

#![warn(clippy::unwrap_used, clippy::expect_used)]

mod counted;
mod error;
mod handed;
pub mod hdfs;
pub mod installed;
pub mod job;
pub mod jobs;
pub mod lines;
pub mod location;
pub mod map;
pub mod plan;
pub mod record;
pub mod reduce;
mod results;
mod stamp;
pub mod stretch;
pub mod unfinished;

pub use error::{Error, Result};
pub use hdfs::HdfsPath;
pub use job::Order;
pub use jobs::{Carried, Carrier, Freight, Job, Jobs, Report};
pub use location::Location;
