//! umbel on Hadoop: files on HDFS, and jobs whose mapper and reducer are the `umbel` command itself.
//!
//! ```text
//! client   plans stretches of the input ──> Hadoop Streaming, with the command and job.json ──> reads the reducers' records
//! mapper   one stretch, read from HDFS (or lines from the pipe) ──> parts: counts, slices of filters, what was counted
//! reducer  all parts under one key ──> their union
//! ```
//!
//! - [`hdfs`]: paths, reading, writing aside and renaming; [`input`]: HDFS files as umbel-io's sources; [`stretch`]: parts of texts;
//! - [`job`]: what a job is to do, as its tasks are told;
//! - [`record`]: the records between tasks, and [`sequence`] files of them;
//! - [`map`], [`reduce`]: the tasks;
//! - [`submit`]: Hadoop's own command, followed; [`cluster`]: jobs from their inputs to their results.
//!
//! Every part is a commutative monoid, so attempts that are killed, repeated or run twice change nothing: Hadoop takes the
//! output of one attempt of each task.

#![warn(clippy::unwrap_used, clippy::expect_used)]

pub mod cluster;
mod error;
pub mod hdfs;
pub mod input;
pub mod job;
pub mod map;
pub mod record;
pub mod reduce;
mod results;
pub mod sequence;
pub mod stretch;
pub mod submit;

pub use cluster::{Cluster, Job};
pub use error::{Error, Result};
pub use hdfs::HdfsPath;
