//! MinHash: a sample is the least of all elements' hashes.

use super::sampler::Seeds;
use super::scratch::Scratch;
use crate::hash::{mix, xxh3};
use crate::{Error, Result};

/// Samples that are found in one walk over the elements.
const TOGETHER: usize = 4;

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
        let (groups, rest) = self.seeds.as_chunks::<TOGETHER>();
        groups.iter().for_each(|&seeds| put(least(elements, seeds), bytes));
        rest.iter().for_each(|&seed| put(least(elements, [seed]), bytes));
        // The whole band is hashed: from sums of minima unrelated sets would often come to the same.
        let bands = bytes.chunks(8 * seeds.samples()).zip(seeds.bands());
        out.extend(bands.map(|(minima, &seed)| xxh3(minima, seed)));
        Ok(())
    }
}

fn put<const N: usize>(minima: [u64; N], bytes: &mut Vec<u8>) {
    minima.iter().for_each(|least| bytes.extend(least.to_le_bytes()));
}

#[inline]
fn least<const N: usize>(elements: &[u64], seeds: [u64; N]) -> [u64; N] {
    let mut least = [u64::MAX; N];
    for &element in elements {
        for i in 0..N {
            least[i] = least[i].min(mix(element ^ seeds[i]));
        }
    }
    least
}
