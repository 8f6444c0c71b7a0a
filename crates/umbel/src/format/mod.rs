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

mod count;
mod counts;
mod cursor;
mod decoder;
mod envelope;
mod file;
mod heavy;
mod kind;
mod range;
mod record;
mod save;

pub use envelope::MAGIC;
pub use file::File;
pub use kind::Kind;
pub use save::NewFile;
pub(crate) use save::{save, to_bytes};

pub(crate) use count::write_count_record;
pub(crate) use counts::write_counts_record;
pub(crate) use cursor::{Cursor, put_text};
pub(crate) use envelope::Content;
pub(crate) use heavy::write_heavy_record;
pub(crate) use range::write_range_record;
use record::read_record;
pub(crate) use record::write_record;
