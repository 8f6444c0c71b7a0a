//! The one place of this crate that uses vectors.

/// One bit for each byte that is `wanted`.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn byte_mask(chunk: &[u8; 64], wanted: u8) -> u64 {
    use std::arch::x86_64::{__m128i, _mm_cmpeq_epi8, _mm_movemask_epi8, _mm_set1_epi8};
    let parts: [__m128i; 4] = bytemuck::cast(*chunk);
    let [a, b, c, d] = parts.map(|part| {
        // SAFETY: SSE2 belongs to every x86-64 machine.
        let mask = unsafe { _mm_movemask_epi8(_mm_cmpeq_epi8(part, _mm_set1_epi8(wanted as i8))) };
        u64::from(mask as u16)
    });
    a | b << 16 | c << 32 | d << 48
}

/// One bit for each byte that is `wanted`.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(crate) fn byte_mask(chunk: &[u8; 64], wanted: u8) -> u64 {
    chunk.iter().enumerate().fold(0, |mask, (i, &byte)| mask | u64::from(byte == wanted) << i)
}
