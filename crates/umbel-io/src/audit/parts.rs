//! An audit in parts, by several processes: some read rows, others count those of the same keys.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

use umbel::Bloom;
use umbel::audit::Counts;

use super::{Audit, BUCKETS, DistinctKeys, Record, STRANGER};
use crate::{Driver, Error, Filters, Result, Tally, lock};

/// Where rows belong: all that have a key in common go to the same place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place<'n> {
    /// A bucket.
    Bucket(u32),
    /// A bucket of a group that has no filter.
    Missing(&'n str, u32),
}

/// Reads rows and sends them, some at a time, as bytes. `members`: without groups, whether the keys were inserted.
pub fn send_rows(
    filters: &Filters,
    driver: &Driver,
    members: bool,
    memory: usize,
    mut send: impl FnMut(Place, &[u8]) -> Result<()>,
) -> Result<Tally> {
    let (names, all) = named(filters);
    let audit = Audit::new(all, memory);
    let first = 2 * names.len() as u32;
    let tags: HashMap<String, u32> = names.into_iter().map(String::from).zip(0..).collect();
    let known = tags.len();
    let tags = Mutex::new(tags);
    let plain = if members { 0 } else { STRANGER };
    let (kept, tally) = audit.read(driver, plain, |name| {
        let mut tags = lock(&tags);
        let next = first + (tags.len() - known) as u32;
        *tags.entry(name.into()).or_insert(next)
    })?;
    let tags = tags.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let missing: HashMap<u32, String> =
        tags.into_iter().filter(|(_, tag)| *tag >= first).map(|(name, tag)| (tag, name)).collect();
    for bucket in 0..BUCKETS {
        let mut some = |records: &[Record]| send_some(records, bucket as u32, &missing, &mut send);
        for kept in &kept {
            kept.in_memory(bucket).try_for_each(&mut some)?;
            kept.in_file(bucket, &mut some)?;
        }
    }
    Ok(tally)
}

/// Sends rows. Those of a group without a filter are rows like any others for the filters, and are sent under the group's name too.
fn send_some(
    records: &[Record],
    bucket: u32,
    missing: &HashMap<u32, String>,
    send: &mut impl FnMut(Place, &[u8]) -> Result<()>,
) -> Result<()> {
    if missing.is_empty() {
        return send(Place::Bucket(bucket), bytemuck::cast_slice(records));
    }
    let stranger = |record: &Record| match missing.contains_key(&record.tag) {
        true => Record { tag: STRANGER, ..*record },
        false => *record,
    };
    let rows: Vec<Record> = records.iter().map(stranger).collect();
    send(Place::Bucket(bucket), bytemuck::cast_slice(&rows))?;
    for (tag, name) in missing {
        let rows: Vec<Record> =
            records.iter().filter(|row| row.tag == *tag).map(stranger).collect();
        if !rows.is_empty() {
            send(Place::Missing(name, bucket), bytemuck::cast_slice(&rows))?;
        }
    }
    Ok(())
}

/// Counts what rows of other processes come to.
pub struct Counting<'f> {
    audit: Audit<'f>,
    keys: DistinctKeys,
    counts: Vec<Counts>,
}

impl<'f> Counting<'f> {
    /// For these filters.
    pub fn new(filters: &'f Filters) -> Counting<'f> {
        let (_, all) = named(filters);
        let (keys, counts) = (DistinctKeys::new(all.len(), 0), vec![Counts::default(); all.len()]);
        Counting { audit: Audit::new(all, 0), keys, counts }
    }

    /// Takes some rows of a bucket.
    pub fn take(&mut self, rows: &[u8]) -> Result<()> {
        let rows = records(rows)?;
        // Tags of filters, or of none: anything else is from a file with other filters.
        let known =
            |row: &Record| row.tag == STRANGER || (row.tag as usize) < self.keys.tagged.len();
        match rows.iter().all(known) {
            true => self.keys.add(&rows),
            false => {
                return Err(Error::Other("a row names a filter that is not in the file".into()));
            }
        }
        Ok(())
    }

    /// All rows of the bucket have been taken.
    pub fn finish_bucket(&mut self) -> Result<()> {
        self.keys.finish();
        self.audit.count_keys(&self.keys, &mut self.counts)?;
        self.keys.clear();
        Ok(())
    }

    /// The counts of every filter, in their order.
    pub fn counts(&self) -> &[Counts] {
        &self.counts
    }
}

/// Different keys of a group that has no filter.
#[derive(Debug, Default)]
pub struct MissingKeys(HashSet<(u64, u32)>);

impl MissingKeys {
    /// Takes some rows of a bucket.
    pub fn take(&mut self, rows: &[u8]) -> Result<()> {
        self.0.extend(records(rows)?.iter().map(|row| (row.hash, row.second)));
        Ok(())
    }

    /// Their number.
    pub fn count(&self) -> u64 {
        self.0.len() as u64
    }
}

fn records(bytes: &[u8]) -> Result<Vec<Record>> {
    let (records, rest) = bytes.as_chunks::<{ size_of::<Record>() }>();
    match rest.is_empty() {
        true => Ok(records.iter().map(|record| bytemuck::cast(*record)).collect()),
        false => Err(Error::Other("part of a row".into())),
    }
}

/// The filters, with the names of their groups where they have such.
fn named(filters: &Filters) -> (Vec<&str>, Vec<&Bloom>) {
    match filters {
        Filters::One(filter) => (vec![""], vec![filter]),
        Filters::Groups(groups) => groups.iter().unzip(),
    }
}
