//! Similar filters in files.

use std::io::{self, Write};
use std::path::Path;

use super::Similar;
use crate::Result;
use crate::format::{self, Content, File, Kind};

impl Similar {
    /// Writes it to a file: complete or not at all. A file that stands there is replaced when the new one is whole.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        format::save(path, |out| self.write_to(out))
    }

    /// Writes what [`save`](Similar::save) would write.
    pub fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        let mut params = Vec::new();
        self.write_record(&mut params);
        Content { kind: Kind::Similar, params, metadata: &self.metadata, body: vec![&self.bits] }
            .write_to(out)
    }

    /// The bytes that [`save`](Similar::save) would write.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        format::to_bytes(|out| self.write_to(out))
    }

    /// Opens a filter by mapping its file, and verifies every byte of it. Inserting into it copies it into memory; the file is never changed.
    pub fn open(path: impl AsRef<Path>) -> Result<Similar> {
        File::open_verified(path.as_ref())?.into_similar()
    }

    /// Opens a filter by mapping its file, in well under a millisecond whatever its size: the bits are not verified, so damage would give wrong
    /// answers.
    pub fn open_unverified(path: impl AsRef<Path>) -> Result<Similar> {
        File::open(path)?.into_similar()
    }

    /// Opens a filter, verifies it and reads it into memory. It starts later than a mapped one, but when it is large it answers faster: memory gets
    /// huge pages, a mapped file does not.
    pub fn load(path: impl AsRef<Path>) -> Result<Similar> {
        Ok(Similar::open(path)?.into_memory())
    }

    /// The same in memory of its own, if it was mapped.
    pub fn into_memory(self) -> Similar {
        Similar { bits: self.bits.into_memory(), ..self }
    }

    /// The filter in the bytes of a file, verified.
    pub fn from_bytes(bytes: &[u8]) -> Result<Similar> {
        File::from_bytes_verified(bytes)?.into_similar()
    }
}
