//! False-positive rates. A measured rate must fit the rate computed from the bits (binomial), and that one the theory
//! (the spread of the fill, `support/spread.rs`). All keys are fixed: nothing here is left to chance.

#![allow(clippy::unwrap_used)]

mod support;

use support::random::{integers, slices, texts};
use support::samples;
use support::spread::spread;
use umbel::hash::{Family, Strategy};
use umbel::{Bloom, Keys, Sizing};

fn empty(sizing: Sizing, seed: u64) -> Bloom {
    samples::empty(sizing, Strategy::Xxh3 { seed })
}

fn holding(sizing: Sizing, keys: Keys<'_>) -> Bloom {
    let mut filter = empty(sizing, 0);
    filter.insert_batch(keys).unwrap();
    filter
}

fn admitted(filter: &Bloom, strangers: Keys<'_>) -> u64 {
    let mut found = vec![0; strangers.len().div_ceil(64)];
    filter.contains_mask(strangers, &mut found).unwrap();
    found.iter().map(|word| u64::from(word.count_ones())).sum()
}

/// A count of `tries` at this rate lies within 4.5 standard deviations; the normal law serves from 50 on.
fn fits_binomial(count: u64, tries: f64, rate: f64, what: &str) {
    let expected = tries * rate;
    assert!(expected > 50.0, "{what}: too few strangers for a rate of {rate}");
    let deviations = (count as f64 - expected) / (expected * (1.0 - rate)).sqrt();
    assert!(deviations.abs() <= 4.5, "{what}: {count} of {tries}, {deviations:.1} sd from {rate}");
}

/// The rate by the bits, and the number of keys by the bits, lie within four standard deviations of theory. The filter
/// holds as many distinct keys as it was sized for.
fn fits_theory(filter: &Bloom, what: &str) {
    let sizing = filter.sizing();
    let spread = spread(sizing);
    let off = (filter.expected_rate_now() - sizing.expected_rate()) / spread.rate;
    assert!(off.abs() <= 4.0, "{what}: the rate by the bits is {off:.1} sd from theory");

    let n = sizing.capacity() as f64;
    let (m, k) = (sizing.bits() as f64, f64::from(sizing.probes()));
    // n = -(m/k) ln(1 - fill), hence dn = (m/k) dfill / (1 - fill).
    let deviation = m / k * spread.fill / (1.0 - filter.fill());
    let off = (filter.estimated_len() - n) / deviation;
    assert!(
        off.abs() <= 4.0,
        "{what}: {} keys by the bits, {off:.1} sd off",
        filter.estimated_len()
    );
}

fn fits(filter: &Bloom, strangers: Keys<'_>, what: &str) {
    fits_theory(filter, what);
    let tries = strangers.len() as f64;
    fits_binomial(admitted(filter, strangers), tries, filter.expected_rate_now(), what);
}

/// Both layouts for n keys at rate p.
fn both(n: usize, p: f64) -> [Sizing; 2] {
    [Sizing::classic(n as u64, p).unwrap(), Sizing::blocked(n as u64, p).unwrap()]
}

#[test]
fn rates_at_several_n_and_p() {
    for (stream, n) in [(1, 1000), (2, 20_000), (3, 300_000)] {
        for (p, strangers) in
            [(0.2, 100_000), (0.01, 200_000), (0.001, 1_000_000), (0.0001, 3_000_000)]
        {
            for sizing in both(n, p) {
                let filter = holding(sizing, Keys::U64(&integers(stream, n)));
                let what = format!("{}, n {n}, p {p}", sizing.layout());
                fits(&filter, Keys::U64(&integers(9, strangers)), &what);
            }
        }
    }
}

#[test]
fn rates_with_other_numbers_of_probes() {
    for k in [1, 2, 3, 5, 9, 16, 30] {
        for p in [0.05, 0.002] {
            let sizing = Sizing::classic_with_probes(20_000, p, k).unwrap();
            let filter = holding(sizing, Keys::U64(&integers(1, 20_000)));
            fits(&filter, Keys::U64(&integers(9, 300_000)), &format!("k {k}, p {p}"));
        }
    }
}

#[test]
fn rates_of_the_murmur_families() {
    let (keys, strangers) = (texts(1, 20_000), texts(2, 300_000));
    for family in [Family::Murmur2, Family::Murmur3] {
        for k in [3, 7] {
            let sizing = Sizing::classic_with_probes(20_000, 0.01, k).unwrap();
            let mut filter = samples::empty(sizing, Strategy::seeded(family, k));
            assert!(filter.params().strategy().keeps_rate());
            filter.insert_batch(Keys::Bytes(&slices(&keys))).unwrap();
            fits(&filter, Keys::Bytes(&slices(&strangers)), &format!("{family:?}, k {k}"));
        }
    }
    let polynomial = Strategy::seeded(Family::PolynomialMod, 3);
    assert!(!polynomial.keeps_rate(), "no promise is made for the polynomial families");
}

#[test]
fn rates_after_a_merge_of_sixteen_partials() {
    let keys = integers(4, 160_000);
    for sizing in both(keys.len(), 0.01) {
        let mut merged = empty(sizing, 0);
        for partial in keys.chunks(10_000) {
            assert_eq!(merged.merge(&holding(sizing, Keys::U64(partial))).unwrap(), None);
        }
        fits(&merged, Keys::U64(&integers(9, 500_000)), sizing.layout().name());
    }
}

/// A filter filled beyond its size still tells its rate truly.
#[test]
fn rates_of_an_overfull_filter() {
    for sizing in both(10_000, 0.01) {
        let filter = holding(sizing, Keys::U64(&integers(1, 30_000)));
        let (now, strangers) = (filter.expected_rate_now(), integers(9, 100_000));
        let ratio = now / sizing.rate_at(30_000);
        assert!((0.97..1.03).contains(&ratio) && now > 0.2, "{now}");
        fits_binomial(admitted(&filter, Keys::U64(&strangers)), 1e5, now, "overfull");
    }
}

#[test]
fn sequential_integers() {
    let keys: Vec<u64> = (0..500_000).collect();
    let (keys, strangers) = keys.split_at(100_000);
    for p in [0.01, 0.001] {
        for sizing in both(keys.len(), p) {
            let what = format!("{} integers, p {p}", sizing.layout());
            fits(&holding(sizing, Keys::U64(keys)), Keys::U64(strangers), &what);
            // In steps of a power of two, as addresses come.
            let [keys, strangers] =
                [keys, strangers].map(|keys| keys.iter().map(|key| key << 40).collect::<Vec<_>>());
            fits(&holding(sizing, Keys::U64(&keys)), Keys::U64(&strangers), &what);
        }
    }
}

/// The fit for keys of bytes: the first `n` are in, the others are strangers.
fn fits_bytes(keys: &[Vec<u8>], n: usize, what: &str) {
    let keys = slices(keys);
    for sizing in both(n, 0.01) {
        let filter = holding(sizing, Keys::Bytes(&keys[..n]));
        fits(&filter, Keys::Bytes(&keys[n..]), &format!("{}, {what}", sizing.layout()));
    }
}

#[test]
fn sequential_texts() {
    let keys: Vec<_> = (0..400_000).map(|i| i.to_string().into_bytes()).collect();
    fits_bytes(&keys, 100_000, "texts of numbers");
}

#[test]
fn a_common_prefix_of_a_thousand_bytes() {
    let prefix = "/a/long/path".repeat(84);
    let keys: Vec<_> = (0..120_000).map(|i| format!("{prefix}{i}").into_bytes()).collect();
    assert!(prefix.len() > 1000);
    fits_bytes(&keys, 20_000, "a common prefix");
}

#[test]
fn keys_that_differ_in_one_bit() {
    let base = vec![0x55; 4096];
    let flipped = |bit: usize| {
        let mut key = base.clone();
        key[bit / 8] ^= 1 << (bit % 8);
        key
    };
    // 7919 is odd: every bit once, in an order that mixes near and far.
    let keys: Vec<_> = (0..8 * base.len()).map(|i| flipped(i * 7919 % (8 * base.len()))).collect();
    fits_bytes(&keys, 8000, "one bit of 32768");
}

/// The 63-bit numbers with this many bits set, in ascending order (Gosper's way).
fn of_bits(count: u32) -> Vec<u64> {
    let (mut numbers, mut x) = (Vec::new(), (1_u64 << count) - 1);
    while x < 1 << 63 {
        numbers.push(x);
        let low = x & x.wrapping_neg();
        let next = x + low;
        x = next | (((x ^ next) >> 2) / low);
    }
    numbers
}

/// Integers with three bits set are in, those with four are strangers.
#[test]
fn integers_of_few_bits() {
    let (keys, strangers) = (of_bits(3), of_bits(4));
    assert_eq!((keys.len(), strangers.len()), (39_711, 595_665));
    for sizing in both(keys.len(), 0.01) {
        fits(&holding(sizing, Keys::U64(&keys)), Keys::U64(&strangers), sizing.layout().name());
    }
}

/// With 2^k lines the line is the hash's top bits alone: the probes must not depend on them.
#[test]
fn a_power_of_two_lines() {
    for lines in [1_u64 << 6, 1 << 12] {
        let sizing = Sizing::blocked_with(lines * 50, lines * 512).unwrap();
        for keys in [integers(1, 50 * lines as usize), (0..50 * lines).collect()] {
            let filter = holding(sizing, Keys::U64(&keys));
            fits(&filter, Keys::U64(&integers(9, 500_000)), &format!("{lines} lines"));
        }
        let (m, n) = (lines * 512, lines * 50);
        let filter = holding(Sizing::with(n, m, 7).unwrap(), Keys::U64(&integers(1, n as usize)));
        fits(&filter, Keys::U64(&integers(9, 500_000)), &format!("{m} bits"));
    }
}

/// The mean of (set bits / m)^k after `throws` throws, by the exact law of how many bits get set.
fn exact_mean(m: usize, throws: usize, k: i32) -> f64 {
    let mut law = vec![0.0; m + 2];
    law[0] = 1.0;
    for _ in 0..throws {
        for set in (0..=m).rev() {
            let free = (m - set) as f64 / m as f64;
            law[set + 1] += law[set] * free;
            law[set] *= 1.0 - free;
        }
    }
    law.iter().enumerate().map(|(set, share)| share * (set as f64 / m as f64).powi(k)).sum()
}

/// Many small filters, each with its own seed: their mean rate is exactly known, and h1 + i·h2 would miss it by far
/// (2.2 times at 106 bits, 1.38 times at n = 1000, p = 10^-4).
fn small_filters(n: usize, p: f64, filters: u64, strangers: usize) {
    let sizing = Sizing::classic(n as u64, p).unwrap();
    let (m, k) = (sizing.bits() as usize, sizing.probes());
    let (keys, strangers) = (integers(1, n), integers(9, strangers));
    let (mut rates, mut count) = (0.0, 0);
    for seed in 0..filters {
        let mut filter = empty(sizing, seed);
        filter.insert_batch(Keys::U64(&keys)).unwrap();
        rates += filter.expected_rate_now();
        count += admitted(&filter, Keys::U64(&strangers));
    }
    let mean = rates / filters as f64;
    fits_binomial(count, filters as f64 * strangers.len() as f64, mean, &format!("{m} bits"));
    let exact = exact_mean(m, n * k as usize, k as i32);
    let deviations = (mean - exact) / (spread(sizing).rate / (filters as f64).sqrt());
    assert!(deviations.abs() <= 4.5, "{m} bits: {mean}, {deviations:.1} sd from {exact}");
}

#[test]
fn tiny_filters_of_106_bits() {
    assert_eq!(Sizing::classic(11, 0.01).unwrap().bits(), 106);
    small_filters(11, 0.01, 4000, 2000);
}

#[test]
fn a_thousand_keys_at_a_ten_thousandth() {
    small_filters(1000, 0.0001, 40, 1_000_000);
}

/// The spread itself: over many seeds, rate and fill scatter by as much as the formulas say, not less and not more.
#[test]
fn the_spread_is_as_wide_as_derived() {
    for sizing in both(2546, 0.01) {
        let keys = integers(1, 2546);
        let (mut rate, mut fill) = (0.0, 0.0);
        let (mut rates, mut fills) = (Vec::new(), Vec::new());
        for seed in 0..400 {
            let mut filter = empty(sizing, seed);
            filter.insert_batch(Keys::U64(&keys)).unwrap();
            rates.push(filter.expected_rate_now());
            fills.push(filter.fill());
            rate += rates[seed as usize] / 400.0;
            fill += fills[seed as usize] / 400.0;
        }
        let spread = spread(sizing);
        // A sum of 399 squares of standard normal numbers: mean 399, variance 798.
        for (values, mean, deviation) in [(rates, rate, spread.rate), (fills, fill, spread.fill)] {
            let sum: f64 = values.iter().map(|x| ((x - mean) / deviation).powi(2)).sum();
            let off = (sum - 399.0) / 798_f64.sqrt();
            assert!(off.abs() <= 4.5, "{}: {sum} for 399", sizing.layout());
        }
        let off = (rate - sizing.expected_rate()) / spread.rate * 20.0;
        // Theory leaves out terms of second order: a twentieth of a deviation here, one in the mean of 400.
        assert!(off.abs() <= 5.5, "{}: {off}", sizing.layout());
        let promised = sizing.realised_rate().1;
        assert!((promised / spread.rate - 1.0).abs() < 0.02, "{promised} {}", spread.rate);
    }
}

/// A filter of one line, and one bit: as full as can be.
#[test]
fn full_filters_admit_everything() {
    for sizing in [Sizing::with(1, 1, 1).unwrap(), Sizing::blocked_with(1, 512).unwrap()] {
        let filter = holding(sizing, Keys::U64(&integers(1, 20_000)));
        assert_eq!((filter.fill(), filter.expected_rate_now()), (1.0, 1.0));
        assert_eq!(filter.estimated_len(), f64::INFINITY);
        assert_eq!(admitted(&filter, Keys::U64(&integers(2, 1000))), 1000);
        let nothing = empty(sizing, 0);
        assert_eq!((nothing.estimated_len(), nothing.expected_rate_now()), (0.0, 0.0));
        assert_eq!(admitted(&nothing, Keys::U64(&integers(2, 1000))), 0);
    }
}
