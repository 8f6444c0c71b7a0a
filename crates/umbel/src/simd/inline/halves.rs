//! One key with 256-bit vectors, of which a line has two.
//!
//! The upper halves of the registers are cleaned at the end: code of the program that knows nothing of them would be slow.

use std::arch::asm;

use super::hash_u64;
use crate::hash::MULTIPLIER;
use crate::memory::Line;

/// What the code reads.
#[repr(C, align(64))]
struct Constants {
    shifts: [u64; 8],
    /// What a shift may be at most.
    most: [u64; 4],
    tops: [u64; 4],
    multiplier: u64,
}

static CONSTANTS: Constants = Constants {
    shifts: [16, 22, 28, 34, 40, 46, 52, 58],
    most: [63; 4],
    tops: [1 << 63; 4],
    multiplier: MULTIPLIER,
};

/// What the tops of all words give.
const ALL: u64 = 0xF;

/// Whether the line of `hash` has all its bits: they are brought to the top of their words, where one instruction collects them.
///
/// # Safety
/// The machine has AVX2 and BMI2.
#[inline(always)]
pub(in crate::simd) unsafe fn contains(lines: &[Line], hash: u64) -> bool {
    assert!(!lines.is_empty());
    let tops: u64;
    // SAFETY: the line is one of `lines`: the upper half of the product is below their size in bytes, and cut to a
    // multiple of 64. Nothing is written but the registers named.
    unsafe {
        asm!(
            "mulx {bytes}, {low}, {size}",
            "mov {low}, rdx",
            "shr {low}, 32",
            "xor {low}, rdx",
            "imul {low}, [{constants} + 128]",
            "and {bytes}, -64",
            "vmovq xmm0, {low}",
            "vpbroadcastq ymm0, xmm0",
            "vpsrlvq ymm1, ymm0, [{constants}]",
            "vpsrlvq ymm0, ymm0, [{constants} + 32]",
            "vpandn ymm1, ymm1, [{constants} + 64]",
            "vpandn ymm0, ymm0, [{constants} + 64]",
            "vmovdqa ymm2, [{lines} + {bytes}]",
            "vmovdqa ymm3, [{lines} + {bytes} + 32]",
            "vpsllvq ymm1, ymm2, ymm1",
            "vpsllvq ymm0, ymm3, ymm0",
            "vpand ymm0, ymm0, ymm1",
            "vmovmskpd {tops:e}, ymm0",
            "vzeroupper",
            in("rdx") hash,
            size = in(reg) size_of_val(lines),
            constants = in(reg) &CONSTANTS,
            lines = in(reg) lines.as_ptr(),
            bytes = out(reg) _,
            low = out(reg) _,
            tops = out(reg) tops,
            out("ymm0") _, out("ymm1") _, out("ymm2") _, out("ymm3") _,
            out("ymm4") _, out("ymm5") _, out("ymm6") _, out("ymm7") _,
            out("ymm8") _, out("ymm9") _, out("ymm10") _, out("ymm11") _,
            out("ymm12") _, out("ymm13") _, out("ymm14") _, out("ymm15") _,
            options(pure, readonly, nostack),
        );
    }
    tops >= ALL
}

/// Sets the bits of `hash`; says whether any was missing.
///
/// # Safety
/// As above.
#[inline(always)]
pub(in crate::simd) unsafe fn insert(lines: &mut [Line], hash: u64) -> bool {
    assert!(!lines.is_empty());
    let tops: u64;
    // SAFETY: as above; the line is written too, and `lines` is borrowed mutably.
    unsafe {
        asm!(
            "mulx {bytes}, {low}, {size}",
            "mov {low}, rdx",
            "shr {low}, 32",
            "xor {low}, rdx",
            "imul {low}, [{constants} + 128]",
            "and {bytes}, -64",
            "vmovq xmm0, {low}",
            "vpbroadcastq ymm0, xmm0",
            "vpsrlvq ymm1, ymm0, [{constants}]",
            "vpsrlvq ymm0, ymm0, [{constants} + 32]",
            "vpandn ymm1, ymm1, [{constants} + 64]",
            "vpandn ymm0, ymm0, [{constants} + 64]",
            "vmovdqa ymm2, [{lines} + {bytes}]",
            "vmovdqa ymm3, [{lines} + {bytes} + 32]",
            "vpsllvq ymm4, ymm2, ymm1",
            "vpsllvq ymm5, ymm3, ymm0",
            "vpand ymm4, ymm4, ymm5",
            "vmovdqa ymm5, [{constants} + 96]",
            "vmovmskpd {tops:e}, ymm4",
            "vpsrlvq ymm1, ymm5, ymm1",
            "vpsrlvq ymm0, ymm5, ymm0",
            "vpor ymm1, ymm1, ymm2",
            "vpor ymm0, ymm0, ymm3",
            "vmovdqa [{lines} + {bytes}], ymm1",
            "vmovdqa [{lines} + {bytes} + 32], ymm0",
            "vzeroupper",
            in("rdx") hash,
            size = in(reg) size_of_val(lines),
            constants = in(reg) &CONSTANTS,
            lines = in(reg) lines.as_mut_ptr(),
            bytes = out(reg) _,
            low = out(reg) _,
            tops = out(reg) tops,
            out("ymm0") _, out("ymm1") _, out("ymm2") _, out("ymm3") _,
            out("ymm4") _, out("ymm5") _, out("ymm6") _, out("ymm7") _,
            out("ymm8") _, out("ymm9") _, out("ymm10") _, out("ymm11") _,
            out("ymm12") _, out("ymm13") _, out("ymm14") _, out("ymm15") _,
            options(nostack),
        );
    }
    tops < ALL
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
