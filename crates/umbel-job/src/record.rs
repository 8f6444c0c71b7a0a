//! The records between tasks. On a pipe or in a file: key and value, each behind its length in four big-endian bytes (what Hadoop Streaming
//! calls rawbytes).

use std::io::{self, BufRead, Read, Write};

/// What a record holds, the first byte of its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// What a mapper has counted.
    Tally = 1,
    /// What is wrong with the data: the job is done, its result is this message.
    Fault = 2,
    /// Rows and distinct keys.
    Distinct = 3,
    /// A slice of a filter.
    Slice = 4,
    /// A sketch of counts, as its file would be.
    Counts = 5,
    /// Rows of an audit.
    Rows = 6,
    /// Rows of an audit whose group has no filter; behind the reducer, the number of their keys.
    Missing = 7,
    /// What the rows of an audit have come to.
    Audited = 8,
    /// Hashes of keys, eight little-endian bytes each.
    Hashes = 9,
    /// A mapper has met a group that it was told no filter for: the job is done, and has made none.
    NewGroup = 10,
}

impl Kind {
    fn of(byte: u8) -> Option<Kind> {
        let all = [
            Kind::Tally,
            Kind::Fault,
            Kind::Distinct,
            Kind::Slice,
            Kind::Counts,
            Kind::Rows,
            Kind::Missing,
            Kind::Audited,
            Kind::Hashes,
            Kind::NewGroup,
        ];
        all.into_iter().find(|kind| *kind as u8 == byte)
    }
}

/// The key of a record: kind, slice (four big-endian bytes), the name of a group.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// What the value is.
    pub kind: Kind,
    /// Which slice of a filter, or bucket of rows.
    pub slice: u32,
    /// Of which group; empty where there are no groups.
    pub group: String,
}

impl Key {
    /// The key of something that has no slices.
    pub fn new(kind: Kind, group: &str) -> Key {
        Key { kind, slice: 0, group: group.into() }
    }

    /// The bytes: records are sorted and shared out by them.
    pub fn to_bytes(&self) -> Vec<u8> {
        [&[self.kind as u8], &self.slice.to_be_bytes()[..], self.group.as_bytes()].concat()
    }

    /// The key, from its bytes.
    pub fn from_bytes(bytes: &[u8]) -> io::Result<Key> {
        let key = || {
            let (&kind, rest) = bytes.split_first()?;
            let (slice, group) = rest.split_first_chunk()?;
            let group = std::str::from_utf8(group).ok()?.into();
            Some(Key { kind: Kind::of(kind)?, slice: u32::from_be_bytes(*slice), group })
        };
        key().ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidData, "a record with an unknown key")
        })
    }
}

/// A record.
pub type Record = (Key, Vec<u8>);

/// Writes a record.
pub fn write(out: &mut impl Write, key: &Key, value: &[u8]) -> io::Result<()> {
    for bytes in [&key.to_bytes()[..], value] {
        let len = u32::try_from(bytes.len()).map_err(io::Error::other)?;
        out.write_all(&len.to_be_bytes())?;
        out.write_all(bytes)?;
    }
    Ok(())
}

/// Reads a record; none at the end.
pub fn read(from: &mut impl BufRead) -> io::Result<Option<Record>> {
    if from.fill_buf()?.is_empty() {
        return Ok(None);
    }
    let key = Key::from_bytes(&read_bytes(from)?)?;
    Ok(Some((key, read_bytes(from)?)))
}

/// The bytes behind their length. A length beyond the end takes no more memory than there are bytes.
pub fn read_bytes(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut len = [0; 4];
    from.read_exact(&mut len)?;
    let len = u64::from(u32::from_be_bytes(len));
    let mut bytes = Vec::new();
    match from.take(len).read_to_end(&mut bytes)? as u64 == len {
        true => Ok(bytes),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back() {
        let records: Vec<Record> = vec![
            (Key::new(Kind::Tally, ""), vec![]),
            (Key { kind: Kind::Slice, slice: 70_000, group: "groß".into() }, vec![7; 100_000]),
        ];
        let mut bytes = Vec::new();
        records.iter().for_each(|(key, value)| write(&mut bytes, key, value).unwrap());
        let mut from = &bytes[..];
        let back: Vec<_> = std::iter::from_fn(|| read(&mut from).unwrap()).collect();
        assert_eq!(back, records);
        for end in 1..20 {
            let mut cut = &bytes[..end];
            assert!(
                std::iter::from_fn(|| Some(read(&mut cut))).take(2).any(|read| read.is_err())
                    || end == 13
            );
        }
    }
}
