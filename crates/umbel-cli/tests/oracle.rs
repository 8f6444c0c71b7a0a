//! Filters built by the command, bit by bit against what other programs compute: see `oracle/`.

#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeSet;

use support::{Folder, fixture};

/// The bits that are set in the file of a filter with `m` bits: they stand at its end, padded to 64 bytes.
fn bits(file: &[u8], m: usize) -> BTreeSet<usize> {
    let bytes = &file[file.len() - m.div_ceil(512) * 64..];
    (0..8 * bytes.len()).filter(|bit| bytes[bit / 8] >> (bit % 8) & 1 == 1).collect()
}

fn agrees(hash: &str) {
    let folder = Folder::new();
    folder.write("keys.txt", std::fs::read(fixture("oracle/keys.txt")).unwrap());
    let golden = std::fs::read_to_string(fixture(&format!("oracle/{hash}.txt"))).unwrap();
    let filters: Vec<&str> = golden.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(filters.len() >= 3);
    for filter in filters {
        let [m, seeds, expected] = filter.split("; ").collect::<Vec<_>>()[..] else {
            panic!("{filter}")
        };
        let expected: BTreeSet<usize> =
            expected.split(' ').map(|bit| bit.parse().unwrap()).collect();
        // Read twice to find n, read once, and from a pipe: the same bits.
        folder.ends(
            0,
            &format!("build keys.txt -m {m} --hash {hash} --seeds {seeds} -o twice.umbel"),
        );
        folder.ends(
            0,
            &format!("build keys.txt -n 57 -m {m} --hash {hash} --seeds {seeds} -o once.umbel"),
        );
        let line = format!("build -n 57 -m {m} --hash {hash} --seeds {seeds} -o pipe.umbel");
        assert!(folder.pipe(&line, &folder.read("keys.txt")).status.success());
        for name in ["twice.umbel", "once.umbel", "pipe.umbel"] {
            assert_eq!(
                bits(&folder.read(name), m.parse().unwrap()),
                expected,
                "{hash}, {m}, {seeds}, {name}"
            );
        }
        let rejected = folder.ends(1, "screen twice.umbel keys.txt -v -c");
        assert_eq!(rejected.stdout, b"0\n", "no false negative");
    }
}

#[test]
fn murmur2_sets_the_bits_of_hadoop() {
    agrees("murmur2");
}

#[test]
fn murmur3_sets_the_bits_of_mmh3() {
    agrees("murmur3");
}

#[test]
fn polynomial_mod_sets_the_bits_of_java() {
    agrees("polynomial-mod");
}

#[test]
fn polynomial_wrap_sets_the_bits_of_java() {
    agrees("polynomial-wrap");
}

/// Without --seeds the seeds are 0, 1, … k-1.
#[test]
fn seeds_count_from_zero() {
    let folder = Folder::new();
    folder.write("keys.txt", std::fs::read(fixture("oracle/keys.txt")).unwrap());
    for hash in ["murmur2", "murmur3"] {
        folder.ends(0, &format!("build keys.txt -m 1009 -k 5 --hash {hash} -o counted.umbel"));
        folder.ends(
            0,
            &format!("build keys.txt -m 1009 --seeds 0,1,2,3,4 --hash {hash} -o given.umbel"),
        );
        assert_eq!(folder.read("counted.umbel"), folder.read("given.umbel"));
    }
}
