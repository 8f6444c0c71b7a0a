//! The file: one envelope for every structure, byte by byte as in FORMAT.md.
//!
//! [`File`] is an opened file: its header has been checked, its body is checked when you ask, chunk by chunk.
//!
//! ```
//! # let dir = tempfile::tempdir().unwrap();
//! # let path = dir.path().join("seen.umbel");
//! use umbel::Bloom;
//! use umbel::format::File;
//!
//! Bloom::new(1000, 0.01)?.save(&path)?;
//! let seen = Bloom::open(&path)?; // mapped and verified
//!
//! let file = File::open(&path)?; // the same by hand, for instance to verify in parallel
//! for chunk in 0..file.chunks() {
//!     file.verify_chunk(chunk)?;
//! }
//! assert_eq!(file.into_bloom()?, seen);
//! # Ok::<(), umbel::Error>(())
//! ```

mod cursor;
mod decoder;
mod envelope;
mod file;
mod record;
mod save;

pub use file::File;
pub use save::NewFile;

pub(crate) use cursor::{Cursor, put_text};
pub(crate) use envelope::Content;
use record::read_record;
pub(crate) use record::write_record;

use std::fmt;

use crate::{Error, Result};

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// One Bloom filter.
    Bloom,
    /// Bloom filters by group.
    Groups,
    /// Numbers, to be asked for what is near.
    Near,
}

impl Kind {
    const ALL: [Kind; 3] = [Kind::Bloom, Kind::Groups, Kind::Near];

    fn id(self) -> u16 {
        match self {
            Kind::Bloom => 1,
            Kind::Groups => 2,
            Kind::Near => 16,
        }
    }

    fn from_id(id: u16) -> Result<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.id() == id).ok_or_else(|| {
            Error::Format(format!(
                "this file holds a structure of kind {id}, which this version of umbel does not know"
            ))
        })
    }

    /// Refuses a file of another kind.
    pub(crate) fn expect(self, wanted: Kind) -> Result<()> {
        if self == wanted { Ok(()) } else { Err(Error::Kind { wanted, found: self }) }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Bloom => "a Bloom filter",
            Kind::Groups => "Bloom filters by group",
            Kind::Near => "a near structure",
        })
    }
}
