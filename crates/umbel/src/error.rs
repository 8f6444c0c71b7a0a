//! What can go wrong, said so that the reader knows what to change.

use std::path::PathBuf;

use crate::bloom::KeyType;
use crate::format::Kind;

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong. Each message names the offending value and says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The parameters ask for a structure that cannot be.
    #[error("{0}")]
    Sizing(String),

    /// The strategy does not fit the layout, the size or the seeds.
    #[error("{0}")]
    Strategy(String),

    /// Two structures were to be combined that are not alike.
    #[error(
        "cannot combine: {field} differs, {ours} here and {theirs} there; build both with the same parameters"
    )]
    Unlike {
        /// The parameter that differs.
        field: &'static str,
        /// Its value on the left side.
        ours: String,
        /// Its value on the right side.
        theirs: String,
    },

    /// A precomputed hash was given to a filter whose strategy needs the key itself.
    #[error(
        "a {strategy} filter needs the keys themselves; precomputed hashes work with xxh3 only"
    )]
    NeedsKeys {
        /// The filter's strategy.
        strategy: &'static str,
    },

    /// The answer slice does not fit the batch.
    #[error("a batch of {keys} keys needs {needed} places for its answers, not {given}")]
    Answers {
        /// Keys in the batch.
        keys: usize,
        /// Places needed.
        needed: usize,
        /// Places given.
        given: usize,
    },

    /// A batch has another number of weights than of keys.
    #[error("a batch of {keys} keys needs as many weights, not {given}")]
    Weights {
        /// Keys in the batch.
        keys: usize,
        /// Weights given.
        given: usize,
    },

    /// The filter or sketch was made for keys of another type.
    #[error("it holds {holds} and cannot be asked for {asked}: the answers would be wrong")]
    KeyType {
        /// What it holds.
        holds: KeyType,
        /// What it was asked for.
        asked: KeyType,
    },

    /// A key, a range or a share lies outside what can be asked for.
    #[error("{0}")]
    Range(String),

    /// A value that has no place among the others, or a distance that cannot be asked for.
    #[error("{0}")]
    Value(String),

    /// The structure cannot do what was asked of it; another one can.
    #[error("{0}")]
    Unsupported(String),

    /// There is no group of this name.
    #[error("there is no group {0:?} in this file")]
    NoGroup(String),

    /// An error together with the group it came from.
    #[error("group {group}: {source}")]
    Group {
        /// The group concerned.
        group: String,
        /// What was wrong with it.
        source: Box<Error>,
    },

    /// The file is of another kind.
    #[error("this file holds {found}, not {wanted}")]
    Kind {
        /// What was asked for.
        wanted: Kind,
        /// What the file holds.
        found: Kind,
    },

    /// What was asked for needs counts that do not depend on the order of the keys.
    #[error(
        "this is a conservative count-min sketch: its counters depend on the order of the keys, so it cannot be \
         merged, subtracted or multiplied; build plain sketches for that"
    )]
    OrderMatters,

    /// The bytes are not a whole, undamaged umbel file.
    #[error("{0}")]
    Format(String),

    /// The operating system refused.
    #[error("{path}: {source}")]
    Io {
        /// The file concerned.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },

    /// An error together with the file it came from.
    #[error("{path}: {source}")]
    File {
        /// The file concerned.
        path: PathBuf,
        /// What was wrong with it.
        source: Box<Error>,
    },
}

impl Error {
    /// Names the file that `self` came from.
    pub(crate) fn at(self, path: &std::path::Path) -> Error {
        match self {
            named @ (Error::Io { .. } | Error::File { .. }) => named,
            other => Error::File { path: path.into(), source: Box::new(other) },
        }
    }
}
