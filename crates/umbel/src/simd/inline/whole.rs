//! One key with a 512-bit vector, which is a whole line. What is wider than 128 bits is in registers from 16 on, which need
//! no cleaning.

use std::arch::asm;

use super::hash_u64;
use crate::hash::{MULTIPLIER, PRIME};
use crate::memory::Line;

/// What the code reads: a word for each word of a line, or for each lane of a smaller vector.
#[repr(C, align(64))]
struct Constants {
    shifts: [u64; 8],
    multipliers: [u64; 8],
    ones: [u64; 8],
    primes: [u64; 2],
    eights: [u64; 2],
}

static CONSTANTS: Constants = Constants {
    shifts: [16, 22, 28, 34, 40, 46, 52, 58],
    multipliers: [MULTIPLIER; 8],
    ones: [1; 8],
    primes: [PRIME; 2],
    eights: [8; 2],
};

/// Whether the line of `hash` has all its bits.
///
/// # Safety
/// The machine has AVX-512 F, DQ and VL, and BMI2.
#[inline(always)]
pub(in crate::simd) unsafe fn contains(lines: &[Line], hash: u64) -> bool {
    // SAFETY: as the caller promises.
    unsafe { test(lines, hash, f64::from_bits(hash)) }
}

/// The same for an integer key, with the secret of the seed.
///
/// # Safety
/// As above.
#[inline(always)]
pub(in crate::simd) unsafe fn contains_u64(lines: &[Line], key: u64, secret: u64) -> bool {
    // SAFETY: as the caller promises.
    let (hash, lane) = unsafe { hash_u64_in_lane(key, secret) };
    // SAFETY: as the caller promises.
    unsafe { test(lines, hash, lane) }
}

/// `hash`, also in a `lane` of a vector, where it is remixed.
///
/// # Safety
/// As above.
#[inline(always)]
unsafe fn test(lines: &[Line], hash: u64, lane: f64) -> bool {
    assert!(!lines.is_empty());
    let missing: u64;
    // SAFETY: the line is one of `lines`: the upper half of the product is below their size in bytes, and cut to a
    // multiple of 64. Nothing is written but the registers named.
    unsafe {
        asm!(
            "mulx {bytes}, {low}, {size}",
            "and {bytes}, -64",
            "vpsrlq xmm16, {lane}, 32",
            "vpxorq xmm16, xmm16, {lane}",
            "vpmullq xmm16, xmm16, [{constants} + 64]",
            "vpbroadcastq zmm16, xmm16",
            "vpsrlvq zmm16, zmm16, [{constants}]",
            "vmovdqa64 zmm17, [{constants} + 128]",
            "vprolvq zmm16, zmm17, zmm16",
            "vptestnmq k1, zmm16, [{lines} + {bytes}]",
            "kmovb {bytes:e}, k1",
            in("rdx") hash,
            lane = in(xmm_reg) lane,
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

/// [`hash_u64`], whose second half is worked out in the vector that needs the hash: a processor has room there while its other units
/// are full, and a lookup takes a tenth to a seventh less.
///
/// # Safety
/// As above.
#[inline(always)]
unsafe fn hash_u64_in_lane(key: u64, secret: u64) -> (u64, f64) {
    let (hash, lane);
    // SAFETY: the constants are read; only the registers named, and flags, are changed.
    unsafe {
        asm!(
            "rorx {hash}, {key}, 32",
            "xor {hash}, {secret}",
            "rorx {a}, {hash}, 15",
            "rorx {b}, {hash}, 40",
            "xor {a}, {b}",
            "xor {hash}, {a}",
            "imul {hash}, {prime}",
            "vmovq {lane}, {hash}",
            "vpsrlq xmm16, {lane}, 35",
            "vpaddq xmm16, xmm16, [{constants} + 208]",
            "vpxorq xmm16, xmm16, {lane}",
            "vpmullq xmm16, xmm16, [{constants} + 192]",
            "vpsrlq {lane}, xmm16, 28",
            "vpxorq {lane}, {lane}, xmm16",
            "vmovq {hash}, {lane}",
            key = in(reg) key,
            secret = in(reg) secret,
            prime = in(reg) PRIME,
            constants = in(reg) &CONSTANTS,
            hash = out(reg) hash,
            a = out(reg) _,
            b = out(reg) _,
            lane = out(xmm_reg) lane,
            out("xmm16") _,
            options(pure, readonly, nostack),
        );
    }
    (hash, lane)
}

/// Sets the bits of `hash`; says whether any was missing.
///
/// # Safety
/// As above.
#[inline(always)]
pub(in crate::simd) unsafe fn insert(lines: &mut [Line], hash: u64) -> bool {
    assert!(!lines.is_empty());
    let missing: u64;
    // SAFETY: the line is one of `lines`: the upper half of the product is below their number. It is written too, and
    // `lines` is borrowed mutably.
    unsafe {
        asm!(
            "vpbroadcastq zmm16, rdx",
            "mulx {line}, {low}, {len}",
            "shl {line}, 6",
            "vpsrlq zmm17, zmm16, 32",
            "vpxorq zmm16, zmm16, zmm17",
            "vpmullq zmm16, zmm16, [{constants} + 64]",
            "vpsrlvq zmm16, zmm16, [{constants}]",
            "vmovdqa64 zmm17, [{constants} + 128]",
            "vprolvq zmm16, zmm17, zmm16",
            "vmovdqa64 zmm17, [{lines} + {line}]",
            "vptestnmq k1, zmm16, zmm17",
            "vporq zmm16, zmm16, zmm17",
            "vmovdqa64 [{lines} + {line}], zmm16",
            "kmovb {line:e}, k1",
            in("rdx") hash,
            len = in(reg) lines.len(),
            constants = in(reg) &CONSTANTS,
            lines = in(reg) lines.as_mut_ptr(),
            line = out(reg) missing,
            low = out(reg) _,
            out("xmm16") _, out("xmm17") _, out("k1") _,
            options(nostack),
        );
    }
    missing != 0
}

/// The same for an integer key, with the secret of the seed. Its hash stays out of vectors: from there it comes later, and with a store
/// behind it that costs more than it saves.
///
/// # Safety
/// As above.
#[inline(always)]
pub(in crate::simd) unsafe fn insert_u64(lines: &mut [Line], key: u64, secret: u64) -> bool {
    // SAFETY: as the caller promises.
    unsafe { insert(lines, hash_u64(key, secret)) }
}
