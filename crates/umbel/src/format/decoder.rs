//! From the sections of a checked envelope to structures.

use std::ops::Range;

use super::{Cursor, read_record};
use crate::bloom::{Bloom, Params};
use crate::groups::Groups;
use crate::memory::{Line, Memory};
use crate::near::{Near, Record};
use crate::{Error, Metadata, Result};

/// Reads filter records and hands each the next part of the body.
pub(super) struct Decoder<'a, F> {
    params: Cursor<'a>,
    body: Range<usize>,
    memory: F,
}

impl<'a, F: Fn(Range<usize>) -> Result<Memory>> Decoder<'a, F> {
    /// `memory` gives the lines in a range of the file.
    pub(super) fn new(params: &'a [u8], body: Range<usize>, memory: F) -> Self {
        Decoder { params: Cursor::new(params), body, memory }
    }

    pub(super) fn bloom(mut self, metadata: &Metadata) -> Result<Bloom> {
        let filter = self.filter(metadata.clone())?;
        self.end()?;
        Ok(filter)
    }

    pub(super) fn groups(mut self, metadata: &Metadata) -> Result<Groups> {
        let mut groups = Groups::default();
        *groups.metadata_mut() = metadata.clone();
        for _ in 0..self.params.u32()? {
            let name = self.params.text()?;
            let filter = self.filter(Metadata::default())?;
            groups.push_last(name, filter)?;
        }
        self.end()?;
        Ok(groups)
    }

    fn filter(&mut self, metadata: Metadata) -> Result<Bloom> {
        let (params, inserted) = read_record(&mut self.params)?;
        let bits = self.body(params.sizing().bytes())?;
        check_tail(&params, &bits)?;
        Ok(Bloom::from_parts(params, bits, inserted, metadata))
    }

    pub(super) fn near(mut self, metadata: &Metadata) -> Result<Near> {
        let record = Record::read(&mut self.params)?;
        let near = record.into_near(metadata.clone(), |len| self.body(len))?;
        self.end()?;
        Ok(near)
    }

    /// The next `len` bytes of the body.
    fn body(&mut self, len: u64) -> Result<Memory> {
        let start = self.body.start;
        let stop = usize::try_from(len).ok();
        let stop =
            stop.and_then(|len| start.checked_add(len)).filter(|&stop| stop <= self.body.end);
        let stop = stop.ok_or_else(|| {
            Error::Format("the file has fewer bits than its parameters say".into())
        })?;
        self.body.start = stop;
        (self.memory)(start..stop)
    }

    fn end(self) -> Result<()> {
        self.params.end()?;
        if self.body.is_empty() {
            return Ok(());
        }
        Err(Error::Format("the file has more bits than its parameters say".into()))
    }
}

/// The bits behind the last must be zero, or what is counted from the bits would be wrong.
fn check_tail(params: &Params, lines: &[Line]) -> Result<()> {
    let used = params.sizing().bits() % 512;
    let is_set = |line: &Line, bit: u64| line.0[(bit / 64) as usize] >> (bit % 64) & 1 == 1;
    let dirty = |line: &Line| used != 0 && (used..512).any(|bit| is_set(line, bit));
    if lines.last().is_some_and(dirty) {
        return Err(Error::Format("there are bits set behind the filter's last".into()));
    }
    Ok(())
}
