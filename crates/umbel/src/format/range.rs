//! The parameters of counts over ranges, as they stand in the PARM section.

use super::Cursor;
use super::count::{XXH3, check_strategy};
use crate::countmin::Width;
use crate::ranges::{Ranges, RangesParams};
use crate::{Error, Result};

pub(crate) fn write_range_record(ranges: &Ranges, out: &mut Vec<u8>) {
    let params = ranges.params();
    out.extend(XXH3.to_le_bytes());
    out.extend([0; 2]);
    out.extend(params.depth().to_le_bytes());
    out.extend(params.width().to_le_bytes());
    out.extend(params.seed().to_le_bytes());
    out.extend(ranges.total().to_le_bytes());
    out.extend(ranges.inserted().to_le_bytes());
    out.extend(params.lo().to_le_bytes());
    out.extend(params.hi().to_le_bytes());
    out.extend(ranges.levels().iter().map(|level| level.table().width().bytes() as u8));
}

/// What a range record says.
pub(super) struct RangeRecord {
    pub(super) params: RangesParams,
    /// Bytes a counter of each level.
    pub(super) widths: Vec<Width>,
    /// Total weight and number of add calls.
    pub(super) counts: [u64; 2],
}

pub(super) fn read_range_record(from: &mut Cursor<'_>) -> Result<RangeRecord> {
    check_strategy(from.u16()?)?;
    let zero = from.u16()?;
    if zero != 0 {
        return Err(Error::Format(format!(
            "range flags {zero:#x} are unknown to this version of umbel"
        )));
    }
    let (depth, columns, seed) = (from.u32()?, from.u64()?, from.u64()?);
    let counts = [from.u64()?, from.u64()?];
    let [lo, hi] = [from.u64()? as i64, from.u64()? as i64];
    let params = RangesParams::with_size(lo, hi, columns, depth)?.with_seed(seed);
    let widths = (0..params.levels()).map(|_| Width::from_bytes(from.u8()?));
    Ok(RangeRecord { params, widths: widths.collect::<Result<_>>()?, counts })
}
