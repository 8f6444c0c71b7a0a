//! Heavy hitters, as they stand in the PARM section.

use std::io;

use super::Cursor;
use super::cursor::put_bytes;
use super::record::{key_type_id, read_key_type};
use crate::heavy::{Heavy, Place};
use crate::{Error, Result};

pub(crate) fn write_heavy_record(heavy: &Heavy, out: &mut Vec<u8>) -> io::Result<()> {
    out.extend(heavy.places().to_le_bytes());
    out.push(key_type_id(heavy.key_type()));
    out.extend([0; 3]);
    out.extend(heavy.total().to_le_bytes());
    out.extend(heavy.inserted().to_le_bytes());
    out.extend((heavy.len() as u32).to_le_bytes());
    for Place { key, count, error } in heavy.kept() {
        out.extend(count.to_le_bytes());
        out.extend(error.to_le_bytes());
        put_bytes(out, &key)?;
    }
    Ok(())
}

pub(super) fn read_heavy_record(from: &mut Cursor<'_>) -> Result<Heavy> {
    let places = from.u32()?;
    let key_type = read_key_type(from)?;
    if from.take(3)? != [0; 3] {
        return Err(Error::Format("flags of heavy hitters are unknown to this umbel".into()));
    }
    let counts = [from.u64()?, from.u64()?];
    let mut kept = Vec::new();
    for _ in 0..from.u32()? {
        let (count, error) = (from.u64()?, from.u64()?);
        kept.push(Place { key: from.bytes()?.into(), count, error });
    }
    Heavy::from_kept(places, key_type, counts, kept)
}
