//! Ertl's improved estimator: right from one key to 2^50, without tables and without a logarithm, from additions,
//! products and square roots alone. Those are exact to the last bit in IEEE arithmetic, in the order written here.

use super::registers::{COUNT, MAX_RANK};

/// 1 / (2 ln 2), the limit of the bias factor for many registers.
const ALPHA: f64 = 0.721_347_520_444_481_7;

/// The number of distinct keys, from how many registers hold each rank.
pub(super) fn estimate(histogram: &[u32; MAX_RANK as usize + 1]) -> f64 {
    let m = COUNT as f64;
    let last = MAX_RANK as usize;
    let mut z = m * tau(1.0 - f64::from(histogram[last]) / m);
    for &count in histogram[1..last].iter().rev() {
        z = 0.5 * (z + f64::from(count));
    }
    z += m * sigma(f64::from(histogram[0]) / m);
    ALPHA * m * m / z
}

/// x + Σ x^(2^i) · 2^(i-1): what the registers still empty say. Infinite where all are, and the estimate is 0.
fn sigma(mut x: f64) -> f64 {
    if x == 1.0 {
        return f64::INFINITY;
    }
    let (mut power, mut sum) = (1.0, x);
    loop {
        let before = sum;
        x *= x;
        sum += x * power;
        power += power;
        if sum == before {
            return sum;
        }
    }
}

/// (1 - x - Σ (1 - x^(2^-i))² · 2^-i) / 3: what the registers at the highest rank say.
fn tau(mut x: f64) -> f64 {
    if x == 0.0 || x == 1.0 {
        return 0.0;
    }
    let (mut power, mut sum) = (1.0, 1.0 - x);
    loop {
        let before = sum;
        x = x.sqrt();
        power *= 0.5;
        sum -= (1.0 - x) * (1.0 - x) * power;
        if sum == before {
            return sum / 3.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(counts: &[(usize, u32)]) -> f64 {
        let mut histogram = [0; MAX_RANK as usize + 1];
        counts.iter().for_each(|&(rank, count)| histogram[rank] = count);
        estimate(&histogram)
    }

    #[test]
    fn nothing_is_nothing_and_one_is_one() {
        assert_eq!(with(&[(0, COUNT as u32)]), 0.0);
        assert!((with(&[(0, COUNT as u32 - 1), (1, 1)]) - 1.0).abs() < 1e-3);
    }

    #[test]
    fn full_registers_mean_more_keys_than_hashes() {
        assert_eq!(with(&[(MAX_RANK as usize, COUNT as u32)]), f64::INFINITY);
        assert!(with(&[(MAX_RANK as usize, 10_000), (50, 6384)]) > 1e18);
    }

    /// The same numbers from a program in another language, to the last bit.
    #[test]
    fn the_arithmetic_is_frozen() {
        assert_eq!(with(&[(0, 16_000), (1, 200), (2, 100), (7, 84)]), 388.573_279_930_138_7);
        assert_eq!(with(&[(3, 5000), (5, 11_000), (51, 384)]), 199_881.548_990_950_95);
    }
}
