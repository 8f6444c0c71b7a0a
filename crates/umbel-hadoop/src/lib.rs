//! umbel's jobs on Hadoop: Streaming jobs whose mapper and reducer are the `umbel` command itself.
//!
//! ```text
//! client   a manifest of stretches ──> Hadoop Streaming, with the command and job.json ──> reads the reducers' records
//! mapper   one stretch, read from HDFS (or lines from the pipe) ──> records
//! reducer  all records under one key ──> their union
//! ```
//!
//! - [`cluster`]: the carrier of jobs; [`submit`]: Hadoop's own command, followed (`log`) and ended ([`running`]); `output`: what a job has left behind, in
//!   [`sequence`] files;
//! - [`task`]: mapper and reducer, between pipes; `message`: what they say when they give up. What they do is in `umbel-job`.

#![warn(clippy::unwrap_used, clippy::expect_used)]

pub mod cluster;
mod log;
mod message;
mod output;
pub mod running;
pub mod sequence;
pub mod submit;
pub mod task;

pub use cluster::Cluster;
use umbel_job::{Error, Result};
