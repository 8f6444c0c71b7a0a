//! What can go wrong on the way to a cluster and back.

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, where, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// HDFS or the operating system refused.
    #[error("{name}: {source}")]
    Io {
        /// The file concerned.
        name: String,
        /// What was said.
        source: std::io::Error,
    },

    /// The input or a structure refused.
    #[error(transparent)]
    Input(#[from] umbel_io::Error),

    /// A structure refused.
    #[error(transparent)]
    Umbel(#[from] umbel::Error),

    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl Error {
    /// Names the file that an error came from.
    pub fn io(name: impl ToString) -> impl FnOnce(std::io::Error) -> Error {
        let name = name.to_string();
        move |source| Error::Io { name, source }
    }

    /// An error in these words.
    pub fn other(text: impl Into<String>) -> Error {
        Error::Other(text.into())
    }

    /// Whether the same might succeed elsewhere or later: what a store or the system refused. What the data itself is
    /// to blame for would fail again.
    pub fn may_pass(&self) -> bool {
        matches!(self, Error::Io { .. } | Error::Input(umbel_io::Error::Io { .. }))
    }
}
