//! One key with a 512-bit vector, which is a whole line. Only registers from 16 on are used, which need no cleaning.

use std::arch::asm;

use super::hash_u64;
use crate::hash::MULTIPLIER;
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
pub(in crate::simd) unsafe fn contains(lines: &[Line], hash: u64) -> bool {
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
pub(in crate::simd) unsafe fn insert(lines: &mut [Line], hash: u64) -> bool {
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
pub(in crate::simd) unsafe fn contains_u64(lines: &[Line], key: u64, secret: u64) -> bool {
    // SAFETY: as the caller promises.
    unsafe { contains(lines, hash_u64(key, secret)) }
}

/// The same for an integer key, with the secret of the seed.
///
/// # Safety
/// As above.
#[inline(always)]
pub(in crate::simd) unsafe fn insert_u64(lines: &mut [Line], key: u64, secret: u64) -> bool {
    // SAFETY: as the caller promises.
    unsafe { insert(lines, hash_u64(key, secret)) }
}
