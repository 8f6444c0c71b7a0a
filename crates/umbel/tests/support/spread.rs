//! How far the rate of a correct filter may lie from theory, because some sets of keys fill more bits than others.

use umbel::{Layout, Sizing};

/// Standard deviations of what n distinct keys make of an empty filter.
pub struct Spread {
    pub fill: f64,
    pub rate: f64,
}

/// The spread when a filter holds the keys it was sized for.
pub fn spread(sizing: Sizing) -> Spread {
    match sizing.layout() {
        Layout::Classic => classic(sizing),
        Layout::Blocked => blocked(sizing),
    }
}

/// kn balls into m boxes. With c = kn/m, a box stays empty with probability e^-c, and the number of empty boxes has
/// the variance m e^-c (1 - (1 + c) e^-c): m boxes on their own would have m e^-c (1 - e^-c), and that the balls are
/// kn in all takes the rest away. The rate is fill^k, hence its deviation is that of the fill times k fill^(k-1).
fn classic(sizing: Sizing) -> Spread {
    let (m, k) = (sizing.bits() as f64, f64::from(sizing.probes()));
    let c = k * sizing.capacity() as f64 / m;
    let empty = (-c).exp();
    let fill = (empty * (1.0 - (1.0 + c) * empty) / m).sqrt();
    Spread { fill, rate: fill * k * (1.0 - empty).powf(k - 1.0) }
}

/// Give every line a Poisson number c of keys, mean λ = n/L, independent of the others. Then a mean over the lines of
/// any Y(line) has the variance Var(Y)/L. That there are n keys in all takes away what Y owes to c linearly:
/// Cov(Y, c)²/λ, where Cov(Y, c) = λ E[E(Y | c + 1) - E(Y | c)]. Given c, the eight words of a line are independent.
fn blocked(sizing: Sizing) -> Spread {
    let lines = sizing.lines() as f64;
    let mean = sizing.capacity() as f64 / lines;
    let deviation = |first: &dyn Fn(f64) -> f64, second: &dyn Fn(f64) -> f64| {
        let (mut y, mut yy, mut step, mut share) = (0.0, 0.0, 0.0, (-mean).exp());
        for keys in (0..2000).map(f64::from) {
            y += share * first(keys);
            yy += share * second(keys);
            step += share * (first(keys + 1.0) - first(keys));
            share *= mean / (keys + 1.0);
        }
        ((yy - y * y - mean * step * step) / lines).sqrt()
    };
    // The fill of a line is the mean of its words' fills; its rate is their product.
    let line_square = |keys| (word_square(keys) + 7.0 * word(keys).powi(2)) / 8.0;
    Spread {
        fill: deviation(&word, &line_square),
        rate: deviation(&|keys| word(keys).powi(8), &|keys| word_square(keys).powi(8)),
    }
}

/// The mean fill of a 64-bit word after this many keys: a bit is missed with probability 63/64.
fn word(keys: f64) -> f64 {
    1.0 - (63.0_f64 / 64.0).powf(keys)
}

/// The mean square of that fill: of the 64² pairs of bits 64 are a bit with itself; two bits are both set with
/// probability 1 - 2 (63/64)^c + (62/64)^c.
fn word_square(keys: f64) -> f64 {
    let both = 1.0 - 2.0 * (63.0_f64 / 64.0).powf(keys) + (62.0_f64 / 64.0).powf(keys);
    (word(keys) + 63.0 * both) / 64.0
}
