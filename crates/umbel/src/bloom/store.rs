//! Filters in files.

use std::io::{self, Write};
use std::path::Path;

use super::Bloom;
use crate::format::{Content, File, Kind, NewFile, write_record};
use crate::{Error, Result};

impl Bloom {
    /// Writes the filter to a file: complete or not at all. A file that stands there is replaced when the new one
    /// is whole.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let mut file = NewFile::create(path)?;
        self.write_to(&mut file).map_err(|error| file.named(error))?;
        file.commit()
    }

    /// Writes what [`save`](Bloom::save) would write.
    pub fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        let mut params = Vec::new();
        write_record(self, &mut params);
        Content { kind: Kind::Bloom, params, metadata: &self.metadata, body: vec![&self.bits] }
            .write_to(out)
    }

    /// The bytes that [`save`](Bloom::save) would write.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.write_to(&mut bytes).map_err(|source| Error::Io { path: "memory".into(), source })?;
        Ok(bytes)
    }

    /// Opens a filter by mapping its file, and verifies every byte of it. Inserting into it copies it into memory;
    /// the file is never changed.
    pub fn open(path: impl AsRef<Path>) -> Result<Bloom> {
        let file = File::open(path)?;
        file.verify()?;
        file.into_bloom()
    }

    /// Opens a filter by mapping its file, in well under a millisecond whatever its size: the bits are not
    /// verified, so damage would give wrong answers.
    pub fn open_unverified(path: impl AsRef<Path>) -> Result<Bloom> {
        File::open(path)?.into_bloom()
    }

    /// Opens a filter, verifies it and reads it into memory. It starts later than a mapped one, but when it is large
    /// it answers faster: memory gets huge pages, a mapped file does not.
    pub fn load(path: impl AsRef<Path>) -> Result<Bloom> {
        Ok(Bloom::open(path)?.into_memory())
    }

    /// The same filter in memory of its own, if it was mapped.
    pub fn into_memory(self) -> Bloom {
        Bloom { bits: self.bits.into_memory(), ..self }
    }

    /// The filter in the bytes of a file, verified.
    pub fn from_bytes(bytes: &[u8]) -> Result<Bloom> {
        let file = File::from_bytes(bytes.to_vec())?;
        file.verify()?;
        file.into_bloom()
    }
}
