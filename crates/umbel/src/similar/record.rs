//! The similar record of FORMAT.md: written here, checked here.

use super::Similar;
use super::params::{Params, Shape};
use super::space::Space;
use crate::format::Cursor;
use crate::memory::{LINE_BYTES, Memory};
use crate::{Error, Metadata, Result};

const HAMMING: u8 = 1;
const COSINE: u8 = 2;
const EUCLID: u8 = 3;
const JACCARD: u8 = 4;
const BIT_STRINGS: u8 = 1;
const VECTORS: u8 = 2;
const TEXTS: u8 = 3;
const SETS: u8 = 4;

impl Similar {
    pub(super) fn write_record(&self, out: &mut Vec<u8>) {
        let (params, shape) = (&self.params, self.params.shape());
        out.extend(match params.space() {
            Space::Hamming { .. } => [HAMMING, BIT_STRINGS],
            Space::Cosine { .. } => [COSINE, VECTORS],
            Space::Euclid { .. } => [EUCLID, VECTORS],
            Space::Texts { .. } => [JACCARD, TEXTS],
            Space::Sets => [JACCARD, SETS],
        });
        out.extend([0; 2]);
        let Shape { bands, samples, threshold, probes, bits, width } = shape;
        for number in [params.space().length(), bands, samples, threshold, probes] {
            out.extend(number.to_le_bytes());
        }
        for number in [bits, params.n()] {
            out.extend(number.to_le_bytes());
        }
        for float in [params.close(), params.far(), width] {
            out.extend(float.to_bits().to_le_bytes());
        }
        for number in [params.seed(), self.inserted] {
            out.extend(number.to_le_bytes());
        }
    }
}

/// What the PARM section says.
pub(crate) struct Record {
    params: Params,
    inserted: u64,
}

impl Record {
    pub(crate) fn read(from: &mut Cursor<'_>) -> Result<Record> {
        let (metric, items) = (from.u8()?, from.u8()?);
        let zero = from.u16()?;
        if zero != 0 {
            return Err(unknown(&format!("field {zero}")));
        }
        let length = from.u32()?;
        let space = match (metric, items) {
            (HAMMING, BIT_STRINGS) => Space::Hamming { bits: length },
            (COSINE, VECTORS) => Space::Cosine { dimension: length },
            (EUCLID, VECTORS) => Space::Euclid { dimension: length },
            (JACCARD, TEXTS) => Space::Texts { shingle: length },
            (JACCARD, SETS) if length == 0 => Space::Sets,
            _ => return Err(unknown(&format!("metric {metric} of items {items} ({length})"))),
        };
        let [bands, samples, threshold, probes] =
            [from.u32()?, from.u32()?, from.u32()?, from.u32()?];
        let [bits, n] = [from.u64()?, from.u64()?];
        let [close, far, width] = [from.u64()?, from.u64()?, from.u64()?].map(f64::from_bits);
        let [seed, inserted] = [from.u64()?, from.u64()?];
        let shape = Shape { bands, samples, threshold, probes, bits, width };
        let params = Params::with_shape(space, n, close, far, shape)?.with_seed(seed);
        Ok(Record { params, inserted })
    }

    /// The filter; `body` gives the next so many bytes of the file's bits.
    pub(crate) fn into_similar(self, body: impl FnOnce(u64) -> Result<Memory>) -> Result<Similar> {
        let Record { params, inserted } = self;
        let bits = body(params.bits().div_ceil(512) * LINE_BYTES as u64)?;
        Ok(Similar::from_parts(params, bits, inserted, Metadata::default()))
    }

    pub(crate) fn bits(&self) -> u64 {
        self.params.bits()
    }
}

fn unknown(what: &str) -> Error {
    Error::Format(format!("{what} of a similar record is unknown to this version of umbel"))
}
