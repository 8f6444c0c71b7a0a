//! Near structures in files.

use std::io::{self, Write};
use std::path::Path;

use super::{Near, Store};
use crate::format::{Content, File, Kind, NewFile};
use crate::memory::Line;
use crate::{Error, Result};

impl Near {
    /// Writes it to a file: complete or not at all. A file that stands there is replaced when the new one is whole.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let mut file = NewFile::create(path)?;
        self.write_to(&mut file).map_err(|error| file.named(error))?;
        file.commit()
    }

    /// Writes what [`save`](Near::save) would write.
    pub fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        let mut params = Vec::new();
        self.write_record(&mut params);
        let body = self.bodies().into_iter().map(|lines| -> &[Line] { lines }).collect();
        Content { kind: Kind::Near, params, metadata: &self.metadata, body }.write_to(out)
    }

    /// The bytes that [`save`](Near::save) would write.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.write_to(&mut bytes).map_err(|source| Error::Io { path: "memory".into(), source })?;
        Ok(bytes)
    }

    /// Opens a structure by mapping its file, and verifies every byte of it. Inserting into a growing one copies it
    /// into memory; the file is never changed.
    pub fn open(path: impl AsRef<Path>) -> Result<Near> {
        let path = path.as_ref();
        Near::verified(File::open(path)?).map_err(|error| error.at(path))
    }

    /// Opens a structure by mapping its file, in well under a millisecond whatever its size: the bits are not
    /// verified, so damage would give wrong answers.
    pub fn open_unverified(path: impl AsRef<Path>) -> Result<Near> {
        File::open(path)?.into_near()
    }

    /// Opens a structure, verifies it and reads it into memory. It starts later than a mapped one, but when it is large
    /// it answers faster: memory gets huge pages, a mapped file does not.
    pub fn load(path: impl AsRef<Path>) -> Result<Near> {
        Ok(Near::open(path)?.into_memory())
    }

    /// The same in memory of its own, if it was mapped.
    pub fn into_memory(self) -> Near {
        let store = match self.store {
            Store::Exact(list) => Store::Exact(list.into_memory()),
            Store::Grafite(list) => Store::Grafite(list.into_memory()),
            Store::Growing(filter) => Store::Growing(filter.into_memory()),
        };
        Near { store, ..self }
    }

    /// The structure in the bytes of a file, verified.
    pub fn from_bytes(bytes: &[u8]) -> Result<Near> {
        Near::verified(File::from_bytes(bytes.to_vec())?)
    }

    fn verified(file: File) -> Result<Near> {
        file.verify()?;
        let near = file.into_near()?;
        near.verify()?;
        Ok(near)
    }

    /// Refuses a list that contradicts itself: a file may do so under correct checksums. Whoever opens a [`File`] by hand and
    /// verifies its chunks calls this too.
    pub fn verify(&self) -> Result<()> {
        match &self.store {
            Store::Exact(list) => list.check(),
            Store::Grafite(list) => list.list().view().check(),
            Store::Growing(_) => Ok(()),
        }
    }
}

/// Equal parameters and equal bits; metadata and the number of values given do not count.
impl PartialEq for Near {
    fn eq(&self, other: &Near) -> bool {
        let alike = match (&self.store, &other.store) {
            (Store::Exact(a), Store::Exact(b)) => a.least() == b.least(),
            (Store::Grafite(a), Store::Grafite(b)) => a.codes() == b.codes(),
            (Store::Growing(a), Store::Growing(b)) => a.sizes() == b.sizes(),
            _ => false,
        };
        let (ours, theirs) = (self.bodies().into_iter(), other.bodies().into_iter());
        alike
            && self.params == other.params
            && ours.map(|lines| &lines[..]).eq(theirs.map(|lines| &lines[..]))
    }
}
