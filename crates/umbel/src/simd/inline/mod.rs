//! The code for one key, inlined where it is called.
//!
//! A function with a target feature is never inlined into one without, and the call, with the cleaning of registers at its
//! end, costs as much as the lookup. Assembly can be inlined anywhere. It is the algorithm of `generic`, a file for each width of
//! vectors. What costs time here is the number of instructions: the processor works on as many keys at once as it can
//! see ahead, so each is chosen to do as much as it can.
//!
//! ```text
//! bytes = hi(hash, 64 · number of lines) & !63      the line, as a distance in bytes: no shift
//! ```

pub(super) mod halves;
pub(super) mod whole;

use std::arch::asm;

use crate::hash::PRIME;

/// `hash::xxh3_u64_with`, with rotations that need no copies.
///
/// # Safety
/// The machine has BMI2.
#[inline(always)]
pub(super) unsafe fn hash_u64(key: u64, secret: u64) -> u64 {
    let hash: u64;
    // SAFETY: only the registers named, and flags, are changed.
    unsafe {
        asm!(
            "rorx {hash}, {key}, 32",
            "xor {hash}, {secret}",
            "rorx {a}, {hash}, 15",
            "rorx {b}, {hash}, 40",
            "xor {a}, {b}",
            "xor {hash}, {a}",
            "imul {hash}, {prime}",
            "shrx {a}, {hash}, {first}",
            "add {a}, 8",
            "xor {hash}, {a}",
            "imul {hash}, {prime}",
            "shrx {a}, {hash}, {second}",
            "xor {hash}, {a}",
            key = in(reg) key,
            secret = in(reg) secret,
            prime = in(reg) PRIME,
            first = in(reg) 35_u64,
            second = in(reg) 28_u64,
            hash = out(reg) hash,
            a = out(reg) _,
            b = out(reg) _,
            options(pure, nomem, nostack),
        );
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::super::{Level, contains, contains_u64, insert, insert_u64, portable};
    use super::*;
    use crate::hash::{mix, xxh3_u64, xxh3_u64_secret};
    use crate::memory::Line;

    /// The same hashes, lines, bits and answers as the portable code, for hashes of every kind and lines in any number.
    #[test]
    fn inlined_code_equals_the_portable() {
        let random = (1..20_000).map(mix);
        let edges =
            (0..64).flat_map(|bit| [1 << bit, !(1 << bit), u64::MAX << bit, u64::MAX >> bit]);
        let hashes: Vec<u64> = edges.chain(random).collect();
        for level in Level::available().into_iter().filter(|level| level.inlines()) {
            for (&key, seed) in hashes.iter().zip((0..).map(mix)) {
                let (secret, expected) = (xxh3_u64_secret(seed), xxh3_u64(key, seed));
                // SAFETY: every level that is inlined has BMI2.
                assert_eq!(unsafe { hash_u64(key, secret) }, expected);
                let (mut ours, mut theirs) = (vec![Line([0; 8]); 7], vec![Line([0; 8]); 7]);
                assert!(insert_u64(level, &mut ours, key, secret));
                assert!(portable::insert(&mut theirs, expected));
                assert_eq!(ours, theirs);
                assert!(contains_u64(level, &ours, key, secret));
                let other = contains_u64(level, &ours, !key, secret);
                assert_eq!(other, portable::contains_u64(&theirs, !key, secret));
            }
            for len in [1, 2, 3, 7, 64, 1000, 4097] {
                let mut ours = vec![Line([0; 8]); len];
                let mut theirs = ours.clone();
                for &hash in &hashes {
                    assert_eq!(contains(level, &ours, hash), portable::contains(&theirs, hash));
                    assert_eq!(insert(level, &mut ours, hash), portable::insert(&mut theirs, hash));
                    assert!(contains(level, &ours, hash));
                }
                assert_eq!(ours, theirs);
            }
        }
    }
}
