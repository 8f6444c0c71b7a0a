//! Bit sampling: a band is t positions of the string, all different.

use std::collections::HashSet;

use super::sampler::{Seeds, pack};
use crate::hash::{reduce, xxh3};

pub(super) struct Positions {
    /// One behind the other, t for each band.
    positions: Vec<u32>,
}

impl Positions {
    pub(super) fn new(seeds: &Seeds, bits: u32) -> Positions {
        let t = seeds.samples();
        let mut positions = Vec::with_capacity(seeds.bands().len() * t);
        let mut taken = HashSet::new();
        for (at, seed) in seeds.all_samples().enumerate() {
            if at.is_multiple_of(t) {
                taken.clear();
            }
            // Floyd's way to t different numbers without a list of all.
            let last = bits - (t - at % t) as u32;
            let drawn = reduce(seed, u64::from(last) + 1) as u32;
            let position = if taken.insert(drawn) { drawn } else { last };
            taken.insert(position);
            positions.push(position);
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
