//! What is counted on the way through the inputs.

use std::fmt;

use crate::batch::Malformed;
use crate::parser::{
    BEHIND_QUOTE, EMPTY_KEY, NO_COLUMN, NO_INTEGER, NO_WEIGHT, OPEN_QUOTE, OUTSIDE,
};
use crate::{Error, Look, Result};

/// Rows of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Lines of texts and rows of tables; a text's header is one too.
    pub lines: u64,
    /// Rows with a key.
    pub rows: u64,
    /// Rows that could not be used.
    pub malformed: u64,
    /// The first of them, and what was wrong.
    pub first_malformed: Option<(Place, &'static str)>,
    /// How the inputs look.
    pub look: Look,
}

/// Where a row stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The input.
    pub name: String,
    /// What the number counts: lines of a text, rows of a table.
    pub unit: &'static str,
    /// The number, from 1.
    pub number: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} {}", self.name, self.unit, self.number)
    }
}

impl Tally {
    /// Counts the rows of a batch; `place` says where a line of it stands.
    pub(crate) fn add(
        &mut self,
        rows: u64,
        malformed: Malformed,
        strict: bool,
        place: impl FnOnce(u64) -> Place,
    ) -> Result<()> {
        self.rows += rows;
        self.malformed += malformed.count;
        match malformed.first {
            Some((line, reason)) if strict => Err(Error::Strict { place: place(line), reason }),
            Some((line, reason)) => {
                self.first_malformed.get_or_insert_with(|| (place(line), reason));
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// The tally, unless most rows could not be used: then the shape is wrong, not the data.
    pub fn check(self) -> Result<Tally> {
        let Tally { rows, malformed, first_malformed, .. } = &self;
        match first_malformed {
            Some((place, reason)) if malformed > rows => Err(Error::MostlyMalformed {
                malformed: *malformed,
                rows: rows + malformed,
                place: place.clone(),
                reason,
                advice: advice(reason),
            }),
            _ => Ok(self),
        }
    }
}

/// What to look at, where this is wrong with most rows.
fn advice(reason: &str) -> &'static str {
    match reason {
        EMPTY_KEY => "is this the right input?",
        NO_COLUMN => "check --key, --by and -d; a number is a place, counted from 1",
        NO_INTEGER => "check --type and --key",
        OUTSIDE => "check --integers and --key",
        NO_WEIGHT => "check --weight and -d",
        OPEN_QUOTE | BEHIND_QUOTE => "check the quotes and -d",
        _ if reason.starts_with("the group ") => "check --by, --round and -d",
        _ => "check --key, --by and -d",
    }
}
