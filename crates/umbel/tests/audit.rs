//! The audit counts exactly, passes what is correct and fails what is not.

use std::panic::AssertUnwindSafe;

use umbel::audit::{CONFIDENCE, Counts, count, count_groups, judge};
use umbel::hash::{Family, Strategy};
use umbel::{Bloom, Groups, Layout, Params, Sizing};

/// Distinct keys from different seeds, without overlap.
fn keys(seed: u64, n: u64) -> impl Iterator<Item = u64> {
    (0..n).map(move |i| (seed << 40) | i)
}

fn filled(sizing: Sizing, seed: u64, n: u64) -> Bloom {
    let mut filter = Bloom::with(Params::new(sizing)).unwrap();
    for key in keys(seed, n) {
        filter.insert_u64(key);
    }
    filter
}

fn counts(filter: &Bloom, seed: u64, members: u64, strangers: u64) -> Counts {
    let mut counts = Counts::default();
    keys(seed, members).for_each(|key| counts.add(true, filter.contains_u64(key)));
    keys(1 << 20, strangers).for_each(|key| counts.add(false, filter.contains_u64(key)));
    counts
}

#[test]
fn counts_are_exact_and_over_distinct_keys() {
    let mut filter = Bloom::new(3, 0.000_01).unwrap();
    for key in [&b"a"[..], b"b", b"c"] {
        filter.insert(key);
    }
    let members = [&b"a"[..], b"a", b"b", b"missing"];
    let strangers = [&b"x"[..], b"x", b"a", b"c"];
    let found = count(&filter, members, strangers);
    let expected = Counts {
        true_positives: 2,  // a, b
        false_negatives: 1, // missing: a member that was never inserted
        false_positives: 1, // c: in the filter, in nobody's list
        true_negatives: 1,  // x
    };
    assert_eq!(found, expected);
    assert!(!judge(&filter, &found, CONFIDENCE).holds, "a false negative is a failure");
}

#[test]
fn a_mask_counts_like_its_bits() {
    let (members, admitted) = (0xDEAD_BEEF_0123_4567u64, 0x8765_4321_FEDC_BA98u64);
    for len in 0..=64u32 {
        let mut one_by_one = Counts::default();
        (0..len).for_each(|i| one_by_one.add(members >> i & 1 == 1, admitted >> i & 1 == 1));
        let mut at_once = Counts::default();
        at_once.add_mask(members, admitted, len);
        assert_eq!(at_once, one_by_one);
    }
}

#[test]
fn a_key_of_several_groups_is_a_member_of_each() {
    let mut groups = Groups::default();
    for name in ["1", "2", "3"] {
        groups.set(name, Bloom::new(10, 0.000_01).unwrap()).unwrap();
    }
    groups.insert("1", b"both").unwrap();
    groups.insert("2", b"both").unwrap();
    groups.insert("3", b"third").unwrap();
    let table = [(&b"both"[..], "1"), (b"both", "2"), (b"third", "3"), (b"both", "1")];
    let hit = Counts { true_positives: 1, true_negatives: 1, ..Counts::default() };
    assert_eq!(count_groups(&groups, table).unwrap(), [hit, hit, hit]);
    let unknown = count_groups(&groups, [(&b"both"[..], "4")]);
    assert!(unknown.unwrap_err().to_string().contains("\"4\""));
}

/// The spread of the realised rate over many filters is what `realised_rate` says, for both layouts; and for
/// the smallest group of the ratings table it is 2.8 and 4.8 times that of a sample of 1 254 184.
#[test]
fn the_spread_of_the_fill_is_the_predicted_one() {
    for (sizing, times) in
        [(Sizing::classic(2546, 0.01).unwrap(), 2.77), (Sizing::blocked(2546, 0.01).unwrap(), 4.81)]
    {
        let rates: Vec<f64> =
            (0..400).map(|seed| filled(sizing, seed, 2546).expected_rate_now()).collect();
        let count = rates.len() as f64;
        let mean = rates.iter().sum::<f64>() / count;
        let variance = rates.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let (expected, deviation) = sizing.realised_rate();
        // The mean of 400 within 4 standard errors; their deviation within 4 of its own (σ/√(2·399)).
        assert!((mean - expected).abs() < 4.0 * deviation / count.sqrt(), "{mean} {expected}");
        let ratio = variance.sqrt() / deviation;
        assert!((ratio - 1.0).abs() < 4.0 / (2.0 * (count - 1.0)).sqrt(), "{ratio}");
        let sample = (0.01f64 * 0.99 / 1_254_184.0).sqrt();
        assert!((deviation / sample - times).abs() < 0.02, "{}", deviation / sample);
    }
}

/// A correct filter fails one audit in a thousand, however small it is: of 1000 audits about 1 fails. More than 6 would come once in
/// 10^4 runs of a correct audit; one that ignored the spread of the fill would fail hundreds, and one that took the rate to be
/// normally distributed some tens.
#[test]
fn correct_filters_pass() {
    for n in [1, 3, 10, 30, 100, 300, 1000] {
        for sizing in [Sizing::classic(n, 0.01).unwrap(), Sizing::blocked(n, 0.01).unwrap()] {
            let fails = (0..1000)
                .filter(|&seed| {
                    let filter = filled(sizing, seed, n);
                    !judge(&filter, &counts(&filter, seed, n, 20_000), CONFIDENCE).holds
                })
                .count();
            assert!(fails <= 6, "{fails} of 1000 {} filters of {n} keys failed", sizing.layout());
        }
    }
}

#[test]
fn overfull_filters_fail() {
    for sizing in [Sizing::classic(5000, 0.01).unwrap(), Sizing::blocked(5000, 0.01).unwrap()] {
        let filter = filled(sizing, 1, 6000);
        let verdict = judge(&filter, &counts(&filter, 1, 6000, 200_000), CONFIDENCE);
        assert!(!verdict.holds, "{verdict:?}");
        assert!(verdict.from_bits > 1.5 * verdict.promised.unwrap());
        assert!(filter.overfull().is_some());
    }
}

/// Plain double hashing on a small filter, which costs about twice the promised rate, would be found out: here the
/// same excess is made by hand.
#[test]
fn a_doubled_rate_fails() {
    let sizing = Sizing::new(2546, 0.01).unwrap();
    let filter = filled(sizing, 3, 2546);
    let mut found = counts(&filter, 3, 2546, 100_000);
    assert!(judge(&filter, &found, CONFIDENCE).holds);
    found.false_positives *= 2;
    assert!(!judge(&filter, &found, CONFIDENCE).holds);
}

#[test]
fn polynomial_strategies_promise_nothing() {
    let params = Params::new(Sizing::with(100, 1000, 3).unwrap())
        .with_strategy(Strategy::seeded(Family::PolynomialWrap, 3))
        .unwrap();
    let filter = Bloom::with(params).unwrap();
    let bad = Counts { false_positives: 90, true_negatives: 10, ..Counts::default() };
    let verdict = judge(&filter, &bad, CONFIDENCE);
    assert!(verdict.holds && verdict.promised.is_none() && verdict.chance.is_none());
    let lost = Counts { false_negatives: 1, ..Counts::default() };
    assert!(!judge(&filter, &lost, CONFIDENCE).holds);
}

#[test]
fn nothing_asked_is_no_failure() {
    let filter = Bloom::new(10, 0.01).unwrap();
    assert_eq!(filter.sizing().layout(), Layout::Blocked);
    let none = Counts::default();
    assert_eq!(none.rate(), None);
    assert_eq!(none.interval(0.95), (0.0, 1.0));
    assert!(judge(&filter, &none, CONFIDENCE).holds);
}

/// A confidence that is none would make a verdict that means nothing.
#[test]
fn a_confidence_that_is_none_is_refused() {
    let filter = Bloom::new(100, 0.01).unwrap();
    let counts = Counts { false_positives: 1, true_negatives: 99, ..Counts::default() };
    for confidence in [0.0, 1.0, -1.0, 2.0, f64::NAN, f64::INFINITY] {
        let refuses = |ask: &dyn Fn()| std::panic::catch_unwind(AssertUnwindSafe(ask)).is_err();
        assert!(refuses(&|| _ = counts.interval(confidence)), "{confidence}");
        assert!(refuses(&|| _ = judge(&filter, &counts, confidence)), "{confidence}");
    }
}
