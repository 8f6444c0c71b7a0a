//! Normal random numbers that are the same on every machine: no function of the system's mathematics, whose last bit differs, is asked.
//! FORMAT.md has every step.

use std::f64::consts::{LN_2, SQRT_2};

use crate::hash::xxh3_u64;

/// Numbers of one sample, by Marsaglia's polar method over a counter that is hashed.
pub(super) struct Gauss {
    seed: u64,
    counter: u64,
    second: Option<f32>,
}

impl Gauss {
    pub(super) fn new(seed: u64) -> Gauss {
        Gauss { seed, counter: 0, second: None }
    }

    /// The next number between -1 and 1.
    fn uniform(&mut self) -> f64 {
        let bits = xxh3_u64(self.counter, self.seed).cast_signed();
        self.counter += 1;
        (bits >> 11) as f64 / (1_u64 << 52) as f64
    }

    pub(super) fn next(&mut self) -> f32 {
        if let Some(second) = self.second.take() {
            return second;
        }
        loop {
            let (u, v) = (self.uniform(), self.uniform());
            let s = u * u + v * v;
            if s < 1.0 && s > 0.0 {
                let factor = (-2.0 * ln(s) / s).sqrt();
                self.second = Some((v * factor) as f32);
                return (u * factor) as f32;
            }
        }
    }
}

/// The logarithm of a normal double above 0, by the series of the inverse hyperbolic tangent.
fn ln(x: f64) -> f64 {
    const FRACTION: u64 = (1 << 52) - 1;
    let mut exponent = (x.to_bits() >> 52) as i32 - 1023;
    let mut a = f64::from_bits(x.to_bits() & FRACTION | 1023 << 52);
    if a > SQRT_2 {
        a /= 2.0;
        exponent += 1;
    }
    let y = (a - 1.0) / (a + 1.0);
    let z = y * y;
    let series = [19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0];
    let w = series.into_iter().fold(1.0 / 21.0, |w, d| w * z + 1.0 / d);
    f64::from(exponent) * LN_2 + 2.0 * y * w
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_is_one() {
        for i in 1..200_000_u32 {
            let x = f64::from(i) / 199_999.5;
            assert!((ln(x) - x.ln()).abs() <= 4e-16 * (1.0 + x.ln().abs()), "{x}");
        }
        for x in [1e-300, f64::MIN_POSITIVE, 0.5, 1.0 / SQRT_2, 1.0 - 1e-16] {
            assert!((ln(x) - x.ln()).abs() <= 1e-15 * (1e-3 + x.ln().abs()), "{x}");
        }
    }

    /// Frozen: the first numbers of a sample, to the bit.
    #[test]
    fn the_numbers_stay_as_they_are() {
        let mut gauss = Gauss::new(7);
        let bits = [(); 6].map(|()| gauss.next().to_bits());
        assert_eq!(bits, FIRST, "{bits:#x?}");
    }

    const FIRST: [u32; 6] =
        [0x3ED7_775C, 0xBF07_0644, 0x3F8E_6E1F, 0x3EC8_419B, 0xBFC4_3131, 0x3F38_9AE5];

    #[test]
    fn the_numbers_are_normal() {
        let mut gauss = Gauss::new(1);
        let numbers: Vec<f64> = (0..1_000_000).map(|_| gauss.next().into()).collect();
        let moment = |power: i32| numbers.iter().map(|x| x.powi(power)).sum::<f64>() / 1e6;
        // Five standard deviations of each mean: the variances are 1, 2, 15 and 96.
        for (power, expected, variance) in
            [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0_f64)]
        {
            let found = moment(power);
            assert!((found - expected).abs() < 5e-3 * variance.sqrt(), "moment {power}: {found}");
        }
        let beyond = numbers.iter().filter(|x| x.abs() > 1.959_963_985).count();
        assert!((49_000..51_000).contains(&beyond), "{beyond}");
    }
}
