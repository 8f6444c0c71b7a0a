//! Counts in files.

use std::io::{self, Write};
use std::path::Path;

use super::{Counts, Parts, Sketch};
use crate::Result;
use crate::format::{self, Content, File, write_counts_record};
use crate::memory::Line;

impl Counts {
    /// Writes the counts to a file: complete or not at all.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        format::save(path, |file| self.write_to(file))
    }

    /// Writes what [`save`](Counts::save) would write. A sketch alone, or heavy hitters alone, give the same bytes as they
    /// do by themselves.
    pub fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        let mut params = Vec::new();
        write_counts_record(self, &mut params)?;
        let (kind, body) = (self.kind(), self.lines());
        Content { kind, params, metadata: &self.metadata, body }.write_to(out)
    }

    /// The bytes that [`save`](Counts::save) would write.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        format::to_bytes(|out| self.write_to(out))
    }

    /// Opens counts by mapping their file, and verifies every byte of it. Adding to them copies them into memory; the
    /// file is never changed.
    pub fn open(path: impl AsRef<Path>) -> Result<Counts> {
        let path = path.as_ref();
        let counts = File::open_verified(path)?.into_counts()?;
        counts.check().map_err(|error| error.at(path))?;
        Ok(counts)
    }

    /// Opens counts by mapping their file; the counters are not verified, so damage would give wrong answers.
    pub fn open_unverified(path: impl AsRef<Path>) -> Result<Counts> {
        File::open(path)?.into_counts()
    }

    /// Opens counts, verifies them and reads them into memory.
    pub fn load(path: impl AsRef<Path>) -> Result<Counts> {
        Ok(Counts::open(path)?.into_memory())
    }

    /// The same counts in memory of their own, if they were mapped.
    pub fn into_memory(self) -> Counts {
        let parts = match self.parts {
            Parts::Sketch(sketch) => Parts::Sketch(sketch.into_memory()),
            Parts::Both(sketch, heavy) => Parts::Both(sketch.into_memory(), heavy),
            heavy @ Parts::Heavy(_) => heavy,
        };
        Counts { parts, ..self }
    }

    /// The counts in the bytes of a file, verified.
    pub fn from_bytes(bytes: &[u8]) -> Result<Counts> {
        let counts = File::from_bytes_verified(bytes)?.into_counts()?;
        counts.check()?;
        Ok(counts)
    }

    /// The lines of all tables, in order.
    pub(super) fn lines(&self) -> Vec<&[Line]> {
        match self.sketch() {
            Some(Sketch::Plain(sketch)) => vec![sketch.table().lines()],
            Some(Sketch::Conservative(sketch)) => vec![sketch.inner().table().lines()],
            Some(Sketch::Ranges(ranges)) => {
                ranges.levels().iter().map(|level| level.table().lines()).collect()
            }
            None => vec![],
        }
    }
}
