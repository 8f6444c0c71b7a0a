//! What can go wrong on the way from bytes to keys.

use crate::parser::EMPTY_KEY;
use crate::tally::Place;
use crate::unread::Unread;

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, where, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("{name}: {source}")]
    Io {
        /// The input or output concerned.
        name: String,
        /// What the system said.
        source: std::io::Error,
    },

    /// A record is longer than the limit.
    #[error(
        "{place}: the line is longer than {limit} bytes; is this a text file{}?",
        if *quoted { ", and is every quote closed" } else { "" }
    )]
    LongLine {
        /// Where it stands.
        place: Place,
        /// The limit.
        limit: usize,
        /// Whether quotes might have kept it open.
        quoted: bool,
    },

    /// The quotes of the header do not hold.
    #[error("{place}: in the header {reason}: mend it, or no column can be found")]
    Header {
        /// Where it stands.
        place: Place,
        /// What is wrong.
        reason: &'static str,
    },

    /// An input is one of our own files.
    #[error("{name}: this is an umbel file, not a text with keys; umbel info tells what it holds")]
    Ours {
        /// The input concerned.
        name: String,
    },

    /// An input is of a kind that is not read.
    #[error("{name}: {found}")]
    Unread {
        /// The input concerned.
        name: String,
        /// What it is.
        found: Unread,
    },

    /// There is no such column.
    #[error("{name}: there is no column {column:?} in its header; it has: {found}")]
    NoColumn {
        /// The input concerned.
        name: String,
        /// The column asked for.
        column: String,
        /// The columns there are.
        found: String,
    },

    /// A row could not be used, and that was asked to be an error.
    #[error("{place}: {reason} (--strict makes this an error)")]
    Strict {
        /// Where it stands.
        place: Place,
        /// What was wrong.
        reason: &'static str,
    },

    /// Most rows could not be used: the shape is wrong, not the data.
    #[error(
        "most rows cannot be used: {malformed} of {rows}, the first is {place}: {reason}; {advice}"
    )]
    MostlyMalformed {
        /// Rows that could not be used.
        malformed: u64,
        /// All rows.
        rows: u64,
        /// Where the first stands.
        place: Place,
        /// What was wrong with it.
        reason: &'static str,
        /// What to look at.
        advice: &'static str,
    },

    /// A Parquet file is damaged, or holds what cannot be read.
    #[error("{name}: cannot be read as Parquet: {reason}")]
    Parquet {
        /// The input concerned.
        name: String,
        /// What is wrong.
        reason: String,
    },

    /// There is a group that was not there when groups were counted, or that filters to be like have not.
    #[error("the input has changed while it was read: a group is new")]
    NewGroup,

    /// A structure refused.
    #[error(transparent)]
    Umbel(#[from] umbel::Error),

    /// What the closure of the driver reported.
    #[error("{0}")]
    Other(String),
}

impl Error {
    /// Names the input or output that an I/O error came from.
    pub fn io(name: impl Into<String>) -> impl FnOnce(std::io::Error) -> Error {
        let name = name.into();
        move |source| Error::Io { name, source }
    }

    /// The same with other advice, where most rows could not be used: rows are not always read by key and group. To empty keys no
    /// option matters.
    pub fn advising(self, advice: &'static str) -> Error {
        match self {
            Error::MostlyMalformed { reason: EMPTY_KEY, .. } => self,
            Error::MostlyMalformed { malformed, rows, place, reason, .. } => {
                Error::MostlyMalformed { malformed, rows, place, reason, advice }
            }
            other => other,
        }
    }
}
