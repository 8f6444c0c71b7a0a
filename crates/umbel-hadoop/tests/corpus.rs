//! The fuzz target's work as a plain test: the saved corpus, each file also cut and changed at every place.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use umbel_hadoop::sequence::records;

#[test]
fn any_bytes_as_a_sequence_file_are_read_or_refused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/sequence_records");
    let mut readable = 0;
    for saved in std::fs::read_dir(folder).unwrap() {
        let bytes = std::fs::read(saved.unwrap().path()).unwrap();
        readable += records(&bytes[..]).map_or(0, |records| 1 + records.len());
        for at in 0..bytes.len() {
            let _ = records(&bytes[..at]);
            for value in [0, 1, 0x7F, 0x80, 0xFF] {
                let mut changed = bytes.clone();
                changed[at] = value;
                let _ = records(&changed[..]);
            }
        }
    }
    // An empty one, three records, one behind metadata; the others are damaged or compressed.
    assert_eq!(readable, 1 + 4 + 2);
}
