//! Hadoop's sequence files, uncompressed, of the records that tasks write: how a reducer's output comes back.

use std::io::{self, BufRead, Read};

use umbel_job::record::{Record, read};

const MAGIC: &[u8; 4] = b"SEQ\x06";
/// What keys and values are.
const CLASS: &str = "org.apache.hadoop.io.BytesWritable";
/// Bytes of the mark that stands between records now and then, behind a length of -1.
const SYNC: usize = 16;
const ESCAPE: u32 = u32::MAX;

/// All records of a file.
pub fn records(mut from: impl BufRead) -> io::Result<Vec<Record>> {
    let sync = header(&mut from)?;
    let mut records = Vec::new();
    while !from.fill_buf()?.is_empty() {
        let mut len = number(&mut from)?;
        if len == ESCAPE {
            if array::<SYNC>(&mut from)? != sync {
                return Err(damaged("a wrong mark"));
            }
            if from.fill_buf()?.is_empty() {
                break;
            }
            len = number(&mut from)?;
        }
        let _key_len = number(&mut from)?;
        // Key and value each carry their length, as on the pipe.
        let mut bytes = Vec::new();
        from.by_ref().take(len.into()).read_to_end(&mut bytes)?;
        let record = read(&mut &bytes[..])?.filter(|_| bytes.len() as u64 == u64::from(len));
        records.push(record.ok_or_else(|| damaged("an early end"))?);
    }
    Ok(records)
}

/// Reads the header; gives the mark.
fn header(from: &mut impl BufRead) -> io::Result<[u8; SYNC]> {
    if array(from)? != *MAGIC {
        return Err(damaged("no sequence file of version 6"));
    }
    for _ in 0..2 {
        let class = text(from)?;
        if class != CLASS.as_bytes() {
            return Err(damaged(&format!("records of {}", String::from_utf8_lossy(&class))));
        }
    }
    if array(from)? != [0u8; 2] {
        return Err(damaged("compression"));
    }
    for _ in 0..2 * u64::from(number(from)?) {
        text(from)?;
    }
    array(from)
}

/// A short text behind its length, which is one byte for the lengths that class names have.
fn text(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let [len] = array(from)?;
    if len > 127 {
        return Err(damaged("a long name"));
    }
    let mut bytes = vec![0; len.into()];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn number(from: &mut impl Read) -> io::Result<u32> {
    Ok(u32::from_be_bytes(array(from)?))
}

fn array<const N: usize>(from: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn damaged(found: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("this cannot be what a task of umbel wrote: {found}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use umbel_job::record::{self, Key, Kind, read_bytes};

    fn file(records: &[Record]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for _ in 0..2 {
            bytes.push(CLASS.len() as u8);
            bytes.extend(CLASS.as_bytes());
        }
        bytes.extend([0; 6]);
        bytes.extend([9; SYNC]);
        for (i, (key, value)) in records.iter().enumerate() {
            if i % 2 == 1 {
                bytes.extend([255; 4]);
                bytes.extend([9; SYNC]);
            }
            let mut record = Vec::new();
            record::write(&mut record, key, value).unwrap();
            bytes.extend((record.len() as u32).to_be_bytes());
            bytes.extend([0, 0, 0, 9]);
            bytes.extend(record);
        }
        bytes
    }

    #[test]
    fn records_come_back_and_damage_does_not() {
        let record = |group: &str| (Key::new(Kind::Distinct, group), vec![1, 2, 3]);
        let written = [record("a"), record("b"), record("c")];
        let bytes = file(&written);
        assert_eq!(records(&bytes[..]).unwrap(), written);
        for end in (0..bytes.len()).filter(|end| bytes.len() - end < 25) {
            assert!(records(&bytes[..end]).map_or(true, |found| found.len() < 3), "{end}");
        }
        let mut wrong = bytes.clone();
        wrong[5] ^= 1;
        assert!(records(&wrong[..]).is_err());
        assert!(read_bytes(&mut &[255u8, 255, 255, 255, 1][..]).is_err());
    }
}
