//! Any bytes as the file of a similar filter.

#![no_main]

#[path = "../../crates/umbel/tests/support/parsers.rs"]
mod parsers;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| parsers::all_ways(bytes, parsers::similar));
