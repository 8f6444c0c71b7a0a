//! Sums of floats without any rounding: an oracle for distances.

use std::cmp::Ordering;

/// How the exact sum of these compares with zero. None of them may be so large that a sum of two overflows.
pub fn sign(terms: &[f64]) -> Ordering {
    // Parts of the sum that do not overlap, the largest last (Shewchuk's expansions).
    let mut parts: Vec<f64> = Vec::new();
    for &term in terms {
        let mut carry = term;
        for part in &mut parts {
            let (sum, rest) = two_sum(carry, *part);
            (*part, carry) = (rest, sum);
        }
        parts.push(carry);
    }
    let leading = parts.iter().rev().find(|&&part| part != 0.0).copied().unwrap_or(0.0);
    leading.partial_cmp(&0.0).unwrap()
}

fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}
