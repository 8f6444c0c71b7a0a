//! Finding the ends of lines, 64 bytes at a time.

use crate::simd::byte_mask;

/// Calls `found` with the place of every newline, in order.
#[inline(always)]
pub(crate) fn newlines(bytes: &[u8], mut found: impl FnMut(usize)) {
    let (chunks, tail) = bytes.as_chunks::<64>();
    for (i, chunk) in chunks.iter().enumerate() {
        let mut mask = byte_mask(chunk, b'\n');
        while mask != 0 {
            found(i * 64 + mask.trailing_zeros() as usize);
            mask &= mask - 1;
        }
    }
    let start = bytes.len() - tail.len();
    memchr::memchr_iter(b'\n', tail).for_each(|at| found(start + at));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_every_newline() {
        for len in 0..300 {
            for step in 1..70 {
                let bytes: Vec<u8> =
                    (0..len).map(|i| if i % step == step / 2 { b'\n' } else { b'\x8A' }).collect();
                let mut found = Vec::new();
                newlines(&bytes, |at| found.push(at));
                let expected: Vec<usize> = (0..len).filter(|i| i % step == step / 2).collect();
                assert_eq!(found, expected);
            }
        }
    }
}
