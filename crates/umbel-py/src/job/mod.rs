//! Work in parts, for the engines that run Python: `umbel.spark` drives it.
//!
//! - [`tasks`]: what executors do: a stretch of a file, or batches of Arrow, to records; records to their union;
//! - [`frames`]: batches of Arrow as rows;
//! - [`client`]: jobs from their inputs to their results; [`carrier`]: a Python object that carries them.

pub mod carrier;
pub mod client;
mod frames;
pub mod tasks;
