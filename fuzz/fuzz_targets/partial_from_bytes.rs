//! Any bytes as a part of a filter.

#![no_main]

#[path = "../../crates/umbel/tests/support/parsers.rs"]
mod parsers;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| parsers::partial(bytes));
