//! One key with 512-bit vectors, in code that is inlined where it is called.
//!
//! A function with a target feature is never inlined into one without, and the call, with the cleaning of registers at its
//! end, costs as much as the lookup. Assembly can be inlined anywhere. It is the algorithm of `generic` over a whole
//! line, and uses only registers from 16 on, which need no cleaning. What costs time here is the number of instructions: the
//! processor works on as many keys at once as it can see ahead, so each is chosen to do as much as it can.
//!
//! ```text
//! bytes = hi(hash, 64 · number of lines) & !63      the line, as a distance in bytes: no shift
//! g     = mix(hash), in all eight words at once
//! ```

use std::arch::asm;

use crate::hash::{MULTIPLIER, PRIME};
use crate::memory::Line;

/// What the code reads, a word for each word of a line.
#[repr(C, align(64))]
struct Constants {
    shifts: [u64; 8],
    multipliers: [u64; 8],
    ones: [u64; 8],
}

static CONSTANTS: Constants = Constants {
    shifts: [16, 22, 28, 34, 40, 46, 52, 58],
    multipliers: [MULTIPLIER; 8],
    ones: [1; 8],
};

/// Whether the line of `hash` has all its bits.
///
/// # Safety
/// The machine has AVX-512 F and DQ, and BMI2.
#[inline(always)]
pub(super) unsafe fn contains(lines: &[Line], hash: u64) -> bool {
    assert!(!lines.is_empty());
    let missing: u64;
    // SAFETY: the line is one of `lines`: the upper half of the product is below their size in bytes, and cut to a
    // multiple of 64. Nothing is written but the registers named.
    unsafe {
        asm!(
            "vpbroadcastq zmm16, rdx",
            "mulx {bytes}, {low}, {size}",
            "and {bytes}, -64",
            "vpsrlq zmm17, zmm16, 32",
            "vpxorq zmm16, zmm16, zmm17",
            "vpmullq zmm16, zmm16, [{constants} + 64]",
            "vpsrlvq zmm16, zmm16, [{constants}]",
            "vmovdqa64 zmm17, [{constants} + 128]",
            "vprolvq zmm16, zmm17, zmm16",
            "vptestnmq k1, zmm16, [{lines} + {bytes}]",
            "kmovb {bytes:e}, k1",
            in("rdx") hash,
            size = in(reg) size_of_val(lines),
            constants = in(reg) &CONSTANTS,
            lines = in(reg) lines.as_ptr(),
            bytes = out(reg) missing,
            low = out(reg) _,
            out("xmm16") _, out("xmm17") _, out("k1") _,
            options(pure, readonly, nostack),
        );
    }
    missing == 0
}

/// Sets the bits of `hash`; says whether any was missing.
///
/// # Safety
/// As above.
#[inline(always)]
pub(super) unsafe fn insert(lines: &mut [Line], hash: u64) -> bool {
    assert!(!lines.is_empty());
    let missing: u64;
    // SAFETY: as above; the line is written too, and `lines` is borrowed mutably.
    unsafe {
        asm!(
            "vpbroadcastq zmm16, rdx",
            "mulx {bytes}, {low}, {size}",
            "and {bytes}, -64",
            "vpsrlq zmm17, zmm16, 32",
            "vpxorq zmm16, zmm16, zmm17",
            "vpmullq zmm16, zmm16, [{constants} + 64]",
            "vpsrlvq zmm16, zmm16, [{constants}]",
            "vmovdqa64 zmm17, [{constants} + 128]",
            "vprolvq zmm16, zmm17, zmm16",
            "vmovdqa64 zmm17, [{lines} + {bytes}]",
            "vptestnmq k1, zmm16, zmm17",
            "vporq zmm16, zmm16, zmm17",
            "vmovdqa64 [{lines} + {bytes}], zmm16",
            "kmovb {bytes:e}, k1",
            in("rdx") hash,
            size = in(reg) size_of_val(lines),
            constants = in(reg) &CONSTANTS,
            lines = in(reg) lines.as_mut_ptr(),
            bytes = out(reg) missing,
            low = out(reg) _,
            out("xmm16") _, out("xmm17") _, out("k1") _,
            options(nostack),
        );
    }
    missing != 0
}

/// The same for an integer key, with the secret of the seed.
///
/// # Safety
/// As above.
#[inline(always)]
pub(super) unsafe fn contains_u64(lines: &[Line], key: u64, secret: u64) -> bool {
    // SAFETY: as the caller promises.
    unsafe { contains(lines, hash_u64(key, secret)) }
}

/// The same for an integer key, with the secret of the seed.
///
/// # Safety
/// As above.
#[inline(always)]
pub(super) unsafe fn insert_u64(lines: &mut [Line], key: u64, secret: u64) -> bool {
    // SAFETY: as the caller promises.
    unsafe { insert(lines, hash_u64(key, secret)) }
}

/// `hash::xxh3_u64_with`, with rotations that need no copies.
///
/// # Safety
/// The machine has BMI2.
#[inline(always)]
unsafe fn hash_u64(key: u64, secret: u64) -> u64 {
    let hash: u64;
    // SAFETY: only the registers named are changed.
    unsafe {
        asm!(
            "rorx {hash}, {key}, 32",
            "xor {hash}, {secret}",
            "rorx {a}, {hash}, 15",
            "rorx {b}, {hash}, 40",
            "xor {a}, {b}",
            "xor {hash}, {a}",
            "imul {hash}, {prime}",
            "mov {a}, {hash}",
            "shr {a}, 35",
            "add {a}, 8",
            "xor {hash}, {a}",
            "imul {hash}, {prime}",
            "mov {a}, {hash}",
            "shr {a}, 28",
            "xor {hash}, {a}",
            key = in(reg) key,
            secret = in(reg) secret,
            prime = in(reg) PRIME,
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
    use super::super::portable;
    use super::*;
    use crate::hash::{mix, xxh3_u64, xxh3_u64_secret};

    /// The same hashes, lines, bits and answers as the portable code, for hashes of every kind and lines in any number.
    #[test]
    fn inlined_code_equals_the_portable() {
        if !super::super::avx512::is_available() {
            return;
        }
        let random = (1..20_000).map(mix);
        let edges =
            (0..64).flat_map(|bit| [1 << bit, !(1 << bit), u64::MAX << bit, u64::MAX >> bit]);
        let hashes: Vec<u64> = edges.chain(random).collect();
        for (&key, seed) in hashes.iter().zip((0..).map(mix)) {
            // SAFETY: AVX-512 is there, and BMI2 with it.
            let hash = unsafe { hash_u64(key, xxh3_u64_secret(seed)) };
            assert_eq!(hash, xxh3_u64(key, seed));
        }
        for len in [1, 2, 3, 7, 64, 1000, 4097] {
            let mut ours = vec![Line([0; 8]); len];
            let mut theirs = ours.clone();
            for &hash in &hashes {
                // SAFETY: as above.
                let (before, new, after) = unsafe {
                    (contains(&ours, hash), insert(&mut ours, hash), contains(&ours, hash))
                };
                assert_eq!(before, portable::contains(&theirs, hash));
                assert_eq!(new, portable::insert(&mut theirs, hash));
                assert!(after);
            }
            assert_eq!(ours, theirs);
        }
    }
}
