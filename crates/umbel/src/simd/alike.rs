//! XXH3-64 of sixteen keys of one length, 17 to 32 bytes. Their products are worked out one by one (AVX2 has none so wide), the rest in
//! vectors; `eight` has the formula.

use std::arch::x86_64::*;

use super::block::FEW;
use super::eight::{LAST, PRIME, SECRET};
use super::quads::{Quads, product, xor};

/// The hashes of `key(0)` to `key(15)`, if they are of such a length; says whether.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
pub(super) fn hash<'k>(
    key: impl Fn(usize) -> &'k [u8],
    seed: u64,
    hashes: &mut [u64; FEW],
) -> bool {
    let len = key(0).len();
    if !(17..=32).contains(&len) {
        return false;
    }
    let (a, b) = (secret(0, seed), secret(2, seed));
    for (i, sum) in hashes.iter_mut().enumerate() {
        let key = key(i);
        if key.len() != len {
            return false;
        }
        if let (Some(first), Some(last)) = (key.first_chunk(), key.last_chunk()) {
            *sum = fold(first, a).wrapping_add(fold(last, b));
        }
    }
    let start = _mm256_set1_epi64x((len as u64).wrapping_mul(PRIME) as i64);
    let sums: Quads = bytemuck::cast(*hashes);
    *hashes = bytemuck::cast(avalanche(sums.map(|x| _mm256_add_epi64(x, start))));
    true
}

/// A pair of the secret's words, with the seed.
#[inline(always)]
fn secret(at: usize, seed: u64) -> [u64; 2] {
    [SECRET[at].wrapping_add(seed), SECRET[at + 1].wrapping_sub(seed)]
}

/// The two halves of a product of 128 bits, xored.
#[inline(always)]
fn fold(bytes: &[u8; 16], secret: [u64; 2]) -> u64 {
    let words = u128::from_le_bytes(*bytes);
    let (low, high) = (words as u64 ^ secret[0], (words >> 64) as u64 ^ secret[1]);
    let product = u128::from(low) * u128::from(high);
    product as u64 ^ (product >> 64) as u64
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn avalanche(x: Quads) -> Quads {
    let a = x.map(|x| _mm256_srli_epi64::<37>(x));
    let x = product(xor(x, a), LAST);
    let b = x.map(|x| _mm256_srli_epi64::<32>(x));
    xor(x, b)
}

#[cfg(test)]
mod tests {
    use super::super::avx2;
    use super::*;
    use crate::hash::{mix, xxh3};

    /// Every length with several seeds; and none where one key is of another.
    #[test]
    fn sixteen_hashes_equal_those_one_by_one() {
        if !avx2::is_available() {
            return;
        }
        let bytes: Vec<u8> = (0..4096).map(|i| (mix(i + 1) >> 56) as u8).collect();
        for (seed, len) in
            [0, 1, u64::MAX, mix(7)].into_iter().flat_map(|s| (0..40).map(move |len| (s, len)))
        {
            let mut keys: [&[u8]; FEW] = std::array::from_fn(|i| &bytes[i * 101..][..len]);
            let fits = (17..=32).contains(&len);
            let expected = fits.then(|| keys.map(|key| xxh3(key, seed)));
            assert_eq!(hashes(&keys, seed), expected, "{len} bytes");
            for (i, other) in [(0, len + 1), (7, len + 1), (15, len.saturating_sub(1))] {
                let key = std::mem::replace(&mut keys[i], &bytes[..other]);
                let expected = expected.filter(|_| other == len);
                assert_eq!(hashes(&keys, seed), expected, "{len} bytes, {other} in key {i}");
                keys[i] = key;
            }
        }
    }

    fn hashes(keys: &[&[u8]; FEW], seed: u64) -> Option<[u64; FEW]> {
        let mut hashes = [0; FEW];
        // SAFETY: the machine has AVX2.
        unsafe { hash(|i| keys[i], seed, &mut hashes) }.then_some(hashes)
    }
}
