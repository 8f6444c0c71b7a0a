//! The reducer: takes the union of all parts under one key. It holds one part of each kind at a time.

use std::io::{self, BufRead, Write};

use umbel::Counts;
use umbel::bloom::{Coding, Partial};
use umbel::distinct::Distinct;
use umbel_io::Filters;
use umbel_io::audit::parts::{Counting, MissingKeys};

use crate::job::{FILTER, Order, Work};
use crate::record::{self, Key, Kind};
use crate::{Error, Result};

/// Reduces what comes from the pipe, sorted by key.
pub fn run(order: &Order) -> Result<()> {
    let filters = match order.work {
        Work::Audit => Some(Filters::open(FILTER.as_ref(), 1)?),
        _ => None,
    };
    let mut from = io::BufReader::with_capacity(1 << 20, io::stdin().lock());
    let mut out = io::BufWriter::with_capacity(1 << 20, io::stdout().lock());
    reduce(&mut from, &mut out, filters.as_ref().map(Counting::new))?;
    out.flush().map_err(Error::io("stdout"))
}

/// Reduces records that are sorted by key.
fn reduce(
    from: &mut impl BufRead,
    out: &mut impl Write,
    mut counting: Option<Counting>,
) -> Result<()> {
    let mut open: Option<(Key, Union)> = None;
    let mut bucket = None;
    while let Some((key, value)) = record::read(from).map_err(Error::io("stdin"))? {
        if let (Kind::Rows, Some(counting)) = (key.kind, &mut counting) {
            if bucket.replace(key.slice).is_some_and(|last| last != key.slice) {
                counting.finish_bucket()?;
            }
            counting.take(&value)?;
            continue;
        }
        match &mut open {
            Some((last, union)) if *last == key => union.take(&value)?,
            _ => {
                close(open.take(), out)?;
                let union = Union::begin(key.kind, &value)?;
                open = Some((key, union));
            }
        }
    }
    close(open, out)?;
    counting.map_or(Ok(()), |counting| send_counts(counting, out))
}

/// What all buckets of this reducer have come to: four numbers for each filter.
fn send_counts(mut counting: Counting, out: &mut impl Write) -> Result<()> {
    counting.finish_bucket()?;
    let numbers: Vec<[u64; 4]> = counting.counts().iter().map(numbers_of).collect();
    let value = serde_json::to_vec(&numbers).map_err(|error| Error::other(error.to_string()))?;
    record::write(out, &Key::new(Kind::Audited, ""), &value).map_err(Error::io("stdout"))
}

fn numbers_of(counts: &umbel::audit::Counts) -> [u64; 4] {
    [counts.true_positives, counts.false_positives, counts.true_negatives, counts.false_negatives]
}

fn close(open: Option<(Key, Union)>, out: &mut impl Write) -> Result<()> {
    let Some((key, union)) = open else { return Ok(()) };
    let write = |value: Vec<u8>| record::write(out, &key, &value);
    union.into_values()?.into_iter().try_for_each(write).map_err(Error::io("stdout"))
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
            Kind::Tally | Kind::Fault | Kind::Audited => Union::All(vec![value.to_vec()]),
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

    fn into_values(self) -> Result<Vec<Vec<u8>>> {
        Ok(match self {
            Union::All(values) => values,
            Union::Distinct(distinct) => vec![distinct.to_bytes()],
            Union::Slice(slice) => vec![slice.to_bytes(Coding::Shortest)],
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
        let mut bytes = Vec::new();
        for (key, value) in records.iter() {
            record::write(&mut bytes, key, value).map_err(Error::io("memory"))?;
        }
        let mut out = Vec::new();
        reduce(&mut &bytes[..], &mut out, None)?;
        let mut from = &out[..];
        std::iter::from_fn(|| record::read(&mut from).transpose())
            .collect::<io::Result<_>>()
            .map_err(Error::io("memory"))
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
