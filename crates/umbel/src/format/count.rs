//! The parameters of one count-min sketch, as they stand in the PARM section.

use super::Cursor;
use super::record::{key_type_id, read_key_type};
use crate::countmin::{CountMin, CountMinParams, Width};
use crate::{Error, Result};

pub(super) const XXH3: u16 = 1;

pub(crate) fn write_count_record(sketch: &CountMin, out: &mut Vec<u8>) {
    let params = sketch.params();
    out.extend(XXH3.to_le_bytes());
    out.push(sketch.table().width().bytes() as u8);
    out.push(key_type_id(params.key_type()));
    out.extend(params.depth().to_le_bytes());
    out.extend(params.width().to_le_bytes());
    out.extend(params.seed().to_le_bytes());
    out.extend(sketch.total().to_le_bytes());
    out.extend(sketch.inserted().to_le_bytes());
}

/// What a count record says.
pub(super) struct CountRecord {
    pub(super) params: CountMinParams,
    pub(super) width: Width,
    /// Total weight and number of add calls.
    pub(super) counts: [u64; 2],
}

pub(super) fn read_count_record(from: &mut Cursor<'_>) -> Result<CountRecord> {
    check_strategy(from.u16()?)?;
    let width = Width::from_bytes(from.u8()?)?;
    let key_type = read_key_type(from)?;
    let (depth, columns, seed) = (from.u32()?, from.u64()?, from.u64()?);
    let counts = [from.u64()?, from.u64()?];
    let params = CountMinParams::with_size(columns, depth)?.with_seed(seed).with_key_type(key_type);
    Ok(CountRecord { params, width, counts })
}

pub(super) fn check_strategy(strategy: u16) -> Result<()> {
    if strategy == XXH3 {
        return Ok(());
    }
    Err(Error::Format(format!(
        "hash strategy {strategy} for a sketch is unknown to this version of umbel; a newer one may read it"
    )))
}
