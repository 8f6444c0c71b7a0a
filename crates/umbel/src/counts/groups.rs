//! Counts by group, in one file.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use super::Counts;
use crate::bloom::{KeyType, same};
use crate::countmin::hashing;
use crate::format::{self, Content, File, Kind, put_text, write_counts_record};
use crate::groups::Name;
use crate::{Error, Metadata, Result};

/// Counts by group: one of the same kind for each name.
///
/// ```
/// use umbel::{CountGroups, CountMin, CountMinParams};
///
/// let mut hits = CountGroups::default();
/// for day in ["9", "10"] {
///     hits.set(day, CountMin::new(CountMinParams::for_error(0.001, 0.01)?)?.into())?;
/// }
/// hits.add("9", b"/", 3)?;
/// assert_eq!(hits.get("9")?.estimate(b"/")?, 3);
/// assert_eq!(hits.names().collect::<Vec<_>>(), ["9", "10"]); // numbers in numeric order
/// # Ok::<(), umbel::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct CountGroups {
    groups: BTreeMap<Name, Counts>,
    metadata: Metadata,
}

/// The same groups with equal counts; metadata do not count.
impl PartialEq for CountGroups {
    fn eq(&self, other: &CountGroups) -> bool {
        self.groups == other.groups
    }
}

impl Eq for CountGroups {}

impl CountGroups {
    /// Puts counts in place for a group. All groups have the same kind of counts, the same seed and the same key type; sizes may
    /// differ. Metadata belongs to the groups as a whole: that of the counts is dropped.
    pub fn set(&mut self, name: impl Into<String>, mut counts: Counts) -> Result<()> {
        *counts.metadata_mut() = Metadata::default();
        let name = Name(name.into());
        self.check_family(&name, &counts)?;
        self.groups.insert(name, counts);
        Ok(())
    }

    /// Adds the counts of the group that comes last in order.
    pub(crate) fn push_last(&mut self, name: &str, counts: Counts) -> Result<()> {
        let name = Name(name.into());
        if self.groups.last_key_value().is_some_and(|(last, _)| *last >= name) {
            return Err(Error::Format("the groups are not in order".into()));
        }
        self.set(name.0, counts)
    }

    /// The number of groups.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Whether there are no groups.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// The names of the groups, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.groups.keys().map(|name| name.0.as_str())
    }

    /// The groups, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Counts)> {
        self.groups.iter().map(|(name, counts)| (name.0.as_str(), counts))
    }

    /// The counts of a group.
    pub fn get(&self, name: &str) -> Result<&Counts> {
        self.groups.get(&Name(name.into())).ok_or_else(|| Error::NoGroup(name.into()))
    }

    /// Counts a key `weight` times in a group.
    pub fn add(&mut self, name: &str, key: &[u8], weight: u64) -> Result<()> {
        let counts = self.groups.get_mut(&Name(name.into()));
        counts.ok_or_else(|| Error::NoGroup(name.into()))?.add(key, weight)
    }

    /// The type of the keys, the same in all groups; none when there is no group.
    pub fn key_type(&self) -> Option<KeyType> {
        self.groups.values().next().map(Counts::key_type)
    }

    /// The text pairs that travel with the groups.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The text pairs, to be changed.
    pub fn metadata_mut(&mut self) -> &mut Metadata {
        &mut self.metadata
    }

    /// Takes in all groups of `other`; groups of the same name are merged. On an error nothing has changed.
    pub fn merge(&mut self, other: &CountGroups) -> Result<()> {
        for (name, theirs) in &other.groups {
            let alike = match self.groups.get(name) {
                Some(ours) => ours.check_alike(theirs),
                None => self.check_family(name, theirs),
            };
            let in_group = |error| Error::Group { group: name.0.clone(), source: Box::new(error) };
            alike.map_err(in_group)?;
        }
        if self.is_empty() {
            // Nothing merged with something is that something, its metadata included.
            self.metadata = other.metadata.clone();
        } else if !other.is_empty() {
            self.metadata.keep_common(&other.metadata);
        }
        for (name, theirs) in &other.groups {
            match self.groups.get_mut(name) {
                Some(ours) => ours.merge(theirs)?,
                None => drop(self.groups.insert(name.clone(), theirs.clone())),
            }
        }
        Ok(())
    }

    /// Refuses counts of another family than those that are here.
    fn check_family(&self, name: &Name, counts: &Counts) -> Result<()> {
        // What is replaced has no say.
        let other = self.groups.iter().find(|(other, _)| *other != name);
        let Some((_, other)) = other else { return Ok(()) };
        same("the kind", other.kind(), counts.kind())?;
        if let (Some(ours), Some(theirs)) = (other.sketch(), counts.sketch()) {
            same("the kind", ours.kind(), theirs.kind())?;
            same("the hash strategy", hashing(ours.seed()), hashing(theirs.seed()))?;
        }
        same("the key type", other.key_type(), counts.key_type())
    }

    /// Refuses counters that cannot have come from adding keys. The verified ways to open groups call this.
    pub fn check(&self) -> Result<()> {
        self.groups.values().try_for_each(Counts::check)
    }

    /// Writes all groups to one file: complete or not at all.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        format::save(path, |file| self.write_to(file))
    }

    /// Writes what [`save`](CountGroups::save) would write.
    pub fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        let count = u32::try_from(self.len())
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "more than 2^32 groups"))?;
        let mut params = count.to_le_bytes().to_vec();
        for (name, counts) in self.iter() {
            put_text(&mut params, name)?;
            params.extend(counts.kind().id().to_le_bytes());
            write_counts_record(counts, &mut params)?;
        }
        let body = self.groups.values().flat_map(Counts::lines).collect();
        Content { kind: Kind::CountGroups, params, metadata: &self.metadata, body }.write_to(out)
    }

    /// The bytes that [`save`](CountGroups::save) would write.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        format::to_bytes(|out| self.write_to(out))
    }

    /// Opens groups by mapping their file, and verifies every byte of it.
    pub fn open(path: impl AsRef<Path>) -> Result<CountGroups> {
        let path = path.as_ref();
        let groups = File::open_verified(path)?.into_count_groups()?;
        groups.check().map_err(|error| error.at(path))?;
        Ok(groups)
    }

    /// Opens groups by mapping their file; the counters are not verified, so damage would give wrong answers.
    pub fn open_unverified(path: impl AsRef<Path>) -> Result<CountGroups> {
        File::open(path)?.into_count_groups()
    }

    /// The groups in the bytes of a file, verified.
    pub fn from_bytes(bytes: &[u8]) -> Result<CountGroups> {
        let groups = File::from_bytes_verified(bytes)?.into_count_groups()?;
        groups.check()?;
        Ok(groups)
    }
}
