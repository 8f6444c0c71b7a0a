//! From an item to the hashes of its bands: one way for each sort of item.

use super::minima::Minima;
use super::params::Params;
use super::positions::Positions;
use super::products::Products;
use super::space::Space;
use super::{Bands, Item};
use crate::Result;
use crate::hash::xxh3_u64;

/// The seeds of all bands and samples.
pub(super) struct Seeds {
    bands: Vec<u64>,
    samples: usize,
}

impl Seeds {
    fn new(params: &Params) -> Seeds {
        let shape = params.shape();
        let bands = (0..shape.bands).map(|band| xxh3_u64(band.into(), params.seed())).collect();
        Seeds { bands, samples: shape.samples as usize }
    }

    pub(super) fn bands(&self) -> &[u64] {
        &self.bands
    }

    /// Samples a band.
    pub(super) fn samples(&self) -> usize {
        self.samples
    }

    /// The seeds of all samples, band by band.
    pub(super) fn all_samples(&self) -> impl Iterator<Item = u64> {
        let of_band = |&band: &u64| (0..self.samples as u64).map(move |i| xxh3_u64(i, band));
        self.bands.iter().flat_map(of_band)
    }
}

/// The samples of a filter, found once.
pub(super) struct Sampler {
    seeds: Seeds,
    /// The seed of the elements of texts and sets.
    seed: u64,
    way: Way,
}

enum Way {
    Positions(Positions),
    Products(Products),
    Minima { minima: Minima, shingle: usize },
}

impl Sampler {
    pub(super) fn new(params: &Params) -> Sampler {
        let seeds = Seeds::new(params);
        let way = match params.space() {
            Space::Hamming { bits } => Way::Positions(Positions::new(&seeds, bits)),
            Space::Cosine { dimension } => {
                Way::Products(Products::new(&seeds, dimension as usize, None))
            }
            Space::Euclid { dimension } => {
                let width = Some(params.shape().width);
                Way::Products(Products::new(&seeds, dimension as usize, width))
            }
            space @ (Space::Texts { .. } | Space::Sets) => {
                Way::Minima { minima: Minima::new(&seeds), shingle: space.length() as usize }
            }
        };
        Sampler { seeds, seed: params.seed(), way }
    }

    /// The bands of an item, in place of what stands there. The item is one of the space.
    pub(super) fn bands(&self, item: &Item<'_>, out: &mut Bands) -> Result<()> {
        let Sampler { seeds, seed, way } = self;
        let Bands { hashes, scratch } = out;
        hashes.clear();
        match (way, item) {
            (Way::Positions(positions), Item::Bits(bytes)) => {
                positions.bands(seeds, bytes, hashes);
                Ok(())
            }
            (Way::Products(products), Item::Vector(vector)) => {
                products.bands(seeds, vector.iter().copied(), scratch, hashes)
            }
            (Way::Products(products), Item::Floats(vector)) => {
                products.bands(seeds, vector.iter().map(|&x| x.into()), scratch, hashes)
            }
            (Way::Minima { minima, shingle }, Item::Text(text)) => {
                scratch.text(text, *shingle, *seed);
                minima.bands(seeds, scratch, hashes)
            }
            (Way::Minima { minima, .. }, Item::Tokens(tokens)) => {
                scratch.tokens(tokens, *seed);
                minima.bands(seeds, scratch, hashes)
            }
            _ => {
                Err(crate::Error::Value(format!("{} are not what this filter holds", item.sort())))
            }
        }
    }
}

/// Bits in bytes, eight in one, the first lowest.
pub(super) fn pack(bits: impl Iterator<Item = bool>, out: &mut Vec<u8>) {
    out.clear();
    for (i, bit) in bits.enumerate() {
        if i.is_multiple_of(8) {
            out.push(0);
        }
        if let Some(last) = out.last_mut() {
            *last |= u8::from(bit) << (i % 8);
        }
    }
}
