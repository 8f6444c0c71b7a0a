//! Heavy hitters in files.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::Path;

use super::Heavy;
use super::places::Place;
use crate::bloom::KeyType;
use crate::format::{self, Content, File, Kind, write_heavy_record};
use crate::{Error, Result};

impl Heavy {
    /// Writes the summary to a file: complete or not at all.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        format::save(path, |file| self.write_to(file))
    }

    /// Writes what [`save`](Heavy::save) would write.
    pub fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        let mut params = Vec::new();
        write_heavy_record(self, &mut params)?;
        Content { kind: Kind::Heavy, params, metadata: &self.metadata, body: vec![] }.write_to(out)
    }

    /// The bytes that [`save`](Heavy::save) would write.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        format::to_bytes(|out| self.write_to(out))
    }

    /// Opens a summary, every byte verified.
    pub fn open(path: impl AsRef<Path>) -> Result<Heavy> {
        File::open_verified(path.as_ref())?.into_heavy()
    }

    /// The summary in the bytes of a file, verified.
    pub fn from_bytes(bytes: &[u8]) -> Result<Heavy> {
        File::from_bytes_verified(bytes)?.into_heavy()
    }

    /// The kept keys as a file holds them: by descending count, then by their bytes.
    pub(crate) fn kept(&self) -> Vec<Place> {
        self.kept.sorted()
    }

    /// The summary with these keys, which a file held; refuses what cannot have come from adding keys.
    pub(crate) fn from_kept(
        places: u32,
        key_type: KeyType,
        [total, inserted]: [u64; 2],
        kept: Vec<Place>,
    ) -> Result<Heavy> {
        let mut heavy = Heavy { total, inserted, ..Heavy::new(places)?.with_key_type(key_type) };
        heavy.check(&kept)?;
        kept.into_iter().for_each(|place| heavy.kept.push(place));
        Ok(heavy)
    }

    fn check(&self, kept: &[Place]) -> Result<()> {
        let broken = |what: &str| Err(Error::Format(format!("the heavy hitters {what}")));
        if kept.len() > self.places() as usize {
            return broken("are more than there are places");
        }
        let in_order = |pair: &[Place]| {
            let [a, b] = pair else { return true };
            a.count > b.count || (a.count == b.count && a.key < b.key)
        };
        if !kept.windows(2).all(in_order) {
            return broken("are not in order");
        }
        if kept.iter().map(|place| &place.key).collect::<HashSet<_>>().len() < kept.len() {
            return broken("are not different keys");
        }
        if kept.iter().any(|place| place.count == 0 || place.error > place.count) {
            return broken("have counts that cannot be");
        }
        if self.key_type == KeyType::U64 && kept.iter().any(|place| place.key.len() != 8) {
            return broken("are not integers");
        }
        let sum: u128 = kept.iter().map(|place| u128::from(place.count)).sum();
        let free = kept.len() < self.places() as usize;
        let exact = || sum == u128::from(self.total) && kept.iter().all(|place| place.error == 0);
        if !self.is_saturated() && (sum > u128::from(self.total) || (free && !exact())) {
            return broken("do not fit the total weight");
        }
        Ok(())
    }
}
