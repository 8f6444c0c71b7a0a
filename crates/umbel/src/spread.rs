//! How widely the rate of a correct filter scatters: some sets of keys fill more bits than others.
//!
//! Small classic filters are worked out exactly, by the number of bits that kn throws set. For all others mean, deviation and
//! skewness of the rate are worked out, and a shifted log-normal distribution with these three stands for it.

use crate::probability::binomial_tail;
use crate::sizing::{BLOCKED_PROBES, Layout, MAX_KEYS_PER_LINE, Sizing, keys_per_line};

/// Below this many steps the exact law of a classic filter is affordable.
const EXACT_STEPS: f64 = 4e6;
/// Up to this many lines the moments of a blocked filter are worked out exactly.
const FEW_LINES: u64 = 64;

/// The distribution of a filter's own rate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spread {
    pub(crate) mean: f64,
    pub(crate) deviation: f64,
    skewness: f64,
}

impl Spread {
    pub(crate) fn of(sizing: &Sizing) -> Spread {
        match sizing.layout() {
            Layout::Classic => Spread::classic(sizing),
            Layout::Blocked => Spread::blocked(sizing),
        }
    }

    /// The number of empty bits after kn throws into m has the variance m e^-c (1 - (1 + c) e^-c), c = kn/m; the rate is the
    /// k-th power of the fill, expanded to second order.
    fn classic(sizing: &Sizing) -> Spread {
        let (m, k) = (sizing.bits() as f64, f64::from(sizing.probes()));
        let load = k * sizing.capacity() as f64 / m;
        let fill = -(-load).exp_m1();
        let empty = (-load).exp();
        let variance = (empty * (1.0 - (1.0 + load) * empty) / m).max(0.0);
        let rate = fill.powf(k);
        // The deviation relative to the rate.
        let relative = k * variance.sqrt() / fill;
        Spread {
            mean: (rate * (1.0 + (k - 1.0) / (2.0 * k) * relative * relative)).min(1.0),
            deviation: rate * relative,
            skewness: 3.0 * (k - 1.0) / k * relative,
        }
    }

    /// The rate is the mean over the lines of f, the product of the words' fills. Lines scatter because their words do and because
    /// they hold different numbers of keys; that these numbers add up to n makes two lines go against each other.
    fn blocked(sizing: &Sizing) -> Spread {
        let (n, lines) = (sizing.capacity(), sizing.lines());
        // Where every line is full there is nothing to scatter, and numbers of keys without end to go through.
        let few = lines <= FEW_LINES && n <= lines * MAX_KEYS_PER_LINE;
        let [mean, square, cube] = if few { few_lines(n, lines) } else { many_lines(n, lines) };
        let variance = (square - mean * mean).max(0.0);
        let third = cube - 3.0 * mean * square + 2.0 * mean.powi(3);
        let skewness = if variance > 0.0 { (third / variance.powf(1.5)).max(0.0) } else { 0.0 };
        Spread { mean: mean.min(1.0), deviation: variance.sqrt(), skewness }
    }

    /// The probability that a filter with this spread admits at least `hits` of `asked` strangers.
    fn chance(&self, hits: u64, asked: u64) -> f64 {
        const STEPS: i32 = 48;
        let skewed = Skewed::new(self.skewness);
        let (mut sum, mut weights) = (0.0, 0.0);
        for step in -STEPS..=STEPS {
            let z = 6.0 * f64::from(step) / f64::from(STEPS);
            let weight = (-0.5 * z * z).exp();
            let rate = (self.mean + self.deviation * skewed.at(z)).clamp(0.0, 1.0);
            sum += weight * binomial_tail(hits, asked, rate);
            weights += weight;
        }
        sum / weights
    }
}

/// A log-normal distribution, shifted and scaled to mean 0 and deviation 1, with a given skewness.
struct Skewed {
    /// The deviation of the logarithm; 0 for a plain normal distribution.
    sigma: f64,
}

impl Skewed {
    fn new(skewness: f64) -> Skewed {
        if skewness < 1e-3 {
            return Skewed { sigma: 0.0 };
        }
        // The skewness is (w + 2) √(w - 1), w = e^σ²: a cubic in w.
        let half = 1.0 + skewness * skewness / 2.0;
        let root = (half + (half * half - 1.0).sqrt()).cbrt();
        Skewed { sigma: (root + 1.0 / root - 1.0).ln().sqrt() }
    }

    /// The value where a normal one is `z`.
    fn at(&self, z: f64) -> f64 {
        if self.sigma == 0.0 {
            return z;
        }
        let w = (self.sigma * self.sigma).exp();
        ((self.sigma * z).exp() - w.sqrt()) / (w * (w - 1.0)).sqrt()
    }
}

/// The probability that a correct filter of this size admits at least `hits` of `asked` strangers.
pub(crate) fn chance(sizing: &Sizing, hits: u64, asked: u64) -> f64 {
    let throws = sizing.capacity() as f64 * f64::from(sizing.probes());
    if sizing.layout() == Layout::Classic && throws * sizing.bits() as f64 <= EXACT_STEPS {
        return exact_chance(sizing, hits, asked);
    }
    Spread::of(sizing).chance(hits, asked)
}

/// The mean, over the number of bits that may be set, of the binomial tail at the rate these give.
fn exact_chance(sizing: &Sizing, hits: u64, asked: u64) -> f64 {
    let (m, k) = (sizing.bits() as f64, sizing.probes() as i32);
    let chances = occupancy(sizing.bits() as usize, sizing.capacity() * u64::from(sizing.probes()));
    let likely = chances.iter().enumerate().filter(|(_, share)| **share > 1e-12);
    likely.map(|(ones, share)| share * binomial_tail(hits, asked, (ones as f64 / m).powi(k))).sum()
}

/// The probability of each number of different bits among `m` after some throws.
fn occupancy(m: usize, throws: u64) -> Vec<f64> {
    let mut shares = vec![0.0; m + 1];
    shares[0] = 1.0;
    for _ in 0..throws {
        for ones in (0..=m).rev() {
            let stay = shares[ones] * ones as f64 / m as f64;
            let come =
                if ones > 0 { shares[ones - 1] * (m + 1 - ones) as f64 / m as f64 } else { 0.0 };
            shares[ones] = stay + come;
        }
    }
    shares
}

/// The first three moments of the product of the fills of a line's words, after `keys` keys. The words are independent.
fn line_moments(keys: u64) -> [f64; 3] {
    word_moments(keys).map(|moment| moment.powi(BLOCKED_PROBES as i32))
}

/// The first three moments of the share of a 64-bit word that is set: any j given bits are empty with probability
/// (1 - j/64)^keys.
fn word_moments(keys: u64) -> [f64; 3] {
    let [one, two, three] = [63.0, 62.0, 61.0f64].map(|left| (left / 64.0).powf(keys as f64));
    let empty = one;
    let empty_square = (one + 63.0 * two) / 64.0;
    let empty_cube = (one + 3.0 * 63.0 * two + 63.0 * 62.0 * three) / (64.0 * 64.0);
    [
        1.0 - empty,
        1.0 - 2.0 * empty + empty_square,
        1.0 - 3.0 * empty + 3.0 * empty_square - empty_cube,
    ]
}

/// The first three moments of the rate, from those of one, two and three lines together.
fn few_lines(n: u64, lines: u64) -> [f64; 3] {
    let moments: Vec<[f64; 3]> = (0..=n).map(line_moments).collect();
    let rate = |keys: u64| moments[keys as usize][0];
    // The mean rate of a line that shares `left` keys with others.
    let mean = |left: u64, lines: u64| -> f64 {
        keys_per_line(left, lines.max(1)).map(|(keys, share)| share * rate(keys)).sum()
    };
    // Most numbers of keys that could be left for a third line hardly ever are: worked out when one is.
    let mut thirds: Vec<Option<f64>> = vec![None; moments.len()];
    let (mut one, mut two, mut three) = (0.0, [0.0; 2], [0.0; 3]);
    for (keys, share) in keys_per_line(n, lines) {
        let [first, second, third] = moments[keys as usize];
        let left = n - keys;
        let other = mean(left, lines - 1);
        let others: f64 = keys_per_line(left, (lines - 1).max(1))
            .map(|(keys, share)| {
                let left = left - keys;
                let third = thirds[left as usize]
                    .get_or_insert_with(|| mean(left, lines.saturating_sub(2)));
                share * rate(keys) * *third
            })
            .sum();
        one += share * first;
        two = [two[0] + share * second, two[1] + share * first * other];
        three = [
            three[0] + share * third,
            three[1] + share * second * other,
            three[2] + share * first * others,
        ];
    }
    let count = lines as f64;
    let (pairs, triples) = (count - 1.0, (count - 1.0) * (count - 2.0));
    [
        one,
        (two[0] + pairs * two[1]) / count,
        (three[0] + 3.0 * pairs * three[1] + triples * three[2]) / (count * count),
    ]
}

/// The first three moments of the rate where there are many lines: as if they were independent, less what the fixed number of keys
/// takes from the variance.
fn many_lines(n: u64, lines: u64) -> [f64; 3] {
    let (mut mean, mut square, mut cube, mut slope) = (0.0, 0.0, 0.0, 0.0);
    for (keys, share) in keys_per_line(n, lines) {
        let [first, second, third] = line_moments(keys);
        mean += share * first;
        square += share * second;
        cube += share * third;
        slope += share * (line_moments(keys.saturating_add(1))[0] - first);
    }
    let count = lines as f64;
    let own = square - mean * mean;
    let variance = ((own - n as f64 / count * slope * slope) / count).max(0.0);
    let skewness = (cube - 3.0 * mean * square + 2.0 * mean.powi(3)) / own.powf(1.5) / count.sqrt();
    let third = skewness * variance.powf(1.5);
    [mean, variance + mean * mean, third + 3.0 * mean * variance + mean.powi(3)]
}
