//! Ranks as Zipf has them: rank i with a probability in proportion to i^-s.
//!
//! Walker's alias method: every rank gets a slot of equal width; a rare rank shares its slot with a frequent one, so one draw
//! and one comparison are enough. Powers are worked out here from the four operations, because those of the system's
//! library differ in the last bit from machine to machine.

use std::f64::consts::{LN_2, SQRT_2};

use super::random::Random;

pub struct Zipf {
    slots: Vec<Slot>,
}

struct Slot {
    /// The part of the slot, in fractions of 2^64, that belongs to its own rank.
    own: u64,
    /// Whose the rest is.
    other: u32,
}

impl Zipf {
    /// Ranks 0 to `count` - 1; `count` is at least 1.
    pub fn new(count: u32, exponent: f64) -> Zipf {
        let weights: Vec<f64> = (1..=count).map(|rank| power(rank, -exponent)).collect();
        Zipf { slots: share_out(weights) }
    }

    pub fn draw(&self, random: &mut Random) -> u64 {
        let (slot, fraction) = random.split(self.slots.len() as u64);
        let Slot { own, other } = self.slots[slot as usize];
        if fraction <= own { slot } else { other.into() }
    }
}

/// Slots for weights that fall with the rank. Who has less than the mean is filled up by who has more, the first such;
/// when that one has fallen below the mean, it is the next to be filled up.
fn share_out(mut weights: Vec<f64>) -> Vec<Slot> {
    let mean = weights.iter().sum::<f64>() / weights.len() as f64;
    let rich = weights.partition_point(|&weight| weight >= mean);
    let mut slots: Vec<Slot> =
        (0..weights.len() as u32).map(|other| Slot { own: u64::MAX, other }).collect();
    let mut giver = 0;
    for poor in (rich..weights.len()).rev() {
        let mut taker = poor;
        while giver < rich {
            slots[taker] = Slot { own: fraction(weights[taker] / mean), other: giver as u32 };
            weights[giver] -= mean - weights[taker];
            if weights[giver] >= mean {
                break;
            }
            taker = giver;
            giver += 1;
        }
    }
    slots
}

/// A share of 1 as a fraction of 2^64.
fn fraction(share: f64) -> u64 {
    (share * 2f64.powi(64)) as u64
}

/// rank^exponent, for an exponent that is not above 0.
fn power(rank: u32, exponent: f64) -> f64 {
    exp(exponent * ln(f64::from(rank)))
}

/// By x = 2^e · y with y around 1, and ln y = 2 artanh((y - 1) / (y + 1)).
fn ln(x: f64) -> f64 {
    let mut e = x.to_bits() >> 52;
    let mut y = f64::from_bits(x.to_bits() & (u64::MAX >> 12) | 1023 << 52);
    if y > SQRT_2 {
        y *= 0.5;
        e += 1;
    }
    let z = (y - 1.0) / (y + 1.0);
    let series = (0..11).rev().fold(0.0, |sum, i| sum * z * z + 1.0 / f64::from(2 * i + 1));
    (e as f64 - 1023.0) * LN_2 + 2.0 * z * series
}

/// By e^x = 2^k · e^y with y around 0; not for x above 0.
fn exp(x: f64) -> f64 {
    let k = (x / LN_2 - 0.5).trunc();
    if k < -1022.0 {
        return 0.0;
    }
    let y = x - k * LN_2;
    let series = (1..18).rev().fold(1.0, |sum, i| 1.0 + sum * y / f64::from(i));
    series * f64::from_bits(((k + 1023.0) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_those_of_the_library() {
        for rank in [1, 2, 3, 7, 100, 65_537, u32::MAX] {
            for exponent in [-0.0, -0.3, -1.0, -1.1, -2.0, -30.0] {
                let expected = f64::from(rank).powf(exponent);
                assert!(
                    (power(rank, exponent) / expected - 1.0).abs() < 1e-12,
                    "{rank} {exponent}"
                );
            }
        }
        assert_eq!(power(10, -400.0), 0.0);
    }

    /// The probability of a rank, from the slots.
    fn probabilities(zipf: &Zipf) -> Vec<f64> {
        let mut of = vec![0.0; zipf.slots.len()];
        for (rank, slot) in zipf.slots.iter().enumerate() {
            let own = slot.own as f64 / 2f64.powi(64);
            of[rank] += own / zipf.slots.len() as f64;
            of[slot.other as usize] += (1.0 - own) / zipf.slots.len() as f64;
        }
        of
    }

    #[test]
    fn the_slots_add_up_to_the_law() {
        for (count, exponent) in [(1, 1.0), (2, 0.0), (10, 0.5), (1000, 1.1), (5000, 3.0)] {
            let sum: f64 = (1..=count).map(|rank| f64::from(rank).powf(-exponent)).sum();
            for (rank, p) in (1..=count).zip(probabilities(&Zipf::new(count, exponent))) {
                let expected = f64::from(rank).powf(-exponent) / sum;
                assert!((p - expected).abs() < 1e-12, "rank {rank} of {count}: {p}, {expected}");
            }
        }
    }
}
