//! The reducer: takes the union of all parts under one key. It holds one part of each kind at a time.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use umbel::Counts;
use umbel::bloom::{Coding, Partial};
use umbel::distinct::Distinct;
use umbel_io::Filters;
use umbel_io::audit::parts::{Counting, MissingKeys};

use crate::map::Sink;
use crate::record::{Key, Kind};
use crate::{Error, Result};

/// Unites records as they come, sorted by key.
pub struct Reducer<'f> {
    open: Option<(Key, Union)>,
    /// For an audit, with the bucket that is being counted.
    counting: Option<Counting<'f>>,
    bucket: Option<u32>,
}

impl<'f> Reducer<'f> {
    /// The reducer of a job; of an audit, with its filters.
    pub fn new(filters: Option<&'f Filters>) -> Reducer<'f> {
        Reducer { open: None, counting: filters.map(Counting::new), bucket: None }
    }

    /// Takes the next record; what is complete goes out.
    pub fn take(&mut self, key: Key, value: &[u8], out: &mut Sink) -> Result<()> {
        if let (Kind::Rows, Some(counting)) = (key.kind, &mut self.counting) {
            if self.bucket.replace(key.slice).is_some_and(|last| last != key.slice) {
                counting.finish_bucket()?;
            }
            return Ok(counting.take(value)?);
        }
        match &mut self.open {
            Some((last, union)) if *last == key => union.take(value)?,
            _ => {
                close(self.open.take(), Coding::Shortest, out)?;
                let union = Union::begin(key.kind, value)?;
                self.open = Some((key, union));
            }
        }
        Ok(())
    }

    /// There are no more.
    pub fn finish(self, out: &mut Sink) -> Result<()> {
        close(self.open, Coding::Shortest, out)?;
        self.counting.map_or(Ok(()), |counting| send_counts(counting, out))
    }
}

/// Unites what the mappers of one process send, before it goes anywhere: fewer bytes to carry. Records need no order.
pub struct Combiner {
    unions: BTreeMap<Key, Union>,
    coding: Coding,
}

impl Combiner {
    /// The combiner of a process that sends slices in this coding.
    pub fn new(coding: Coding) -> Combiner {
        Combiner { unions: BTreeMap::new(), coding }
    }

    /// Takes a record; what is not to be united here goes out.
    pub fn take(&mut self, key: Key, value: &[u8], out: &mut Sink) -> Result<()> {
        if !matches!(key.kind, Kind::Distinct | Kind::Slice | Kind::Counts) {
            return out(key, value);
        }
        match self.unions.entry(key) {
            Entry::Occupied(mut union) => union.get_mut().take(value),
            Entry::Vacant(entry) => {
                let union = Union::begin(entry.key().kind, value)?;
                entry.insert(union);
                Ok(())
            }
        }
    }

    /// There are no more.
    pub fn finish(self, out: &mut Sink) -> Result<()> {
        let coding = self.coding;
        self.unions.into_iter().try_for_each(|union| close(Some(union), coding, out))
    }
}

/// What all buckets of this reducer have come to: four numbers for each filter.
fn send_counts(mut counting: Counting, out: &mut Sink) -> Result<()> {
    counting.finish_bucket()?;
    let numbers: Vec<[u64; 4]> = counting.counts().iter().map(numbers_of).collect();
    let value = serde_json::to_vec(&numbers).map_err(|error| Error::other(error.to_string()))?;
    out(Key::new(Kind::Audited, ""), &value)
}

fn numbers_of(counts: &umbel::audit::Counts) -> [u64; 4] {
    [counts.true_positives, counts.false_positives, counts.true_negatives, counts.false_negatives]
}

fn close(open: Option<(Key, Union)>, coding: Coding, out: &mut Sink) -> Result<()> {
    let Some((key, union)) = open else { return Ok(()) };
    union.into_values(coding)?.iter().try_for_each(|value| out(key.clone(), value))
}

/// What values under one key come to.
enum Union {
    /// Kept as they are.
    All(Vec<Vec<u8>>),
    Distinct(Distinct),
    Slice(Box<Partial>),
    Counts(Box<Counts>),
    Missing(MissingKeys),
}

impl Union {
    fn begin(kind: Kind, value: &[u8]) -> Result<Union> {
        Ok(match kind {
            Kind::Tally | Kind::Fault | Kind::Audited | Kind::Hashes | Kind::NewGroup => {
                Union::All(vec![value.to_vec()])
            }
            Kind::Rows => return Err(Error::other("rows of an audit come to a job that is none")),
            Kind::Counts => Union::Counts(Box::new(Counts::from_bytes(value)?)),
            Kind::Missing => {
                let mut keys = MissingKeys::default();
                keys.take(value)?;
                Union::Missing(keys)
            }
            Kind::Distinct => Union::Distinct(Distinct::from_bytes(value)?),
            Kind::Slice => Union::Slice(Box::new(Partial::from_bytes(value)?)),
        })
    }

    fn take(&mut self, value: &[u8]) -> Result<()> {
        match self {
            Union::All(values) => values.push(value.to_vec()),
            Union::Distinct(distinct) => distinct.merge(&Distinct::from_bytes(value)?),
            Union::Slice(slice) => slice.merge(&Partial::from_bytes(value)?)?,
            Union::Counts(counts) => counts.merge(&Counts::from_bytes(value)?)?,
            Union::Missing(keys) => keys.take(value)?,
        }
        Ok(())
    }

    fn into_values(self, coding: Coding) -> Result<Vec<Vec<u8>>> {
        Ok(match self {
            Union::All(values) => values,
            Union::Distinct(distinct) => vec![distinct.to_bytes()],
            Union::Slice(slice) => vec![slice.to_bytes(coding)],
            Union::Counts(counts) => vec![counts.to_bytes()?],
            Union::Missing(keys) => vec![keys.count().to_le_bytes().to_vec()],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Record;

    /// What a reducer makes of records, once they are sorted.
    fn union(mut records: Vec<Record>) -> Result<Vec<Record>> {
        records.sort();
        let mut united = Vec::new();
        let mut out = |key: Key, value: &[u8]| {
            united.push((key, value.to_vec()));
            Ok(())
        };
        let mut reducer = Reducer::new(None);
        for (key, value) in records {
            reducer.take(key, &value, &mut out)?;
        }
        reducer.finish(&mut out)?;
        Ok(united)
    }

    #[test]
    fn parts_under_one_key_are_united_and_others_left_alone() {
        let distinct = |keys: std::ops::Range<u32>| {
            let mut distinct = Distinct::default();
            keys.for_each(|key| distinct.insert(&key.to_le_bytes()));
            distinct
        };
        let record =
            |group: &str, keys| (Key::new(Kind::Distinct, group), distinct(keys).to_bytes());
        let tally = |text: &str| (Key::new(Kind::Tally, ""), text.as_bytes().to_vec());
        let sent = vec![
            record("b", 0..10),
            tally("x"),
            record("a", 0..3000),
            record("b", 5..20),
            tally("y"),
            record("a", 1000..9000),
        ];
        let reduced = union(sent).unwrap();
        let mut b = distinct(0..10);
        b.merge(&distinct(5..20));
        let mut a = distinct(0..3000);
        a.merge(&distinct(1000..9000));
        let distinct =
            |group: &str, counted: &Distinct| (Key::new(Kind::Distinct, group), counted.to_bytes());
        assert_eq!(reduced, [tally("x"), tally("y"), distinct("a", &a), distinct("b", &b)]);
    }
}
