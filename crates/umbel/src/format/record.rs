//! The parameters of one filter, as they stand in the PARM section.

use super::Cursor;
use crate::bloom::{Bloom, KeyType, Params};
use crate::hash::Strategy;
use crate::sizing::{BLOCKED_PROBES, Layout, MAX_PROBES, Sizing};
use crate::{Error, Result};

const INSERTED_UNKNOWN: u32 = 1;

pub(crate) fn write_record(filter: &Bloom, out: &mut Vec<u8>) {
    let (params, sizing) = (filter.params(), filter.sizing());
    out.extend(params.strategy().id().to_le_bytes());
    out.push(match sizing.layout() {
        Layout::Classic => 1,
        Layout::Blocked => 2,
    });
    out.push(key_type_id(params.key_type()));
    out.extend(sizing.probes().to_le_bytes());
    out.extend(sizing.bits().to_le_bytes());
    out.extend(sizing.capacity().to_le_bytes());
    out.extend(filter.inserted().unwrap_or(0).to_le_bytes());
    let flags = if filter.inserted().is_none() { INSERTED_UNKNOWN } else { 0 };
    out.extend(flags.to_le_bytes());
    let seeds = params.strategy().seeds();
    out.extend((seeds.len() as u32).to_le_bytes());
    seeds.iter().for_each(|seed| out.extend(seed.to_le_bytes()));
}

/// The parameters and the number of insert calls.
pub(crate) fn read_record(from: &mut Cursor<'_>) -> Result<(Params, Option<u64>)> {
    let strategy = from.u16()?;
    let layout = from.u8()?;
    let key_type = read_key_type(from)?;
    let probes = from.u32()?;
    let bits = from.u64()?;
    let capacity = from.u64()?;
    let inserted = from.u64()?;
    let flags = from.u32()?;
    let seeds = from.u32()?;
    if seeds > MAX_PROBES {
        return Err(Error::Format(format!("{seeds} seeds are more than a strategy can have")));
    }
    let seeds = (0..seeds).map(|_| from.u64()).collect::<Result<Vec<u64>>>()?;

    let sizing = match layout {
        1 => Sizing::with(capacity, bits, probes)?,
        2 if probes == BLOCKED_PROBES => Sizing::blocked_with(capacity, bits)?,
        2 => {
            return Err(Error::Format(format!(
                "a blocked filter with {probes} probes a key is unknown"
            )));
        }
        _ => {
            return Err(Error::Format(format!(
                "layout {layout} is unknown to this version of umbel"
            )));
        }
    };
    let inserted = match flags {
        0 => Some(inserted),
        INSERTED_UNKNOWN if inserted == 0 => None,
        INSERTED_UNKNOWN => {
            return Err(Error::Format(
                "the number of insert calls is both unknown and given".into(),
            ));
        }
        _ => {
            return Err(Error::Format(format!(
                "filter flags {flags:#x} are unknown to this version of umbel"
            )));
        }
    };
    let params = Params::new(sizing)
        .with_strategy(Strategy::from_parts(strategy, &seeds)?)?
        .with_key_type(key_type);
    Ok((params, inserted))
}

pub(super) fn key_type_id(key_type: KeyType) -> u8 {
    match key_type {
        KeyType::Bytes => 1,
        KeyType::U64 => 2,
    }
}

pub(super) fn read_key_type(from: &mut Cursor<'_>) -> Result<KeyType> {
    match from.u8()? {
        1 => Ok(KeyType::Bytes),
        2 => Ok(KeyType::U64),
        other => {
            Err(Error::Format(format!("key type {other} is unknown to this version of umbel")))
        }
    }
}
