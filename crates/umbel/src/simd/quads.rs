//! Where integers and hashes go, sixteen at a time, in vectors of four words: AVX2. `alike` ends hashes in the same vectors.
//!
//! Each step is done for all four vectors before the next one: the processor sees too few instructions ahead to find the next
//! vector's steps behind those of the first.

use std::arch::x86_64::*;

use super::block::{BLOCK, Block, FEW, Few};
use crate::hash::{MULTIPLIER, PRIME};

/// Sixteen words.
pub(super) type Quads = [__m256i; 4];

/// [`Lanes::place`](super::generic::Lanes::place).
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
pub(super) fn place(hashes: &[u64; FEW], total: u32, few: &mut Few) {
    put(bytemuck::cast(*hashes), total, few);
}

/// [`Lanes::place_integers`](super::generic::Lanes::place_integers).
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline(never)]
pub(super) fn place_integers(keys: &[u64; BLOCK], secret: u64, total: u32, block: &mut Block) {
    for (keys, few) in keys.as_chunks::<FEW>().0.iter().zip(&mut block.fews) {
        put(hash(bytemuck::cast(*keys), secret), total, few);
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn put(hashes: Quads, total: u32, few: &mut Few) {
    few.places = bytemuck::cast(places(hashes, total));
    few.gs = bytemuck::cast(remixed(hashes));
}

/// `hash::xxh3_u64_with`.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn hash(keys: Quads, secret: u64) -> Quads {
    let by_24 = _mm256_broadcastsi128_si256(_mm_setr_epi8(
        5, 6, 7, 0, 1, 2, 3, 4, 13, 14, 15, 8, 9, 10, 11, 12,
    ));
    let h = keys.map(|x| _mm256_shuffle_epi32::<0b10_11_00_01>(x));
    let h = h.map(|x| _mm256_xor_si256(x, _mm256_set1_epi64x(secret as i64)));
    let a = h.map(|x| _mm256_shuffle_epi8(x, by_24));
    let b = h.map(|x| _mm256_slli_epi64::<49>(x));
    let c = h.map(|x| _mm256_srli_epi64::<15>(x));
    let h = product(xor(xor(h, a), xor(b, c)), PRIME);
    let d = h.map(|x| _mm256_srli_epi64::<35>(x));
    let d = d.map(|x| _mm256_add_epi64(x, _mm256_set1_epi64x(8)));
    let h = product(xor(h, d), PRIME);
    let e = h.map(|x| _mm256_srli_epi64::<28>(x));
    xor(h, e)
}

/// The upper halves of products with `total`, from products of 32 bits; without their last bits they are places of lines.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn places(hashes: Quads, total: u32) -> Quads {
    // In both halves of a word, or the compiler would take the upper half into account.
    let total = _mm256_set1_epi32(total as i32);
    let upper = hashes.map(|x| _mm256_srli_epi64::<32>(x));
    let low = hashes.map(|x| _mm256_mul_epu32(x, total));
    let high = upper.map(|x| _mm256_mul_epu32(x, total));
    let carried = low.map(|x| _mm256_srli_epi64::<32>(x));
    let sums = each(high, carried, |x, y| _mm256_add_epi64(x, y));
    let bytes = sums.map(|x| _mm256_srli_epi64::<32>(x));
    bytes.map(|x| _mm256_and_si256(x, _mm256_set1_epi64x(!63)))
}

/// `hash::mix`.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn remixed(hashes: Quads) -> Quads {
    let upper = hashes.map(|x| _mm256_srli_epi64::<32>(x));
    product(xor(hashes, upper), MULTIPLIER)
}

/// The lower halves of products, from products of 32 bits.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
pub(super) fn product(x: Quads, y: u64) -> Quads {
    let swapped = _mm256_set1_epi64x(y.rotate_left(32) as i64);
    let crossed = x.map(|x| _mm256_mullo_epi32(x, swapped));
    let low = x.map(|x| _mm256_mul_epu32(x, _mm256_set1_epi64x(y as i64)));
    let upper = crossed.map(|x| _mm256_and_si256(x, _mm256_set1_epi64x(!0 << 32)));
    let lower = crossed.map(|x| _mm256_slli_epi64::<32>(x));
    let sums = each(low, upper, |x, y| _mm256_add_epi32(x, y));
    each(sums, lower, |x, y| _mm256_add_epi32(x, y))
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
pub(super) fn xor(x: Quads, y: Quads) -> Quads {
    each(x, y, |x, y| _mm256_xor_si256(x, y))
}

#[inline(always)]
fn each(x: Quads, y: Quads, f: impl Fn(__m256i, __m256i) -> __m256i) -> Quads {
    std::array::from_fn(|i| f(x[i], y[i]))
}

#[cfg(test)]
mod tests {
    use super::super::avx2;
    use super::*;
    use crate::hash::{mix, reduce, xxh3_u64, xxh3_u64_secret};

    /// For keys of every kind and lines of up to 4 GiB less one line.
    #[test]
    fn keys_go_where_single_ones_go() {
        if !avx2::is_available() {
            return;
        }
        let edges =
            (0..64).flat_map(|bit| [1 << bit, !(1 << bit), u64::MAX << bit, u64::MAX >> bit]);
        let keys: Vec<u64> = edges.chain((1..20_000).map(mix)).collect();
        for (keys, seed) in keys.as_chunks::<BLOCK>().0.iter().zip((1..).map(mix)) {
            let total = (seed as u32 & !63).max(64);
            let mut block = Block::new();
            // SAFETY: the machine has AVX2.
            unsafe { place_integers(keys, xxh3_u64_secret(seed), total, &mut block) };
            for (keys, few) in keys.as_chunks::<FEW>().0.iter().zip(&mut block.fews) {
                let hashes = keys.map(|key| xxh3_u64(key, seed));
                let places = hashes.map(|hash| 64 * reduce(hash, u64::from(total / 64)) as usize);
                assert_eq!((few.places, few.gs), (places, hashes.map(mix)));
                *few = Few { places: [0; FEW], gs: [0; FEW] };
                // SAFETY: as above.
                unsafe { place(&hashes, total, few) };
                assert_eq!((few.places, few.gs), (places, hashes.map(mix)));
            }
        }
    }
}
