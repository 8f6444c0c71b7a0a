//! Any bytes as a count of distinct keys.

#![no_main]

#[path = "../../crates/umbel/tests/support/parsers.rs"]
mod parsers;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| parsers::distinct(bytes));
