//! From the sections of a checked envelope to structures.

use std::ops::Range;

use super::count::{CountRecord, read_count_record};
use super::counts::read_kind;
use super::heavy::read_heavy_record;
use super::range::{RangeRecord, read_range_record};
use super::{Cursor, Kind, read_record};
use crate::bloom::Bloom;
use crate::countmin::{Conservative, CountMin, Grid, Table, Width};
use crate::counts::{CountGroups, Counts};
use crate::groups::Groups;
use crate::heavy::Heavy;
use crate::memory::{LINE_BYTES, Line, Memory};
use crate::near::{self, Near};
use crate::ranges::{Level, Ranges};
use crate::similar::{self, Similar};
use crate::{Error, Result};

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

    pub(super) fn bloom(&mut self) -> Result<Bloom> {
        let (params, inserted) = read_record(&mut self.params)?;
        let bits = self.body(params.sizing().bytes())?;
        check_tail(params.sizing().bits(), &bits)?;
        Ok(Bloom::from_parts(params, bits, inserted))
    }

    pub(super) fn groups(&mut self) -> Result<Groups> {
        let mut groups = Groups::default();
        for _ in 0..self.params.u32()? {
            let name = self.params.text()?;
            let filter = self.bloom()?;
            groups.push_last(name, filter)?;
        }
        Ok(groups)
    }

    pub(super) fn count_min(&mut self) -> Result<CountMin> {
        let record = read_count_record(&mut self.params)?;
        let grid = self.grid(&record)?;
        Ok(CountMin::from_parts(record.params, grid, record.counts))
    }

    pub(super) fn conservative(&mut self) -> Result<Conservative> {
        let record = read_count_record(&mut self.params)?;
        let grid = self.grid(&record)?;
        Ok(Conservative::from_parts(record.params, grid, record.counts))
    }

    pub(super) fn ranges(&mut self) -> Result<Ranges> {
        let RangeRecord { params, widths, counts } = read_range_record(&mut self.params)?;
        let mut levels = Vec::new();
        for (level, width) in (0..).zip(widths) {
            let table = self.table(width, params.counters(level))?;
            levels.push(Level::from_table(&params, level, table));
        }
        Ok(Ranges::from_parts(params, levels, counts))
    }

    pub(super) fn heavy(&mut self) -> Result<Heavy> {
        read_heavy_record(&mut self.params)
    }

    /// Counts of one stream, of a kind that holds such.
    pub(super) fn counts(&mut self, kind: Kind) -> Result<Counts> {
        Ok(match kind {
            Kind::CountMin => self.count_min()?.into(),
            Kind::Conservative => self.conservative()?.into(),
            Kind::Ranges => self.ranges()?.into(),
            Kind::Heavy => self.heavy()?.into(),
            _ => self.counts_with_heavy()?,
        })
    }

    fn counts_with_heavy(&mut self) -> Result<Counts> {
        let kind = read_kind(&mut self.params)?;
        if matches!(kind, Kind::Heavy | Kind::Counts) {
            return Err(Error::Format(format!("the file has {kind} where a sketch should be")));
        }
        let sketch = self.counts(kind)?;
        sketch.with_heavy(self.heavy()?)
    }

    pub(super) fn count_groups(&mut self) -> Result<CountGroups> {
        let mut groups = CountGroups::default();
        for _ in 0..self.params.u32()? {
            let name = self.params.text()?;
            let kind = read_kind(&mut self.params)?;
            let counts = self.counts(kind)?;
            groups.push_last(name, counts)?;
        }
        Ok(groups)
    }

    fn grid(&mut self, CountRecord { params, width, .. }: &CountRecord) -> Result<Grid> {
        let table = self.table(*width, params.counters())?;
        Ok(Grid::from_table(table, params.width(), params.depth()))
    }

    /// The next table of counters.
    fn table(&mut self, width: Width, counters: u64) -> Result<Table> {
        let counters = counters as usize;
        let lines = self.body((width.lines(counters) * LINE_BYTES) as u64)?;
        Table::from_lines(lines, width, counters)
    }

    pub(super) fn near(&mut self) -> Result<Near> {
        let record = near::Record::read(&mut self.params)?;
        record.into_near(|len| self.body(len))
    }

    pub(super) fn similar(&mut self) -> Result<Similar> {
        let record = similar::Record::read(&mut self.params)?;
        let used = record.bits();
        record.into_similar(|len| {
            let lines = self.body(len)?;
            check_tail(used, &lines)?;
            Ok(lines)
        })
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

    pub(super) fn end(self) -> Result<()> {
        self.params.end()?;
        if self.body.is_empty() {
            return Ok(());
        }
        Err(Error::Format("the file has more bits than its parameters say".into()))
    }
}

/// The bits behind the last must be zero, or what is counted from the bits would be wrong.
fn check_tail(bits: u64, lines: &[Line]) -> Result<()> {
    let (words, bit) = ((bits % 512 / 64) as usize, bits % 64);
    let dirty = |line: &Line| {
        let (first, rest) = (line.0[words] >> bit, &line.0[words + 1..]);
        first != 0 || rest.iter().any(|&word| word != 0)
    };
    // Where the bits fill whole lines there is none behind them.
    if !bits.is_multiple_of(512) && lines.last().is_some_and(dirty) {
        return Err(Error::Format("there are bits set behind the filter's last".into()));
    }
    Ok(())
}
