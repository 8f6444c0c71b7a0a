//! Bit sampling: a band is t positions of the string, all different.

use super::sampler::{Seeds, pack};
use crate::hash::{reduce, xxh3};

pub(super) struct Positions {
    /// One behind the other, t for each band.
    positions: Vec<u32>,
}

impl Positions {
    pub(super) fn new(seeds: &Seeds, bits: u32) -> Positions {
        let t = seeds.samples();
        let mut positions: Vec<u32> = Vec::with_capacity(seeds.bands().len() * t);
        for (at, seed) in seeds.all_samples().enumerate() {
            // Floyd's way to t different numbers without a list of all.
            let (band, last) = (at - at % t, bits - (t - at % t) as u32);
            let drawn = reduce(seed, u64::from(last) + 1) as u32;
            let taken = positions[band..].contains(&drawn);
            positions.push(if taken { last } else { drawn });
        }
        Positions { positions }
    }

    pub(super) fn bands(&self, seeds: &Seeds, bytes: &[u8], out: &mut Vec<u64>) {
        let bit = |&p: &u32| bytes[p as usize / 8] >> (7 - p % 8) & 1 == 1;
        let mut packed = Vec::with_capacity(seeds.samples().div_ceil(8));
        for (positions, &seed) in self.positions.chunks(seeds.samples()).zip(seeds.bands()) {
            pack(positions.iter().map(bit), &mut packed);
            out.push(xxh3(&packed, seed));
        }
    }
}
