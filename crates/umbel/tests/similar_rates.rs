//! Samples agree as often as theory says, and filters keep what they promise on both sides.

#![allow(clippy::unwrap_used)]

mod support;

use support::items::{Owned, bits, flipped};
use support::random::Random;
use umbel::similar::{Bands, Item, Params, Promise, Shape, Similar, Space};

/// Mean and the standard deviation of the mean, the latter from how the numbers scatter.
fn mean(numbers: &[f64]) -> (f64, f64) {
    let n = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / n;
    let variance = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

fn bands(filter: &Similar, item: &Owned) -> Vec<u64> {
    let mut bands = Bands::default();
    item.with(|item| filter.bands(item, &mut bands)).unwrap();
    bands.as_slice().to_vec()
}

fn shape(bands: u32, samples: u32) -> Shape {
    Shape { bands, samples, threshold: 1, probes: 1, bits: 64, width: 0.0 }
}

/// Two samples agree with the probability that sizing counts with, and each for itself: the number that do is binomial. Seeds differ from pair to
/// pair, so that the mean and the variance are those of independent trials.
#[test]
fn samples_agree_as_often_as_theory_says() {
    const PAIRS: usize = 1500;
    const BANDS: u32 = 64;
    let euclid = |d: f64, w: f64| {
        // The integral of the staircase, in small steps.
        let density = |x: f64| (-x * x / 2.0).exp() * (2.0 / std::f64::consts::PI).sqrt();
        let steps = 100_000;
        let width = w / d / f64::from(steps);
        (0..steps)
            .map(|i| (f64::from(i) + 0.5) * width)
            .map(|x| density(x) * (1.0 - x * d / w) * width)
            .sum::<f64>()
    };
    let hamming = |l: f64, d: f64, t: u32| {
        (0..t).map(|i| (l - d - f64::from(i)) / (l - f64::from(i))).product::<f64>()
    };
    let angle = |d: f64| 1.0 - (1.0 - d).acos() / std::f64::consts::PI;
    // Of 200 tokens 40 are others: 160 of 240 are common.
    for (space, t, distance, width, expected) in [
        (Space::Hamming { bits: 1000 }, 8, 0.1, 0.0, hamming(1000.0, 100.0, 8)),
        (Space::Hamming { bits: 20 }, 8, 0.1, 0.0, hamming(20.0, 2.0, 8)),
        (Space::Hamming { bits: 13 }, 13, 1.0 / 13.0, 0.0, 0.0),
        (Space::Cosine { dimension: 2 }, 1, 0.3, 0.0, angle(0.3)),
        (Space::Cosine { dimension: 3 }, 1, 1.5, 0.0, angle(1.5)),
        (Space::Cosine { dimension: 50 }, 3, 0.1, 0.0, angle(0.1).powi(3)),
        (Space::Euclid { dimension: 1 }, 1, 0.7, 1.0, euclid(0.7, 1.0)),
        (Space::Euclid { dimension: 30 }, 1, 2.0, 1.0, euclid(2.0, 1.0)),
        (Space::Euclid { dimension: 30 }, 4, 1.0, 3.0, euclid(1.0, 3.0).powi(4)),
        (Space::Sets, 1, 1.0 / 3.0, 0.0, 2.0 / 3.0),
        (Space::Sets, 3, 1.0 / 3.0, 0.0, (2.0_f64 / 3.0).powi(3)),
    ] {
        let mut random = Random(t.into());
        let shape = Shape { width, ..shape(BANDS, t) };
        let counts: Vec<f64> = (0..PAIRS as u64)
            .map(|seed| {
                let params = Params::with_shape(space, 1, 0.0, 1.0, shape).unwrap().with_seed(seed);
                let filter = Similar::new(params).unwrap();
                let one = Owned::random(&mut random, space);
                let other = one.at(&mut random, space, distance);
                let (one, other) = (bands(&filter, &one), bands(&filter, &other));
                one.iter().zip(&other).filter(|(a, b)| a == b).count() as f64
            })
            .collect();
        let (found, error) = mean(&counts);
        let k = f64::from(BANDS);
        assert!(
            (found - k * expected).abs() <= 4.5 * error,
            "{space}, {t}: {found} of {k}, not {}",
            k * expected
        );
        // The variance of a variance is about 2 v² / pairs.
        let (variance, binomial) = (error * error * PAIRS as f64, k * expected * (1.0 - expected));
        let slack = 5.0 * (2.0 / PAIRS as f64).sqrt();
        assert!(
            (variance / binomial - 1.0).abs() < slack || binomial == 0.0,
            "{space}, {t}: {variance} for {binomial}"
        );
    }
}

/// Every promise at its borders: questions just close to one stored item, and questions that are just far from all. The filter is as full as it may be, and
/// empty but for the one.
#[test]
fn promises_are_kept_on_both_sides() {
    const SEEDS: u64 = 20;
    for (space, n, close, far) in [
        (Space::Hamming { bits: 256 }, 300, 0.05, 0.4),
        (Space::Cosine { dimension: 20 }, 300, 0.02, 0.6),
        (Space::Euclid { dimension: 20 }, 300, 1.0, 6.0),
        (Space::Sets, 300, 0.2, 0.9),
    ] {
        let promise =
            Promise { false_positives: 0.05, false_negatives: 0.05, ..Promise::new(close, far) };
        let (mut yes, mut no, mut lonely) = (Vec::new(), Vec::new(), Vec::new());
        for seed in 0..SEEDS {
            let mut random = Random(seed << 32);
            let params = Params::at_any_cost(space, n, &promise).unwrap().with_seed(seed);
            let mut filter = Similar::new(params).unwrap();
            let question = Owned::random(&mut random, space);
            let mut wrong = 0;
            // All items just far from one question, which is the worst case for it.
            for _ in 0..n {
                let item = question.at(&mut random, space, far);
                item.with(|item| filter.insert(item)).unwrap();
            }
            wrong += u32::from(question.with(|item| filter.contains(item)).unwrap());
            yes.push(f64::from(wrong));
            let mut missed = 0.0;
            let mut alone = 0.0;
            for _ in 0..50 {
                let stored = Owned::random(&mut random, space);
                let asked = stored.at(&mut random, space, close);
                let mut single = Similar::new(params).unwrap();
                stored.with(|item| single.insert(item)).unwrap();
                assert!(
                    stored.with(|item| single.contains(item)).unwrap(),
                    "equal items are found"
                );
                alone += f64::from(u8::from(!asked.with(|item| single.contains(item)).unwrap()));
                let mut full = filter.clone();
                full.merge(&single).unwrap();
                missed += f64::from(u8::from(!asked.with(|item| full.contains(item)).unwrap()));
            }
            no.push(missed / 50.0);
            lonely.push(alone / 50.0);
        }
        let (missed, error) = mean(&no);
        assert!(missed <= 0.05 + 4.0 * error, "{space}: {missed} ± {error} missed when full");
        let (missed, error) = mean(&lonely);
        assert!(missed <= 0.05 + 4.0 * error, "{space}: {missed} ± {error} missed when alone");
        assert!(missed >= 0.01 - 4.0 * error, "{space}: {missed}: this promise is far too dear");
        // 20 trials at 5 %: more than 6 come once in ten thousand times.
        assert!(yes.iter().sum::<f64>() <= 6.0, "{space}: {yes:?}");
    }
}

/// P[Bin(k, p) < tau], term by term.
fn below(tau: u32, k: u32, p: f64) -> f64 {
    let mut term = (1.0 - p).powi(k as i32);
    (0..tau)
        .map(|hits| {
            let this = term;
            term *= f64::from(k - hits) / f64::from(hits + 1) * p / (1.0 - p);
            this
        })
        .sum()
}

/// The two rows that Kirsch and Mitzenmacher's formulas give for l = 1024, eps = .05, delta = .5, over 20 seeds. A filter has one seed and its questions share that
/// luck: how far the mean may lie from theory is taken from how the seeds scatter.
#[test]
fn distance_sensitive_filters_are_as_published() {
    let space = Space::Hamming { bits: 1024 };
    for (n, samples, bands, bits_a_band, threshold, published) in [
        (1000_u64, 16, 32, 8192, 9, (0.0022, 0.0158)),
        (10_000, 20, 48, 65_536, 14, (0.0069, 0.0089)),
    ] {
        let shape = Shape { bands, samples, threshold, probes: 1, bits: bits_a_band, width: 0.0 };
        let (mut missed, mut admitted) = (Vec::new(), Vec::new());
        for seed in 0..20 {
            let params = Params::with_shape(space, n, 0.05, 0.5, shape).unwrap().with_seed(seed);
            let mut random = Random(seed << 40 | n);
            let mut filter = Similar::new(params).unwrap();
            let stored: Vec<Vec<u8>> = (0..n).map(|_| bits(&mut random, 1024)).collect();
            stored.iter().for_each(|item| filter.insert(Item::Bits(item)).unwrap());
            let found = |item: Vec<u8>| filter.contains(Item::Bits(&item)).unwrap();
            let (mut yes, mut no, asked) = (0, 0, 4000);
            for _ in 0..asked {
                yes += usize::from(found(bits(&mut random, 1024)));
                let near = &stored[random.below(stored.len())];
                no += usize::from(!found(flipped(&mut random, near, 1024, 51)));
            }
            admitted.push(yes as f64 / f64::from(asked));
            missed.push(no as f64 / f64::from(asked));
        }
        let ((fp, fp_error), (fn_, fn_error)) = (mean(&admitted), mean(&missed));
        println!("n {n}: FP {fp:.4} ± {fp_error:.4}, FN {fn_:.4} ± {fn_error:.4}");
        // Random strings agree in t places with probability 2^-t; of 1024 places 51 differ.
        let one = 0.5_f64.powi(samples as i32);
        let far = 1.0 - (1.0 - (one + (1.0 - one) / bits_a_band as f64)).powf(n as f64);
        let close: f64 = (0..samples).map(|i| 1.0 - 51.0 / f64::from(1024 - i)).product();
        let theory = (
            below(threshold, bands, close + (1.0 - close) * far),
            1.0 - below(threshold, bands, far),
        );
        println!("theory: FP {:.4}, FN {:.4}", theory.1, theory.0);
        assert!((fn_ - theory.0).abs() < 4.0 * fn_error, "{fn_} ± {fn_error}, not {}", theory.0);
        assert!((fp - theory.1).abs() < 4.0 * fp_error, "{fp} ± {fp_error}, not {}", theory.1);
        let like = |a: f64, b: f64| (a / b - 1.0).abs() < 0.12;
        assert!(like(theory.0, published.0) && like(theory.1, published.1), "{theory:?}");
        // Alone, without the chance hits of others, more are missed: that is what sizing counts with.
        let params = Params::with_shape(space, n, 0.05, 0.5, shape).unwrap();
        assert!((params.false_negatives() / below(threshold, bands, close) - 1.0).abs() < 1e-6);
        assert!(params.false_negatives() > 3.0 * theory.0);
    }
}

/// A band that is keyed by the sum of its minima flags unrelated documents ten times as often as it should: small numbers have few sums.
#[test]
fn unrelated_sets_are_flagged_as_rarely_as_promised() {
    const DOCUMENTS: u64 = 8000;
    let (bands, samples, fp) = (25, 5, 1e-5);
    let probes = 17;
    let per_item = -f64::from(probes) / (-f64::powf(fp, 1.0 / f64::from(probes))).ln_1p();
    let bits = (DOCUMENTS as f64 * per_item).ceil() as u64;
    let shape = Shape { bands, samples, threshold: 1, probes, bits, width: 0.0 };
    let params = Params::with_shape(Space::Sets, DOCUMENTS, 0.2, 0.99, shape).unwrap();
    let nominal = 1.0 - (1.0 - fp).powi(bands as i32);
    let mut filter = Similar::new(params).unwrap();
    let (mut found, mut random) = (Bands::default(), Random(8000));
    let mut flagged = 0;
    let mut sums = vec![std::collections::HashSet::new(); bands as usize];
    let mut flagged_by_sum = 0;
    for _ in 0..DOCUMENTS {
        let tokens: Vec<[u8; 8]> = random.by_ref().take(1000).map(u64::to_le_bytes).collect();
        let tokens: Vec<&[u8]> = tokens.iter().map(|token| &token[..]).collect();
        filter.bands(Item::Tokens(&tokens), &mut found).unwrap();
        flagged += u64::from(filter.contains_bands(found.as_slice()).unwrap());
        filter.insert_bands(found.as_slice()).unwrap();
        // The least of 1000 32-bit numbers, five of them added up.
        let minimum = |random: &mut Random| {
            let u = (random.next().unwrap() >> 11) as f64 / (1_u64 << 53) as f64;
            ((1.0 - u.powf(1.0 / 1000.0)) * 2f64.powi(32)) as u64
        };
        let known = sums.iter_mut().fold(false, |known, sums| {
            let sum: u64 = (0..samples).map(|_| minimum(&mut random)).sum();
            !sums.insert(sum) | known
        });
        flagged_by_sum += u64::from(known);
    }
    // Five standard deviations above the nominal rate for every document, though the first ones meet an empty filter.
    let most = DOCUMENTS as f64 * nominal + 5.0 * (DOCUMENTS as f64 * nominal).sqrt();
    println!(
        "{flagged} flagged, {:.2} nominal at most, {flagged_by_sum} by sums",
        DOCUMENTS as f64 * nominal
    );
    assert!(flagged as f64 <= most, "{flagged} of {DOCUMENTS} flagged, {most} at most");
    assert!(flagged_by_sum as f64 > most, "{flagged_by_sum}: sums would not be found out");
}
