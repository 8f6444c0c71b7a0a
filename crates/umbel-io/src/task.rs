//! Cutting the inputs into numbered pieces of work: blocks of text, and row groups of Parquet files.

use std::sync::Arc;

use crate::batch::Batch;
use crate::block::{Block, Text};
use crate::handed::{Handed, HandedRows};
use crate::lane::Lane;
use crate::parser::Parser;
use crate::table::{RowGroup, Table};
use crate::{Driver, Look, Meter, Result, Shape, Source};

/// A piece of work of one input.
pub(crate) struct Task {
    /// Which of the inputs.
    source: usize,
    work: Work,
}

enum Work {
    Block(Block),
    RowGroup(Box<RowGroup>),
    Handed(Box<HandedRows>),
}

impl Task {
    /// Whether it is a block in the buffer of the lane.
    pub(crate) fn is_long(&self) -> bool {
        matches!(&self.work, Work::Block(block) if block.long)
    }

    /// Fills the batch with the next rows; true when these are the last. The bytes of a block stand in the batch already.
    pub(crate) fn fill(&mut self, parser: &mut Parser, batch: &mut Batch) -> Result<bool> {
        (batch.source, batch.long) = (self.source, self.is_long());
        match &mut self.work {
            Work::Block(block) => {
                parser.parse(block, batch);
                Ok(true)
            }
            Work::RowGroup(rows) => rows.fill(&mut parser.groups, batch),
            Work::Handed(rows) => Ok(rows.fill(&mut parser.groups, batch)),
        }
    }
}

/// Says what is wrong with the columns of an input, as whoever reads it would.
pub(crate) fn check(source: &Source, shape: &Shape) -> Result<()> {
    Open::new(source, shape, &Arc::default(), &Arc::new(Lane::new(1)))?.check(source, shape)
}

/// Takes the inputs one after the other.
pub(crate) struct Tasks<'a> {
    sources: &'a [Source],
    shape: &'a Shape,
    meter: &'a Arc<Meter>,
    lane: &'a Arc<Lane>,
    /// The next input.
    at: usize,
    open: Option<Open>,
    number: u64,
    /// How the inputs look that have been read.
    look: Option<Look>,
}

enum Open {
    Text(Text),
    Table(Box<Table>),
    Handed(Handed),
}

impl<'a> Tasks<'a> {
    pub(crate) fn new(driver: &'a Driver, lane: &'a Arc<Lane>) -> Self {
        let Driver { sources, shape, meter, .. } = driver;
        Tasks { sources, shape, meter, lane, at: 0, open: None, number: 0, look: None }
    }

    /// The next task with its number; none at the end of the last input, or behind an error. The bytes of a block are
    /// read into `bytes`.
    pub(crate) fn next(&mut self, bytes: &mut Vec<u8>) -> Option<(u64, Result<Task>)> {
        let task = self.find(bytes).transpose()?;
        if task.is_err() {
            (self.at, self.open) = (self.sources.len(), None);
        }
        self.number += 1;
        Some((self.number - 1, task))
    }

    fn find(&mut self, bytes: &mut Vec<u8>) -> Result<Option<Task>> {
        loop {
            let open = match &mut self.open {
                Some(open) => open,
                none => {
                    let Some(source) = self.sources.get(self.at) else { return Ok(None) };
                    self.at += 1;
                    none.insert(Open::new(source, self.shape, self.meter, self.lane)?)
                }
            };
            if let Some(work) = open.next(&self.sources[self.at - 1], self.shape, bytes)? {
                return Ok(Some(Task { source: self.at - 1, work }));
            }
            if let Some(look) = open.look().cloned() {
                self.look = Some(match self.look.take() {
                    Some(before) => before.agree(look),
                    None => look,
                });
            }
            self.open = None;
        }
    }

    /// How the inputs look.
    pub(crate) fn into_look(self) -> Look {
        self.look.unwrap_or_default()
    }
}

impl Open {
    fn new(source: &Source, shape: &Shape, meter: &Arc<Meter>, lane: &Arc<Lane>) -> Result<Open> {
        if let Some(frames) = source.frames() {
            return Ok(Open::Handed(Handed::new(frames)));
        }
        Ok(match Table::open(source, shape, meter)? {
            Some(table) => Open::Table(Box::new(table)),
            None => Open::Text(Text::open(source, shape, meter, lane)?),
        })
    }

    /// How it looks, as far as it has been read.
    fn look(&self) -> Option<&Look> {
        match self {
            Open::Text(text) => text.look(),
            Open::Table(table) => Some(table.look()),
            Open::Handed(handed) => Some(handed.look()),
        }
    }

    /// Finds the columns; of a text the first block is read for that.
    fn check(mut self, source: &Source, shape: &Shape) -> Result<()> {
        match &mut self {
            Open::Text(text) => text.next(source, shape, &mut Vec::new()).map(|_| ()),
            // Those of a table are known already.
            Open::Table(_) | Open::Handed(_) => Ok(()),
        }
    }

    fn next(
        &mut self,
        source: &Source,
        shape: &Shape,
        bytes: &mut Vec<u8>,
    ) -> Result<Option<Work>> {
        Ok(match self {
            Open::Text(text) => text.next(source, shape, bytes)?.map(Work::Block),
            Open::Table(table) => table.next()?.map(|rows| Work::RowGroup(Box::new(rows))),
            Open::Handed(handed) => handed.next(shape)?.map(|rows| Work::Handed(Box::new(rows))),
        })
    }
}
