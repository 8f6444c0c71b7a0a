//! What can go wrong, said so that the reader knows what to change.

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, where, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("{name}: {source}")]
    Io {
        /// The file, folder or address concerned.
        name: String,
        /// What the system said.
        source: std::io::Error,
    },

    /// A sketch refused, or its file is damaged.
    #[error(transparent)]
    Umbel(#[from] umbel::Error),

    /// What was asked for cannot be done.
    #[error("{0}")]
    Refused(String),
}

impl Error {
    /// Names what an I/O error came from.
    pub(crate) fn io(name: impl std::fmt::Display) -> impl FnOnce(std::io::Error) -> Error {
        let name = name.to_string();
        move |source| Error::Io { name, source }
    }

    /// Names the source that could not be read, where that is what went wrong.
    pub(crate) fn of_source(self, source: impl std::fmt::Display) -> Error {
        match self {
            Error::Io { name, source: why } if name == SOURCE => Error::io(source)(why),
            other => other,
        }
    }
}

/// Stands for the name of a source until it is known.
pub(crate) const SOURCE: &str = "a source";
