//! Header, section table, checksums: written here, checked here.

use std::io::{self, Write};
use std::ops::Range;

use xxhash_rust::xxh3::Xxh3;

use super::{Cursor, Kind, put_text};
use crate::hash::xxh3;
use crate::memory::Line;
use crate::{Error, Metadata, Result};

/// How every file begins: no text does.
pub const MAGIC: [u8; 8] = *b"\x89UMBEL\r\n";
const VERSION: u16 = 1;
pub(super) const HEADER: usize = 64;
/// Where the checksum of header and table stands.
const HEADER_SUM: usize = 56;
const ENTRY: usize = 32;
const TAGS: [[u8; 4]; 4] = [*b"PARM", *b"META", *b"SUMS", *b"BODY"];
const TABLE_END: usize = HEADER + TAGS.len() * ENTRY;
/// Sections begin on a multiple of this: a cache line.
const ALIGN: usize = 64;
/// Bytes of BODY under one checksum.
pub(super) const CHUNK: usize = 1 << 20;

/// What is to be written: the parameters of a structure and its lines.
pub(crate) struct Content<'a> {
    pub(crate) kind: Kind,
    pub(crate) params: Vec<u8>,
    pub(crate) metadata: &'a Metadata,
    pub(crate) body: Vec<&'a [Line]>,
}

impl Content<'_> {
    /// Writes the file, front to back.
    pub(crate) fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        let meta = self.encode_metadata()?;
        let sums = self.sums();
        let body_len = self.body.iter().map(|lines| size_of_val(*lines)).sum();
        let head = head(self.kind, &[&self.params, &meta, &sums], body_len);
        out.write_all(&head)?;
        for section in [&self.params, &meta, &sums] {
            out.write_all(section)?;
            out.write_all(&[0; ALIGN][..padding(section.len())])?;
        }
        for lines in &self.body {
            out.write_all(bytemuck::cast_slice(lines))?;
        }
        Ok(())
    }

    fn encode_metadata(&self) -> io::Result<Vec<u8>> {
        let pairs = self.metadata.iter();
        let mut out = (pairs.len() as u32).to_le_bytes().to_vec();
        for (key, value) in pairs {
            put_text(&mut out, key)?;
            put_text(&mut out, value)?;
        }
        Ok(out)
    }

    /// The checksum of each chunk of the body, whose parts stand one behind the other.
    fn sums(&self) -> Vec<u8> {
        let mut sums = Vec::new();
        let mut chunk = Chunk::default();
        for lines in &self.body {
            chunk.push(bytemuck::cast_slice(lines), &mut sums);
        }
        chunk.finish(&mut sums);
        sums
    }
}

/// Sums up a stream of bytes in chunks; none of them is copied.
#[derive(Default)]
struct Chunk {
    hash: Xxh3,
    len: usize,
}

impl Chunk {
    fn push(&mut self, mut bytes: &[u8], sums: &mut Vec<u8>) {
        while !bytes.is_empty() {
            let (now, rest) = bytes.split_at(bytes.len().min(CHUNK - self.len));
            self.hash.update(now);
            self.len += now.len();
            if self.len == CHUNK {
                std::mem::take(self).finish(sums);
            }
            bytes = rest;
        }
    }

    fn finish(self, sums: &mut Vec<u8>) {
        if self.len > 0 {
            sums.extend(self.hash.digest().to_le_bytes());
        }
    }
}

fn padding(len: usize) -> usize {
    len.next_multiple_of(ALIGN) - len
}

/// Header and section table of a file with these sections and a body of this length.
fn head(kind: Kind, sections: &[&[u8]; 3], body_len: usize) -> Vec<u8> {
    let mut table = Vec::new();
    let mut end = TABLE_END;
    let mut entry = |tag: [u8; 4], len: usize, sum: u64| {
        let start = end.next_multiple_of(ALIGN);
        end = start + len;
        table.extend(tag);
        table.extend([0; 4]);
        table.extend((start as u64).to_le_bytes());
        table.extend((len as u64).to_le_bytes());
        table.extend(sum.to_le_bytes());
    };
    for (tag, section) in TAGS.into_iter().zip(sections) {
        entry(tag, section.len(), xxh3(section, 0));
    }
    entry(TAGS[3], body_len, 0);

    let mut head = MAGIC.to_vec();
    head.extend(VERSION.to_le_bytes());
    head.extend(kind.id().to_le_bytes());
    head.extend(0u32.to_le_bytes());
    head.extend((end as u64).to_le_bytes());
    head.extend((TAGS.len() as u32).to_le_bytes());
    head.resize(HEADER_SUM, 0);
    let sum = head_sum(&head, &table);
    head.extend(sum.to_le_bytes());
    head.extend(table);
    head
}

fn head_sum(head: &[u8], table: &[u8]) -> u64 {
    xxh3(&[head, table].concat(), 0)
}

/// Where everything lies in a file whose header, table and small sections have been checked.
#[derive(Debug)]
pub(super) struct Envelope {
    pub(super) kind: Kind,
    pub(super) metadata: Metadata,
    pub(super) params: Range<usize>,
    pub(super) sums: Range<usize>,
    sums_sum: u64,
    pub(super) body: Range<usize>,
}

/// The length that a file's header states, checked as far as a header alone can be.
pub(super) fn stated_len(header: &[u8; HEADER]) -> Result<u64> {
    if header[..8] != MAGIC {
        return Err(Error::Format("this is not an umbel file".into()));
    }
    let mut fields = Cursor::new(&header[8..]);
    let version = fields.u16()?;
    if version != VERSION {
        return Err(Error::Format(format!(
            "this file has format version {version}; this version of umbel reads {VERSION}"
        )));
    }
    fields.u16()?; // the kind, read when the header is known to be whole
    let flags = fields.u32()?;
    let len = fields.u64()?;
    let sections = fields.u32()?;
    if flags != 0 || sections as usize != TAGS.len() {
        return Err(Error::Format(format!(
            "the header is damaged or of a newer umbel (flags {flags:#x}, {sections} sections)"
        )));
    }
    Ok(len)
}

impl Envelope {
    /// Reads and checks everything but the body and its checksums.
    pub(super) fn read(file: &[u8]) -> Result<Envelope> {
        let header = file.first_chunk::<HEADER>().ok_or_else(|| {
            Error::Format("this is not an umbel file: it is shorter than a header".into())
        })?;
        let stated = stated_len(header)?;
        if stated != file.len() as u64 {
            return Err(Error::Format(format!(
                "the file is cut short or damaged: it should have {stated} bytes and has {}",
                file.len()
            )));
        }
        let table = file.get(HEADER..TABLE_END).ok_or_else(damaged_header)?;
        let mut end = Cursor::new(&header[HEADER_SUM..]);
        if end.u64()? != head_sum(&header[..HEADER_SUM], table)
            || header[28..HEADER_SUM].iter().any(|&byte| byte != 0)
        {
            return Err(damaged_header());
        }
        let kind = Kind::from_id(u16::from_le_bytes([header[10], header[11]]))?;

        let mut end = TABLE_END;
        let mut ranges = Vec::new();
        let mut table = Cursor::new(table);
        for tag in TAGS {
            let (range, sum) = read_entry(&mut table, tag, end, file)?;
            end = range.end;
            ranges.push((range, sum));
        }
        if end != file.len() {
            return Err(Error::Format("the sections do not fill the file".into()));
        }
        let [(params, params_sum), (meta, meta_sum), (sums, sums_sum), (body, body_sum)] =
            <[_; 4]>::try_from(ranges).map_err(|_| damaged_header())?;
        if xxh3(&file[params.clone()], 0) != params_sum {
            return Err(Error::Format("the parameters (section PARM) are damaged".into()));
        }
        if xxh3(&file[meta.clone()], 0) != meta_sum {
            return Err(Error::Format("the metadata (section META) is damaged".into()));
        }
        if body_sum != 0 || sums.len() != body.len().div_ceil(CHUNK) * 8 {
            return Err(Error::Format("the checksums do not fit the body".into()));
        }
        let metadata = read_metadata(&file[meta])?;
        Ok(Envelope { kind, metadata, params, sums, sums_sum, body })
    }

    /// The number of chunks of the body.
    pub(super) fn chunks(&self) -> usize {
        self.sums.len() / 8
    }

    /// Where a chunk lies in the file.
    pub(super) fn chunk(&self, index: usize) -> Range<usize> {
        let start = self.body.start + index * CHUNK;
        start..self.body.end.min(start + CHUNK)
    }

    /// Checks the checksums' own checksum.
    pub(super) fn verify_sums(&self, file: &[u8]) -> Result<()> {
        if xxh3(&file[self.sums.clone()], 0) == self.sums_sum {
            return Ok(());
        }
        Err(Error::Format("the checksums (section SUMS) are damaged".into()))
    }

    /// Checks the bytes of a chunk against its checksum.
    pub(super) fn verify_chunk(&self, file: &[u8], index: usize, bytes: &[u8]) -> Result<()> {
        let start = self.sums.start + index * 8;
        if Cursor::new(&file[start..start + 8]).u64()? == xxh3(bytes, 0) {
            return Ok(());
        }
        let Range { start, end } = self.chunk(index);
        Err(Error::Format(format!(
            "the bits are damaged, somewhere in bytes {start} to {}",
            end - 1
        )))
    }
}

/// One entry of the table: it must stand where the section before ends, with zeros between.
fn read_entry(
    table: &mut Cursor<'_>,
    tag: [u8; 4],
    end: usize,
    file: &[u8],
) -> Result<(Range<usize>, u64)> {
    let found = table.take(4)?;
    let zero = table.u32()?;
    let (offset, len, sum) = (table.u64()?, table.u64()?, table.u64()?);
    if found != tag || zero != 0 {
        return Err(Error::Format(format!(
            "section {:?} is unknown here to this version of umbel",
            String::from_utf8_lossy(found)
        )));
    }
    let start = end.next_multiple_of(ALIGN);
    let stop = usize::try_from(len).ok().and_then(|len| start.checked_add(len));
    let stop = stop.filter(|&stop| stop <= file.len()).ok_or_else(damaged_header)?;
    // An empty last section may start behind the end of the file's last byte, never beyond `stop`.
    let gap = file.get(end..start).ok_or_else(damaged_header)?;
    if offset != start as u64 || gap.iter().any(|&byte| byte != 0) {
        return Err(damaged_header());
    }
    Ok((start..stop, sum))
}

fn read_metadata(bytes: &[u8]) -> Result<Metadata> {
    let mut from = Cursor::new(bytes);
    let mut metadata = Metadata::default();
    let mut last = None;
    for _ in 0..from.u32()? {
        let (key, value) = (from.text()?, from.text()?);
        if last.is_some_and(|last| last >= key) {
            return Err(Error::Format("the metadata is not in order".into()));
        }
        last = Some(key);
        metadata.push(key, value);
    }
    from.end()?;
    Ok(metadata)
}

fn damaged_header() -> Error {
    Error::Format("the header is damaged".into())
}
