//! Binomial tails and intervals, by the incomplete beta function.

/// P\[X ≥ hits\] for X binomial over `trials` with probability `p`.
pub(crate) fn binomial_tail(hits: u64, trials: u64, p: f64) -> f64 {
    if hits == 0 {
        return 1.0;
    }
    if hits > trials {
        return 0.0;
    }
    beta_share(hits as f64, (trials - hits) as f64 + 1.0, p)
}

/// The exact (Clopper–Pearson) interval of a probability after `hits` in `trials`.
pub(crate) fn clopper_pearson(hits: u64, trials: u64, confidence: f64) -> (f64, f64) {
    let tail = (1.0 - confidence) / 2.0;
    let (x, n) = (hits as f64, trials as f64);
    let low = if hits == 0 { 0.0 } else { beta_quantile(x, n - x + 1.0, tail) };
    let high = if hits >= trials { 1.0 } else { beta_quantile(x + 1.0, n - x, 1.0 - tail) };
    (low, high)
}

/// Where the beta distribution reaches a share. The share rises, and its logit is nearly straight, so that the straight line between two
/// points on either side soon leads there (false position, with Illinois' rule: an end that stays counts half).
fn beta_quantile(a: f64, b: f64, share: f64) -> f64 {
    let logit = |share: f64| {
        let share = share.clamp(1e-300, 1.0 - f64::EPSILON);
        share.ln() - (-share).ln_1p()
    };
    let beyond = |x: f64| logit(beta_share(a, b, x)) - logit(share);
    let (mut low, mut high) = ((0.0, beyond(0.0)), (1.0, beyond(1.0)));
    let mean = a / (a + b);
    let deviation = (mean * (1.0 - mean) / (a + b + 1.0)).sqrt();
    // Most have it within eight deviations of the mean: two points to begin with.
    let mut first = [mean + 8.0 * deviation, mean - 8.0 * deviation].into_iter();
    let mut last = 0.0;
    for _ in 0..200 {
        let line = (low.0 * high.1 - high.0 * low.1) / (high.1 - low.1);
        let next = first.next().unwrap_or(line).clamp(low.0, high.0);
        let value = beyond(next);
        if value < 0.0 {
            low = (next, value);
            high.1 *= if last < 0.0 { 0.5 } else { 1.0 };
        } else {
            high = (next, value);
            low.1 *= if last > 0.0 { 0.5 } else { 1.0 };
        }
        if value.abs() < 1e-13 || high.0 - low.0 <= f64::EPSILON * high.0 {
            return next;
        }
        last = value;
    }
    (low.0 + high.0) / 2.0
}

/// The regularised incomplete beta function I_x(a, b).
fn beta_share(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let ln_front =
        libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) + a * x.ln() + b * (-x).ln_1p();
    // The fraction converges fast below the mean; above, the symmetric one does.
    if x < (a + 1.0) / (a + b + 2.0) {
        (ln_front.exp() * beta_fraction(a, b, x) / a).clamp(0.0, 1.0)
    } else {
        (1.0 - ln_front.exp() * beta_fraction(b, a, 1.0 - x) / b).clamp(0.0, 1.0)
    }
}

/// The continued fraction of the incomplete beta function, 1 / (1 + t1 / (1 + t2 / …)): numerators and denominators of its convergents both
/// follow x[n] = x[n-1] + t[n] x[n-2], without a division that waits for another. It takes about √max(a, b) steps.
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    const LARGE: f64 = 1e100;
    let first = -(a + b) * x / (a + 1.0);
    let (mut upper, mut lower) = ([1.0, 1.0], [1.0, 1.0 + first]);
    let mut fraction = f64::INFINITY;
    for step in 1..200_000 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        for term in [even, odd] {
            upper = [upper[1], upper[1] + term * upper[0]];
            lower = [lower[1], lower[1] + term * lower[0]];
        }
        let found = upper[1] / lower[1];
        if (found - fraction).abs() <= 1e-14 * found.abs() {
            return found;
        }
        fraction = found;
        let size = upper[1].abs().max(lower[1].abs());
        if !(1.0 / LARGE..LARGE).contains(&size) {
            upper = upper.map(|part| part / size);
            lower = lower.map(|part| part / size);
        }
    }
    fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against sums of exact terms.
    #[test]
    fn tails_agree_with_sums_of_terms() {
        for (trials, p) in [(1u64, 0.3f64), (10, 0.5), (50, 0.01), (1000, 0.01), (100, 0.99)] {
            let mut term = (trials as f64 * (-p).ln_1p()).exp();
            let mut below = 0.0;
            for hits in 0..=trials {
                let tail = binomial_tail(hits, trials, p);
                assert!((tail - (1.0 - below)).abs() < 1e-9, "{hits} of {trials} at {p}: {tail}");
                below += term;
                term *= (trials - hits) as f64 / (hits + 1) as f64 * p / (1.0 - p);
            }
        }
    }

    /// Reference values from scipy 1.17.1: binomtest(x, n).proportion_ci(c, 'exact').
    #[test]
    fn intervals_agree_with_known_ones() {
        for (hits, trials, confidence, low, high) in [
            (0, 10, 0.95, 0.0, 0.308_497_107_818_763),
            (10, 10, 0.95, 0.691_502_892_181_237, 1.0),
            (5, 10, 0.95, 0.187_086_028_447_405, 0.812_913_971_552_596),
            (123, 12_345, 0.99, 0.007_809_812_959_144, 0.012_503_828_969_100),
            (12_538, 1_254_184, 0.999, 0.009_707_183_140_239, 0.010_292_605_642_890),
        ] {
            let found = clopper_pearson(hits, trials, confidence);
            assert!((found.0 - low).abs() < 1e-9 && (found.1 - high).abs() < 1e-9, "{found:?}");
        }
    }

    /// What the quantile finds is where the share is reached, for all shapes, as exactly as shares are known.
    #[test]
    fn quantiles_are_where_the_share_is_reached() {
        for a in [0.5, 1.0, 3.0, 200.0, 12_000.0, 1e6, 1e9] {
            for b in [0.5, 1.0, 40.0, 9_000.0, 1.2e6, 1e9] {
                for share in [1e-9, 5e-4, 0.025, 0.5, 0.975, 0.9995] {
                    let x = beta_quantile(a, b, share);
                    let found = beta_share(a, b, x);
                    let near = (found / share - 1.0).abs() < 1e-7
                        || beta_share(a, b, x.next_down()) <= share
                            && beta_share(a, b, x.next_up()) >= share;
                    assert!(near, "{a} {b} {share}: {found} at {x}");
                }
            }
        }
    }

    /// A billion trials neither hang nor drift (scipy 1.17.1: binom.sf).
    #[test]
    fn tails_of_a_billion_trials_are_right() {
        let tail = binomial_tail(10_006_292, 1_000_000_000, 0.01);
        assert!((tail - 0.022_781_769).abs() < 1e-6, "{tail}");
    }
}
