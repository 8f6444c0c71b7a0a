//! Counts over ranges in files.

use std::io::{self, Write};
use std::path::Path;

use super::Ranges;
use crate::Result;
use crate::format::{self, Content, File, Kind, write_range_record};

impl Ranges {
    /// Writes the counts to a file: complete or not at all.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        format::save(path, |file| self.write_to(file))
    }

    /// Writes what [`save`](Ranges::save) would write.
    pub fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        let mut params = Vec::new();
        write_range_record(self, &mut params);
        let body = self.levels.iter().map(|level| level.table().lines()).collect();
        Content { kind: Kind::Ranges, params, metadata: &self.metadata, body }.write_to(out)
    }

    /// The bytes that [`save`](Ranges::save) would write.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        format::to_bytes(|out| self.write_to(out))
    }

    /// Opens counts by mapping their file, and verifies every byte of it.
    pub fn open(path: impl AsRef<Path>) -> Result<Ranges> {
        let path = path.as_ref();
        let ranges = File::open_verified(path)?.into_ranges()?;
        ranges.check().map_err(|error| error.at(path))?;
        Ok(ranges)
    }

    /// Opens counts by mapping their file; the counters are not verified, so damage would give wrong answers.
    pub fn open_unverified(path: impl AsRef<Path>) -> Result<Ranges> {
        File::open(path)?.into_ranges()
    }

    /// Opens counts, verifies them and reads them into memory.
    pub fn load(path: impl AsRef<Path>) -> Result<Ranges> {
        Ok(Ranges::open(path)?.into_memory())
    }

    /// The same counts in memory of their own, if they were mapped.
    pub fn into_memory(self) -> Ranges {
        Ranges {
            levels: self.levels.into_iter().map(|level| level.into_memory()).collect(),
            ..self
        }
    }

    /// The counts in the bytes of a file, verified.
    pub fn from_bytes(bytes: &[u8]) -> Result<Ranges> {
        let ranges = File::from_bytes_verified(bytes)?.into_ranges()?;
        ranges.check()?;
        Ok(ranges)
    }
}
