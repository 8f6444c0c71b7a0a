//! Counts of any kind, as they stand in the PARM section.

use std::io;

use super::{Cursor, Kind, write_count_record, write_heavy_record, write_range_record};
use crate::counts::{Counts, Sketch};
use crate::{Error, Result};

/// Writes what PARM holds for counts of their kind.
pub(crate) fn write_counts_record(counts: &Counts, out: &mut Vec<u8>) -> io::Result<()> {
    if let Some(sketch) = counts.sketch() {
        if counts.kind() == Kind::Counts {
            out.extend(sketch.kind().id().to_le_bytes());
        }
        match sketch {
            Sketch::Plain(sketch) => write_count_record(sketch, out),
            Sketch::Conservative(sketch) => write_count_record(sketch.inner(), out),
            Sketch::Ranges(ranges) => write_range_record(ranges, out),
        }
    }
    counts.heavy().map_or(Ok(()), |heavy| write_heavy_record(heavy, out))
}

/// A kind inside PARM, which must be one of counts.
pub(super) fn read_kind(from: &mut Cursor<'_>) -> Result<Kind> {
    let kind = Kind::from_id(from.u16()?)?;
    if kind.is_counts() {
        return Ok(kind);
    }
    Err(Error::Format(format!("there is {kind} among counts")))
}
