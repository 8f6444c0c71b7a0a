//! Rows that another program hands over by column, some at a time.

use crate::batch::Batch;
use crate::block::BLOCK;
use crate::groups::Interner;
use crate::value::{Rules, Values};
use crate::{Look, Result, Shape};

/// Some rows.
pub trait Frame: Send {
    /// How many.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One of them.
    fn row(&self, at: usize) -> Values<'_>;
}

/// Rows, some at a time.
pub trait Frames: Send {
    /// The next rows; none at the end.
    fn next(&mut self) -> Result<Option<Box<dyn Frame>>>;

    /// What the columns are called.
    fn look(&self) -> Look;
}

/// Frames that are being taken.
pub(crate) struct Handed {
    frames: Box<dyn Frames>,
    look: Look,
}

impl Handed {
    pub(crate) fn new(frames: Box<dyn Frames>) -> Handed {
        Handed { look: frames.look(), frames }
    }

    pub(crate) fn look(&self) -> &Look {
        &self.look
    }

    pub(crate) fn next(&mut self, shape: &Shape) -> Result<Option<HandedRows>> {
        let frame = self.frames.next()?;
        Ok(frame.map(|frame| HandedRows { frame, at: 0, rules: Rules::of(shape) }))
    }
}

/// The rows that are left of a frame.
pub(crate) struct HandedRows {
    frame: Box<dyn Frame>,
    at: usize,
    rules: Rules,
}

impl HandedRows {
    /// Fills the batch with the next rows; true when these are the last.
    pub(crate) fn fill(&mut self, groups: &mut Interner, batch: &mut Batch) -> bool {
        batch.clear("row");
        batch.bytes.clear();
        let len = self.frame.len();
        while self.at < len && batch.bytes.len() < BLOCK {
            let record = self.rules.record(self.frame.row(self.at), groups, &mut batch.bytes);
            batch.push(record);
            self.at += 1;
        }
        batch.learn(groups.names());
        self.at == len
    }
}
