//! What several tests share.

// No test uses all of it.
#![allow(dead_code, clippy::unwrap_used)]

pub mod book;
pub mod count_book;
pub mod count_samples;
pub mod filters;
pub mod peak;
pub mod random;
pub mod samples;
pub mod sketches;
pub mod spread;
pub mod streams;
