//! The numbers below a size in a random order, found one by one: things that must differ need no list of what was taken.

use super::random::Random;

pub struct Permutation {
    size: u64,
    mask: u64,
    shift: u32,
    rounds: [(u64, u64); 4],
}

impl Permutation {
    /// Of the numbers below `size`, which is at most 2^63.
    pub fn new(size: u64, random: &mut Random) -> Permutation {
        let bits = size.next_power_of_two().trailing_zeros();
        Permutation {
            size,
            mask: (1 << bits) - 1,
            shift: bits.div_ceil(2),
            rounds: [(); 4].map(|()| (random.next() | 1, random.next())),
        }
    }

    pub fn size(&self) -> u64 {
        self.size
    }

    /// The number at this place, which is below the size.
    pub fn at(&self, place: u64) -> u64 {
        // `scramble` permutes a power of two; whoever lands beyond the size goes on until it is back.
        let mut x = self.scramble(place);
        while x >= self.size {
            x = self.scramble(x);
        }
        x
    }

    /// Each step can be undone: an odd factor, a sum, a shift that is not 0 bits.
    fn scramble(&self, mut x: u64) -> u64 {
        for (factor, summand) in self.rounds {
            x = x.wrapping_mul(factor).wrapping_add(summand) & self.mask;
            x ^= x >> self.shift;
        }
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_once() {
        for size in [1, 2, 3, 4, 5, 100, 128, 129, 10_000] {
            let order = Permutation::new(size, &mut Random::new(size));
            let mut numbers: Vec<u64> = (0..size).map(|place| order.at(place)).collect();
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..size), "{size}");
        }
    }
}
