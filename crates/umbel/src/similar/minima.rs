//! MinHash: a sample is the least of all elements' hashes.

use super::sampler::Seeds;
use super::scratch::Scratch;
use crate::hash::{mix, xxh3};
use crate::simd::Level;
use crate::simd::wide::{Loop, run};
use crate::{Error, Result};

/// Samples that are found in one walk over the elements.
const TOGETHER: usize = 16;

pub(super) struct Minima {
    /// What the elements are mixed with, one number a sample.
    seeds: Vec<u64>,
}

impl Minima {
    pub(super) fn new(seeds: &Seeds) -> Minima {
        Minima { seeds: seeds.all_samples().collect() }
    }

    pub(super) fn bands(
        &self,
        seeds: &Seeds,
        scratch: &mut Scratch,
        out: &mut Vec<u64>,
    ) -> Result<()> {
        let Scratch { elements, bytes, .. } = scratch;
        if elements.is_empty() {
            return Err(Error::Value(
                "a text without words, or a set without tokens, is at no distance from others"
                    .into(),
            ));
        }
        bytes.clear();
        run(Level::best(), Least { elements, seeds: &self.seeds, minima: bytes });
        // The whole band is hashed: from sums of minima unrelated sets would often come to the same.
        let bands = bytes.chunks(8 * seeds.samples()).zip(seeds.bands());
        out.extend(bands.map(|(minima, &seed)| xxh3(minima, seed)));
        Ok(())
    }
}

/// The least hash of all elements for each seed, written one behind the other.
struct Least<'a> {
    elements: &'a [u64],
    seeds: &'a [u64],
    minima: &'a mut Vec<u8>,
}

impl Loop for Least<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for seeds in self.seeds.chunks(TOGETHER) {
            // Behind the last seed any number will do.
            let mut padded = [0; TOGETHER];
            padded[..seeds.len()].copy_from_slice(seeds);
            let mut least = [u64::MAX; TOGETHER];
            for &element in self.elements {
                for i in 0..TOGETHER {
                    least[i] = least[i].min(mix(element ^ padded[i]));
                }
            }
            least[..seeds.len()].iter().for_each(|least| self.minima.extend(least.to_le_bytes()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_finds_the_same() {
        let numbers = |start: u64, count: u64| (0..count).map(|i| mix(mix(start + i))).collect();
        for (elements, seeds) in [(1, 1), (3, 16), (100, 35), (777, 203)] {
            let (elements, seeds): (Vec<u64>, Vec<u64>) =
                (numbers(1, elements), numbers(1 << 40, seeds));
            let plain = |&seed: &u64| elements.iter().map(|e| mix(e ^ seed)).min().unwrap_or(0);
            let expected: Vec<u8> =
                seeds.iter().flat_map(|seed| plain(seed).to_le_bytes()).collect();
            for level in Level::available() {
                let mut minima = Vec::new();
                run(level, Least { elements: &elements, seeds: &seeds, minima: &mut minima });
                assert_eq!(minima, expected, "{level:?}");
            }
        }
    }
}
