//! Sketches in files.

use std::io::{self, Write};
use std::path::Path;

use super::CountMin;
use crate::Result;
use crate::format::{self, Content, File, Kind, write_count_record};

impl CountMin {
    /// Writes the sketch to a file: complete or not at all. A file that stands there is replaced when the new one
    /// is whole.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        format::save(path, |file| self.write_to(file))
    }

    /// Writes what [`save`](CountMin::save) would write.
    pub fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        self.write_as(Kind::CountMin, out)
    }

    /// Writes the sketch as a file of this kind.
    pub(super) fn write_as(&self, kind: Kind, out: &mut impl Write) -> io::Result<()> {
        let mut params = Vec::new();
        write_count_record(self, &mut params);
        let body = vec![self.table().lines()];
        Content { kind, params, metadata: &self.metadata, body }.write_to(out)
    }

    /// The bytes that [`save`](CountMin::save) would write.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        format::to_bytes(|out| self.write_to(out))
    }

    /// Opens a sketch by mapping its file, and verifies every byte of it. Adding to it copies it into memory;
    /// the file is never changed.
    pub fn open(path: impl AsRef<Path>) -> Result<CountMin> {
        let path = path.as_ref();
        let sketch = File::open_verified(path)?.into_count_min()?;
        sketch.check().map_err(|error| error.at(path))?;
        Ok(sketch)
    }

    /// Opens a sketch by mapping its file, in well under a millisecond whatever its size: the counters are not
    /// verified, so damage would give wrong answers.
    pub fn open_unverified(path: impl AsRef<Path>) -> Result<CountMin> {
        File::open(path)?.into_count_min()
    }

    /// Opens a sketch, verifies it and reads it into memory.
    pub fn load(path: impl AsRef<Path>) -> Result<CountMin> {
        Ok(CountMin::open(path)?.into_memory())
    }

    /// The same sketch in memory of its own, if it was mapped.
    pub fn into_memory(self) -> CountMin {
        CountMin { grid: self.grid.into_memory(), ..self }
    }

    /// The sketch in the bytes of a file, verified.
    pub fn from_bytes(bytes: &[u8]) -> Result<CountMin> {
        let sketch = File::from_bytes_verified(bytes)?.into_count_min()?;
        sketch.check()?;
        Ok(sketch)
    }
}
