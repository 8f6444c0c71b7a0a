//! Cutting inputs into numbered blocks of whole records.

use std::io::Read;
use std::sync::Arc;

use crate::shape::Fields;
use crate::{Error, Meter, Result, Shape, Source};

/// Bytes in a block: small enough to stay in the cache from reading to hashing.
const BLOCK: usize = 256 << 10;
/// The longest record.
pub(crate) const MAX_RECORD: usize = 16 << 20;

/// Whole records of one input.
pub(crate) struct Block {
    /// Counted over all inputs, from 0.
    pub(crate) number: u64,
    /// Which of the inputs.
    pub(crate) source: usize,
    /// Where the records begin: behind the header, in the first block of an input that has one.
    pub(crate) start: usize,
    pub(crate) fields: Arc<Fields>,
}

/// Reads the inputs one after the other.
pub(crate) struct BlockReader<'a> {
    sources: &'a [Source],
    shape: &'a Shape,
    meter: &'a Arc<Meter>,
    /// The input that is being read, counted from 1; 0 before the first.
    at: usize,
    open: Option<Open>,
    number: u64,
}

struct Open {
    reader: Box<dyn Read + Send>,
    /// The beginning of a record whose end has not been read yet.
    carry: Vec<u8>,
    fields: Option<Arc<Fields>>,
    quoted: bool,
}

impl<'a> BlockReader<'a> {
    pub(crate) fn new(sources: &'a [Source], shape: &'a Shape, meter: &'a Arc<Meter>) -> Self {
        BlockReader { sources, shape, meter, at: 0, open: None, number: 0 }
    }

    /// Reads the next block into `bytes`; none at the end of the last input. Every record in it ends with a newline.
    pub(crate) fn next(&mut self, bytes: &mut Vec<u8>) -> Result<Option<Block>> {
        loop {
            if self.open.is_none() {
                let Some(source) = self.sources.get(self.at) else { return Ok(None) };
                self.at += 1;
                self.open = Some(Open {
                    reader: source.open(self.meter)?,
                    carry: Vec::new(),
                    fields: None,
                    quoted: self.shape.is_quoted(source),
                });
            }
            if let Some(block) = self.continue_open(bytes)? {
                return Ok(Some(block));
            }
            self.open = None;
        }
    }

    /// The next block of the open input; none at its end.
    fn continue_open(&mut self, bytes: &mut Vec<u8>) -> Result<Option<Block>> {
        let source = &self.sources[self.at - 1];
        let Some(open) = &mut self.open else { return Ok(None) };
        open.fill(bytes, source)?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let mut start = 0;
        let fields = match &open.fields {
            Some(fields) => Arc::clone(fields),
            None => {
                if self.shape.has_header() {
                    start = memchr::memchr(b'\n', bytes).map_or(bytes.len(), |at| at + 1);
                }
                let header = bytes[..start].strip_suffix(b"\n");
                let header = header.map(|header| header.strip_suffix(b"\r").unwrap_or(header));
                let fields = Arc::new(self.shape.fields(source, header)?);
                open.fields = Some(Arc::clone(&fields));
                fields
            }
        };
        let number = self.number;
        self.number += 1;
        Ok(Some(Block { number, source: self.at - 1, start, fields }))
    }
}

impl Open {
    /// Fills `bytes` with whole records, at least one unless the input has ended.
    fn fill(&mut self, bytes: &mut Vec<u8>, source: &Source) -> Result<()> {
        bytes.clear();
        bytes.append(&mut self.carry);
        let mut wanted = BLOCK;
        loop {
            let missing = wanted.saturating_sub(bytes.len()) as u64;
            let read = self.reader.by_ref().take(missing).read_to_end(bytes);
            let read = read.map_err(Error::io(source.name()))?;
            if (read as u64) < missing {
                // The end. A last line without a newline is a line all the same.
                if bytes.last().is_some_and(|&last| last != b'\n') {
                    bytes.push(b'\n');
                }
                return Ok(());
            }
            if let Some(end) = self.last_end(bytes) {
                self.carry.extend_from_slice(&bytes[end..]);
                bytes.truncate(end);
                return Ok(());
            }
            if bytes.len() >= MAX_RECORD {
                return Err(Error::LongLine { name: source.name(), limit: MAX_RECORD });
            }
            wanted = bytes.len() * 2;
        }
    }

    /// Behind the last newline that ends a record.
    fn last_end(&self, bytes: &[u8]) -> Option<usize> {
        if !self.quoted {
            return memchr::memrchr(b'\n', bytes).map(|at| at + 1);
        }
        let mut end = None;
        quoted_ends(bytes, |at| end = Some(at + 1));
        end
    }
}

/// Calls `found` with every newline that is not inside quotes.
pub(crate) fn quoted_ends(bytes: &[u8], mut found: impl FnMut(usize)) {
    let mut inside = false;
    for at in memchr::memchr2_iter(b'"', b'\n', bytes) {
        if bytes[at] == b'"' {
            inside = !inside;
        } else if !inside {
            found(at);
        }
    }
}
