//! XXH3-64 of eight keys at once, a key in each word of a 512-bit vector: for keys of one length, 17 to 128 bytes.
//!
//! ```text
//! acc = length · PRIME
//! for i in 0 ..= (length - 1) / 32:
//!     acc += fold(16 bytes from 16 i on,               secret words 4 i, 4 i + 1)
//!     acc += fold(16 bytes from length - 16 (i + 1) on, secret words 4 i + 2, 4 i + 3)
//! avalanche(acc)
//!
//! fold(x, s) = hi(p) xor lo(p),  p = (x's lower word xor (s0 + seed)) · (x's upper word xor (s1 - seed))
//! ```

use std::arch::x86_64::*;
use std::mem::offset_of;

use crate::bloom::Span;
use crate::hash::xxh3;

/// The first words of the default secret.
pub(super) const SECRET: [u64; 16] = [
    0xBE4B_A423_396C_FEB8,
    0x1CAD_21F7_2C81_017C,
    0xDB97_9083_E96D_D4DE,
    0x1F67_B3B7_A4A4_4072,
    0x78E5_C0CC_4EE6_79CB,
    0x2172_FFCC_7DD0_5A82,
    0x8E24_43F7_7446_08B8,
    0x4C26_3A81_E690_35E0,
    0xCB00_C391_BB52_283C,
    0xA32E_531B_8B65_D088,
    0x4EF9_0DA2_9748_6471,
    0xD8AC_DEA9_46EF_1938,
    0x3F34_9CE3_3F76_FAA8,
    0x1D4F_0BC7_C7BB_DCF9,
    0x3159_B4CD_4BE0_518A,
    0x6473_78D9_C97E_9FC8,
];

/// The multiplier of the length.
pub(super) const PRIME: u64 = 0x9E37_79B1_85EB_CA87;
/// The multiplier of the avalanche.
pub(super) const LAST: u64 = 0x1656_6791_9E37_79F9;

/// The hashes of keys; those that do not stand among eight of one length, one by one.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi1,bmi2")]
#[inline]
pub(super) fn hash(keys: &[&[u8]], seed: u64, hashes: &mut [u64]) {
    let ((eights, rest), (hashes, last)) = (keys.as_chunks::<8>(), hashes.as_chunks_mut());
    let first = [secret(0, seed), secret(2, seed)];
    // Plain loops: what a closure of this function does is not made part of a function without its features.
    for (keys, hashes) in eights.iter().zip(hashes) {
        let len = keys[0].len();
        let mut different = 0;
        for key in keys {
            different |= key.len() ^ len;
        }
        if different == 0 && (17..=128).contains(&len) {
            let mut at = At([std::ptr::null(); 8]);
            for (at, key) in at.0.iter_mut().zip(keys) {
                *at = key.as_ptr();
            }
            // SAFETY: all keys have this length, 17 to 128.
            unsafe { hash_eight(&at, len, seed, first, hashes) };
        } else {
            for (hash, key) in hashes.iter_mut().zip(keys) {
                *hash = xxh3(key, seed);
            }
        }
    }
    for (hash, key) in last.iter_mut().zip(rest) {
        *hash = xxh3(key, seed);
    }
}

// A span is a word of a vector, its start in the lower half.
const _: () = assert!(size_of::<Span>() == 8 && offset_of!(Span, start) == 0);

/// The same for keys that stand in a text: whether they do, and whether they have one length, is seen for eight at once.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi1,bmi2")]
#[inline]
pub(super) fn hash_spans(text: &[u8], spans: &[Span], seed: u64, hashes: &mut [u64]) {
    let ((eights, rest), (hashes, last)) = (spans.as_chunks::<8>(), hashes.as_chunks_mut());
    let first = [secret(0, seed), secret(2, seed)];
    let size = _mm512_set1_epi64(text.len() as i64);
    for (spans, hashes) in eights.iter().zip(hashes) {
        let len = spans[0].end.wrapping_sub(spans[0].start);
        // SAFETY: 64 bytes are read, which eight spans have. The start is in the lower half of each word.
        let words = unsafe { _mm512_loadu_si512(spans.as_ptr().cast()) };
        let starts = _mm512_maskz_mov_epi32(0x5555, words);
        let ends = _mm512_srli_epi64::<32>(words);
        let lens = _mm512_sub_epi64(ends, starts);
        let alike = _mm512_cmpeq_epi64_mask(lens, _mm512_set1_epi64(i64::from(len)));
        let within = _mm512_cmple_epu64_mask(ends, size);
        if alike & within == 0xFF && (17..=128).contains(&len) {
            let mut at = At([text.as_ptr(); 8]);
            for (at, span) in at.0.iter_mut().zip(spans) {
                *at = text.as_ptr().wrapping_add(span.start as usize);
            }
            // SAFETY: all keys have this length, 17 to 128, and end in the text. They begin before they end: lengths were compared in 64
            // bits, where a start behind its end gives none so small.
            unsafe { hash_eight(&at, len as usize, seed, first, hashes) };
        } else {
            for (hash, span) in hashes.iter_mut().zip(spans) {
                *hash = xxh3(span.of(text), seed);
            }
        }
    }
    for (hash, span) in last.iter_mut().zip(rest) {
        *hash = xxh3(span.of(text), seed);
    }
}

/// Where eight keys stand.
struct At([*const u8; 8]);

/// `first` is what the secrets of the first two folds are with this seed.
///
/// # Safety
/// All keys have `len` bytes, 17 to 128.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi1,bmi2")]
#[inline]
unsafe fn hash_eight(
    keys: &At,
    len: usize,
    seed: u64,
    first: [[__m512i; 2]; 2],
    hashes: &mut [u64; 8],
) {
    let mut acc = _mm512_set1_epi64((len as u64).wrapping_mul(PRIME) as i64);
    // SAFETY: every key has 16 bytes, from the first on and before the end.
    let (front, back) = unsafe { (words(keys, 0), words(keys, len - 16)) };
    acc = _mm512_add_epi64(acc, fold(front, first[0]));
    acc = _mm512_add_epi64(acc, fold(back, first[1]));
    if len > 32 {
        // SAFETY: as the caller promises.
        unsafe { add_inner(&mut acc, &At(keys.0), len, seed) };
    }
    let order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    let acc = _mm512_permutexvar_epi64(order, avalanche(acc));
    // SAFETY: there is room for eight words.
    unsafe { _mm512_storeu_si512(hashes.as_mut_ptr().cast(), acc) };
}

/// The folds between the first and the last. A function of its own: it would take registers from short keys.
///
/// # Safety
/// All keys have `len` bytes, 33 to 128.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi1,bmi2")]
#[inline(never)]
unsafe fn add_inner(acc: &mut __m512i, keys: &At, len: usize, seed: u64) {
    for i in 1..=(len - 1) / 32 {
        for (at, secret) in
            [(16 * i, secret(4 * i, seed)), (len - 16 * (i + 1), secret(4 * i + 2, seed))]
        {
            // SAFETY: 16 bytes from here on are in every key.
            let words = unsafe { words(keys, at) };
            *acc = _mm512_add_epi64(*acc, fold(words, secret));
        }
    }
}

/// A pair of the secret's words, with the seed.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi1,bmi2")]
#[inline]
fn secret(at: usize, seed: u64) -> [__m512i; 2] {
    let [a, b] = [SECRET[at].wrapping_add(seed), SECRET[at + 1].wrapping_sub(seed)];
    [_mm512_set1_epi64(a as i64), _mm512_set1_epi64(b as i64)]
}

/// The lower and the upper words of 16 bytes of every key, from `at` on, in the order of keys 0 4 1 5 2 6 3 7.
///
/// # Safety
/// Every key has these bytes.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi1,bmi2")]
#[inline]
unsafe fn words(keys: &At, at: usize) -> [__m512i; 2] {
    // SAFETY: as the caller promises.
    let load = |i: usize| unsafe { _mm_loadu_si128(keys.0[i].add(at).cast()) };
    let two = |i| _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(load(i)), load(i + 1));
    let four = |i| _mm512_inserti64x4::<1>(_mm512_castsi256_si512(two(i)), two(i + 2));
    let (a, b) = (four(0), four(4));
    [_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b)]
}

/// The two halves of a product of 128 bits, xored. The product is put together from four of 32-bit halves.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi1,bmi2")]
#[inline]
fn fold([low, high]: [__m512i; 2], secret: [__m512i; 2]) -> __m512i {
    let (a, b) = (_mm512_xor_si512(low, secret[0]), _mm512_xor_si512(high, secret[1]));
    let upper = |x| _mm512_srli_epi64::<32>(x);
    // Not a plain "and": the compiler would see a wide product in all this, and work it out word by word.
    let lower = |x| _mm512_maskz_mov_epi32(0x5555, x);
    let (a_up, b_up) = (upper(a), upper(b));
    let middle = _mm512_add_epi64(_mm512_mul_epu32(a_up, b), upper(_mm512_mul_epu32(a, b)));
    let other = _mm512_add_epi64(_mm512_mul_epu32(a, b_up), lower(middle));
    let carried = _mm512_add_epi64(upper(middle), upper(other));
    let hi = _mm512_add_epi64(_mm512_mul_epu32(a_up, b_up), carried);
    _mm512_xor_si512(hi, _mm512_mullo_epi64(a, b))
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi1,bmi2")]
#[inline]
fn avalanche(x: __m512i) -> __m512i {
    let x = _mm512_xor_si512(x, _mm512_srli_epi64::<37>(x));
    let x = _mm512_mullo_epi64(x, _mm512_set1_epi64(LAST as i64));
    _mm512_xor_si512(x, _mm512_srli_epi64::<32>(x))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;

    /// Every length, alone and mixed, with several seeds, in any number of keys.
    #[test]
    fn eight_hashes_equal_those_one_by_one() {
        if !super::super::avx512::is_available() {
            return;
        }
        let bytes: Vec<u8> = (0..4096).map(|i| (mix(i + 1) >> 56) as u8).collect();
        for seed in [0, 1, u64::MAX, mix(7)] {
            for len in 0..300 {
                let mut keys: Vec<&[u8]> =
                    (0..37).map(|i| &bytes[i * 101..i * 101 + len]).collect();
                check(&keys, seed);
                keys[11] = &bytes[..20];
                check(&keys, seed);
            }
        }
    }

    fn check(keys: &[&[u8]], seed: u64) {
        let expected: Vec<u64> = keys.iter().map(|key| xxh3(key, seed)).collect();
        let (text, mut end) = (keys.concat(), 0);
        let next = |key: &&[u8]| {
            end += key.len();
            Span::try_from(end - key.len()..end).unwrap()
        };
        let spans: Vec<Span> = keys.iter().map(next).collect();
        for len in [0, 7, 8, 9, keys.len()] {
            let [mut hashes, mut in_text] = [(); 2].map(|()| vec![0; len]);
            // SAFETY: AVX-512 is there.
            unsafe { hash(&keys[..len], seed, &mut hashes) };
            // SAFETY: as above.
            unsafe { hash_spans(&text, &spans[..len], seed, &mut in_text) };
            assert_eq!([&hashes, &in_text], [&expected[..len]; 2]);
        }
    }
}
