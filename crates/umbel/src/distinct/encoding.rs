//! The bytes that travel between processes, drawn in FORMAT.md. Equal counts give equal bytes.

use super::Distinct;
use super::registers::{self, COUNT, Entry, INDEX_BITS, MAX_RANK, MAX_SPARSE, Registers};
use crate::hash::xxh3;
use crate::{Error, Result};

const MAGIC: [u8; 4] = *b"UMHL";
const VERSION: u8 = 1;
const SPARSE: u8 = 1;
const DENSE: u8 = 2;
/// Magic, version, index bits, encoding, zero; rows.
const HEADER: usize = 16;
/// A register's index in two bytes, its rank in one.
const ENTRY: usize = 3;
const CHECKSUM: usize = 8;

impl Distinct {
    /// The counts as bytes, for [`Distinct::from_bytes`] in another process: at most 16 408.
    pub fn to_bytes(&self) -> Vec<u8> {
        let entries = self.registers.entries();
        let encoding = if entries.len() <= MAX_SPARSE { SPARSE } else { DENSE };
        let mut bytes = MAGIC.to_vec();
        bytes.extend([VERSION, INDEX_BITS as u8, encoding, 0]);
        bytes.extend(self.rows.to_le_bytes());
        match encoding {
            SPARSE => entries.iter().for_each(|&entry| put_entry(&mut bytes, entry)),
            _ => put_dense(&mut bytes, &entries),
        }
        let checksum = xxh3(&bytes, 0);
        bytes.extend(checksum.to_le_bytes());
        bytes
    }

    /// The counts that [`Distinct::to_bytes`] wrote. Refuses bytes that it cannot have written.
    pub fn from_bytes(bytes: &[u8]) -> Result<Distinct> {
        let (header, body) = open(bytes)?;
        let entries = match (header.encoding, body.len()) {
            (SPARSE, len) if len.is_multiple_of(ENTRY) && len <= MAX_SPARSE * ENTRY => sparse(body),
            (DENSE, COUNT) => dense(body),
            (SPARSE | DENSE, len) => return Err(refuse(format!("{len} bytes of registers"))),
            (other, _) => return Err(refuse(format!("encoding {other}"))),
        };
        check(&entries, &header)?;
        Ok(Distinct { rows: header.rows, registers: Registers::from_entries(entries) })
    }
}

struct Header {
    encoding: u8,
    rows: u64,
}

/// The header and the registers, once the frame is known to be whole.
fn open(bytes: &[u8]) -> Result<(Header, &[u8])> {
    if !bytes.starts_with(&MAGIC) {
        return Err(Error::Format("these bytes are no distinct count of umbel's".into()));
    }
    let (content, checksum) =
        bytes.split_last_chunk::<CHECKSUM>().ok_or_else(|| refuse("an early end".into()))?;
    let (header, body) =
        content.split_first_chunk::<HEADER>().ok_or_else(|| refuse("an early end".into()))?;
    let [_, _, _, _, version, index_bits, encoding, zero, rows @ ..] = *header;
    if version != VERSION {
        return Err(Error::Format(format!(
            "a distinct count of version {version}; this umbel reads version {VERSION}"
        )));
    }
    if u64::from_le_bytes(*checksum) != xxh3(content, 0) {
        return Err(refuse("a wrong checksum".into()));
    }
    if u32::from(index_bits) != INDEX_BITS || zero != 0 {
        return Err(refuse(format!("2^{index_bits} registers, flags {zero}")));
    }
    Ok((Header { encoding, rows: u64::from_le_bytes(rows) }, body))
}

/// Every register exists, stands once and in order, has a rank that a hash can have, and a row that caused it.
fn check(entries: &[Entry], header: &Header) -> Result<()> {
    let ranks = 1..=MAX_RANK;
    if !entries.iter().all(|&entry| ranks.contains(&registers::entry_rank(entry))) {
        return Err(refuse(format!("a rank outside 1 to {MAX_RANK}")));
    }
    let ascending = entries.windows(2).all(|pair| index(pair[0]) < index(pair[1]));
    if !ascending || entries.last().is_some_and(|&last| index(last) >= COUNT) {
        return Err(refuse("registers out of order".into()));
    }
    if (header.encoding == DENSE) != (entries.len() > MAX_SPARSE) {
        return Err(refuse(format!("{} registers in the wrong encoding", entries.len())));
    }
    if header.rows < entries.len() as u64 {
        return Err(refuse(format!("{} rows for {} registers", header.rows, entries.len())));
    }
    Ok(())
}

fn put_entry(bytes: &mut Vec<u8>, entry: Entry) {
    bytes.extend((index(entry) as u16).to_le_bytes());
    bytes.push(registers::entry_rank(entry));
}

fn put_dense(bytes: &mut Vec<u8>, entries: &[Entry]) {
    let start = bytes.len();
    bytes.resize(start + COUNT, 0);
    for &entry in entries {
        bytes[start + index(entry)] = registers::entry_rank(entry);
    }
}

fn sparse(body: &[u8]) -> Vec<Entry> {
    let (entries, _) = body.as_chunks::<ENTRY>();
    entries
        .iter()
        .map(|&[low, high, rank]| registers::entry(u16::from_le_bytes([low, high]).into(), rank))
        .collect()
}

fn dense(body: &[u8]) -> Vec<Entry> {
    let used = body.iter().enumerate().filter(|(_, rank)| **rank > 0);
    used.map(|(index, rank)| registers::entry(index, *rank)).collect()
}

fn index(entry: Entry) -> usize {
    registers::entry_index(entry)
}

fn refuse(found: String) -> Error {
    Error::Format(format!(
        "a damaged distinct count ({found}): send the bytes again, or count again"
    ))
}
