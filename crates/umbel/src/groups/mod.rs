//! One filter for each group, in one file, asked with one hash.
//!
//! **When.** A table is cut by a column (a rating, a day, a customer) and you ask of a key which groups it may be in.
//! Each group has its own size; all share the hash, so a key is hashed once for all of them.
//!
//! ```
//! use umbel::{Bloom, Groups};
//!
//! let mut films = Groups::default();
//! films.set("8", Bloom::new(1000, 0.01)?)?;
//! films.set("10", Bloom::new(1000, 0.01)?)?;
//! films.insert("8", b"tt0073537")?;
//! assert_eq!(films.which(b"tt0073537").collect::<Vec<_>>(), ["8"]);
//! assert_eq!(films.names().collect::<Vec<_>>(), ["8", "10"]); // numbers in numeric order
//! # Ok::<(), umbel::Error>(())
//! ```

mod name;

pub use name::compare_names;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use crate::bloom::{Bloom, KeyType, Keys, Overfull};
use crate::format::{Content, File, Kind, NewFile, put_text, write_record};
use crate::hash::{Strategy, xxh3};
use crate::{Error, Metadata, Result};

pub(crate) use name::Name;

/// Bloom filters by group. See the [module](self).
#[derive(Debug, Clone, Default)]
pub struct Groups {
    /// Boxed: the map's nodes are half empty when a file of many small groups has been read.
    filters: BTreeMap<Name, Box<Bloom>>,
    metadata: Metadata,
}

/// The same groups with equal filters; metadata does not count.
impl PartialEq for Groups {
    fn eq(&self, other: &Groups) -> bool {
        self.filters == other.filters
    }
}

impl Eq for Groups {}

impl Groups {
    /// Puts a filter in place for a group. All filters of one `Groups` have the same hash strategy, seeds of the xxh3
    /// strategy included, and the same key type. Metadata belongs to the groups as a whole: a filter's own is dropped.
    pub fn set(&mut self, name: impl Into<String>, mut filter: Bloom) -> Result<()> {
        *filter.metadata_mut() = Metadata::default();
        let name = Name(name.into());
        // What is replaced has no say.
        if let Some((_, other)) = self.filters.iter().find(|(other, _)| **other != name) {
            check_family(other, &filter)?;
        }
        self.filters.insert(name, Box::new(filter));
        Ok(())
    }

    /// Adds the filter of the group that comes last in order.
    pub(crate) fn push_last(&mut self, name: &str, filter: Bloom) -> Result<()> {
        let name = Name(name.into());
        if self.filters.last_key_value().is_some_and(|(last, _)| *last >= name) {
            return Err(Error::Format("the groups are not in order".into()));
        }
        self.set(name.0, filter)
    }

    /// The same groups in memory of their own, where they were mapped.
    pub fn into_memory(self) -> Groups {
        let filters =
            self.filters.into_iter().map(|(name, filter)| (name, Box::new(filter.into_memory())));
        Groups { filters: filters.collect(), metadata: self.metadata }
    }

    /// The number of groups.
    pub fn len(&self) -> usize {
        self.filters.len()
    }

    /// Whether there are no groups.
    pub fn is_empty(&self) -> bool {
        self.filters.is_empty()
    }

    /// The names of the groups, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.filters.keys().map(|name| name.0.as_str())
    }

    /// The groups, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Bloom)> {
        self.filters.iter().map(|(name, filter)| (name.0.as_str(), &**filter))
    }

    /// The filter of a group.
    pub fn get(&self, name: &str) -> Result<&Bloom> {
        self.filters
            .get(&Name(name.into()))
            .map(|filter| &**filter)
            .ok_or_else(|| Error::NoGroup(name.into()))
    }

    /// Adds a key to a group; says whether it was certainly new there.
    pub fn insert(&mut self, name: &str, key: &[u8]) -> Result<bool> {
        Ok(self.filter(name)?.insert(key))
    }

    /// Adds an integer key to a group: the same key as `key.to_le_bytes()`.
    pub fn insert_u64(&mut self, name: &str, key: u64) -> Result<bool> {
        Ok(self.filter(name)?.insert_u64(key))
    }

    /// Adds many keys to a group.
    pub fn insert_batch(&mut self, name: &str, keys: Keys<'_>) -> Result<()> {
        self.filter(name)?.insert_batch(keys)
    }

    /// Takes the keys of a filter with the same parameters into a group.
    pub fn merge_into(&mut self, name: &str, filter: &Bloom) -> Result<Option<Overfull>> {
        self.filter(name)?.merge(filter)
    }

    /// The filter of a group, to be filled. Not for others: they could put one with another hash in its place.
    fn filter(&mut self, name: &str) -> Result<&mut Bloom> {
        self.filters
            .get_mut(&Name(name.into()))
            .map(|filter| &mut **filter)
            .ok_or_else(|| Error::NoGroup(name.into()))
    }

    /// The groups that a key may be in, in order. Whoever lets users ask compares [`key_type`](Groups::key_type) before: text is in no group of
    /// integers.
    pub fn which<'a>(&'a self, key: &'a [u8]) -> impl Iterator<Item = &'a str> {
        let hash = self.seed().map(|seed| xxh3(key, seed));
        self.iter().filter(move |(_, filter)| admits(filter, key, hash)).map(|(name, _)| name)
    }

    /// Whether a key may be in any group.
    pub fn contains(&self, key: &[u8]) -> bool {
        self.which(key).next().is_some()
    }

    /// Looks up many keys, each hashed once for all groups: bit i % 64 of `found[i / 64]` says whether key i may be in
    /// any group. Text is refused where the keys are integers, as a filter alone refuses it.
    pub fn contains_mask(&self, keys: &[&[u8]], found: &mut [u64]) -> Result<()> {
        let needed = keys.len().div_ceil(64);
        if found.len() != needed {
            return Err(Error::Answers { keys: keys.len(), needed, given: found.len() });
        }
        // All groups have the same type of keys. Hashes would not show it any more.
        if let Some(filter) = self.filters.values().next() {
            filter.check_keys(Keys::Bytes(keys))?;
        }
        found.fill(0);
        let hashes: Option<Vec<u64>> =
            self.seed().map(|seed| keys.iter().map(|key| xxh3(key, seed)).collect());
        let keys = hashes.as_ref().map_or(Keys::Bytes(keys), |hashes| Keys::Hashes(hashes));
        let mut words = vec![0; found.len()];
        for filter in self.filters.values() {
            filter.contains_mask(keys, &mut words)?;
            found.iter_mut().zip(&words).for_each(|(found, word)| *found |= word);
        }
        Ok(())
    }

    /// The seed of the hash that all groups share, where one hash a key serves.
    fn seed(&self) -> Option<u64> {
        match self.filters.values().next()?.params().strategy() {
            &Strategy::Xxh3 { seed } => Some(seed),
            Strategy::Seeded { .. } => None,
        }
    }

    /// The type of the keys, the same in all groups; none when there is no group.
    pub fn key_type(&self) -> Option<KeyType> {
        self.filters.values().next().map(|filter| filter.params().key_type())
    }

    /// The text pairs that travel with the groups.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The text pairs, to be changed.
    pub fn metadata_mut(&mut self) -> &mut Metadata {
        &mut self.metadata
    }

    /// Takes in all groups of `other`; groups of the same name are merged. Returns a warning for each group that
    /// holds more keys than it was sized for. On an error nothing has changed.
    pub fn merge(&mut self, other: &Groups) -> Result<Vec<(String, Overfull)>> {
        let in_group = |name: &Name| {
            let group = name.0.clone();
            move |error| Error::Group { group, source: Box::new(error) }
        };
        for (name, theirs) in &other.filters {
            if let Some(ours) = self.filters.get(name) {
                ours.params().check_alike(theirs.params()).map_err(in_group(name))?;
            } else if let Some(first) = self.filters.values().next() {
                check_family(first, theirs).map_err(in_group(name))?;
            }
        }
        match (self.is_empty(), other.is_empty()) {
            // Nothing merged with something is that something, its metadata included.
            (true, false) => self.metadata = other.metadata.clone(),
            (false, true) => {}
            _ => self.metadata.keep_common(&other.metadata),
        }
        let mut warnings = Vec::new();
        for (name, theirs) in &other.filters {
            match self.filters.get_mut(name) {
                Some(ours) => {
                    warnings.extend(ours.merge(theirs)?.map(|warning| (name.0.clone(), warning)));
                }
                None => {
                    warnings.extend(theirs.overfull().map(|warning| (name.0.clone(), warning)));
                    self.filters.insert(name.clone(), theirs.clone());
                }
            }
        }
        Ok(warnings)
    }

    /// Writes all groups to one file: complete or not at all.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let mut file = NewFile::create(path)?;
        self.write_to(&mut file).map_err(|error| file.named(error))?;
        file.commit()
    }

    /// Writes what [`save`](Groups::save) would write.
    pub fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        let count = u32::try_from(self.len())
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "more than 2^32 groups"))?;
        let mut params = count.to_le_bytes().to_vec();
        for (name, filter) in self.iter() {
            put_text(&mut params, name)?;
            write_record(filter, &mut params);
        }
        let body = self.filters.values().map(|filter| &filter.bits()[..]).collect();
        Content { kind: Kind::Groups, params, metadata: &self.metadata, body }.write_to(out)
    }

    /// The bytes that [`save`](Groups::save) would write.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.write_to(&mut bytes).map_err(|source| Error::Io { path: "memory".into(), source })?;
        Ok(bytes)
    }

    /// Opens groups by mapping their file, and verifies every byte of it.
    pub fn open(path: impl AsRef<Path>) -> Result<Groups> {
        let file = File::open(path)?;
        file.verify()?;
        file.into_groups()
    }

    /// Opens groups by mapping their file; the bits are not verified, so damage would give wrong answers. Takes some microseconds for each
    /// group, whatever the sizes.
    pub fn open_unverified(path: impl AsRef<Path>) -> Result<Groups> {
        File::open(path)?.into_groups()
    }

    /// The groups in the bytes of a file, verified.
    pub fn from_bytes(bytes: &[u8]) -> Result<Groups> {
        let file = File::from_bytes(bytes.to_vec())?;
        file.verify()?;
        file.into_groups()
    }
}

fn admits(filter: &Bloom, key: &[u8], hash: Option<u64>) -> bool {
    match hash.map(|hash| filter.contains_hash(hash)) {
        Some(Ok(admitted)) => admitted,
        _ => filter.contains(key),
    }
}

/// Refuses filters that one hash of a key cannot serve.
fn check_family(a: &Bloom, b: &Bloom) -> Result<()> {
    let (ours, theirs) = (a.params().strategy(), b.params().strategy());
    let alike = match (ours, theirs) {
        (Strategy::Xxh3 { seed: ours }, Strategy::Xxh3 { seed: theirs }) => ours == theirs,
        _ => ours.id() == theirs.id(),
    };
    if !alike {
        return Err(Error::Unlike {
            field: "the hash strategy",
            ours: ours.to_string(),
            theirs: theirs.to_string(),
        });
    }
    let (ours, theirs) = (a.params().key_type(), b.params().key_type());
    if ours != theirs {
        return Err(Error::Unlike {
            field: "the key type",
            ours: ours.to_string(),
            theirs: theirs.to_string(),
        });
    }
    Ok(())
}
