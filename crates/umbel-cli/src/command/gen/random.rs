//! Random numbers that never change: SplitMix64 (Steele, Lea and Flood, 2014).

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.split(limit).0
    }

    /// A number below `limit` and, from the same draw, a fraction of 2^64.
    pub fn split(&mut self, limit: u64) -> (u64, u64) {
        let product = u128::from(self.next()) * u128::from(limit);
        ((product >> 64) as u64, product as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published first numbers for the seed 1234567.
    #[test]
    fn the_numbers_are_frozen() {
        let mut random = Random::new(1_234_567);
        assert_eq!(
            [random.next(), random.next(), random.next()],
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }
}
