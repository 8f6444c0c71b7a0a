//! What several tests share.

// No test uses all of it.
#![allow(dead_code, clippy::unwrap_used)]

pub mod book;
pub mod count_book;
pub mod count_samples;
pub mod exact_sum;
pub mod filters;
pub mod items;
pub mod near_book;
pub mod near_samples;
pub mod numbers;
pub mod peak;
pub mod random;
pub mod samples;
pub mod similar_book;
pub mod similar_samples;
pub mod sketches;
pub mod spread;
pub mod streams;
