//! What several tests share.

// No test uses all of it.
#![allow(dead_code, clippy::unwrap_used)]

pub mod book;
pub mod exact_sum;
pub mod filters;
pub mod near_book;
pub mod near_samples;
pub mod numbers;
pub mod random;
pub mod samples;
pub mod spread;
