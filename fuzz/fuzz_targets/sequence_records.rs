//! Any bytes as a reducer's output. The two modules stand alone: what else is beside them (HDFS) is not compiled.

#![no_main]

// The place where the one module looks for the other.
extern crate self as umbel_job;

#[path = "../../crates/umbel-job/src/record.rs"]
pub mod record;
#[path = "../../crates/umbel-hadoop/src/sequence.rs"]
mod sequence;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(records) = sequence::records(bytes) {
        // Records are never longer than the file.
        let read: usize = records.iter().map(|(key, value)| key.group.len() + value.len()).sum();
        assert!(read < bytes.len());
    }
});
