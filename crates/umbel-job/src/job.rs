//! What a job is to do, as its tasks are told.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use umbel::hash::{Family, Strategy};
use umbel::{KeyType, Layout, Params};
use umbel_io::{Column, Plan, Shape};

use crate::location::Location;
use crate::stamp::Stamp;
use crate::{Error, Result};

/// What the tasks of a job do with their inputs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Order {
    /// The work.
    pub work: Work,
    /// How records are read.
    pub columns: Columns,
    /// Whether a row that cannot be used is an error.
    pub strict: bool,
    /// The inputs. A line of the manifest names one by its place.
    pub inputs: Vec<Input>,
}

/// The work of a job.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Work {
    /// Rows and distinct keys, by group.
    Census,
    /// The same, and the hashes of the keys of mappers that have few.
    Gather {
        /// The seed of the hashes.
        seed: u64,
        /// So many.
        most: usize,
    },
    /// Filters: one under the empty name, or one for each group.
    Build {
        /// How mappers send them.
        how: How,
        /// Their parameters.
        filters: BTreeMap<String, FilterPlan>,
    },
    /// Counts like the empty ones in the file that goes with the job, one or one for each group.
    Count,
    /// Which rows may be members of the filters in that file?
    Screen {
        /// One group of it only.
        group: Option<String>,
        /// Whether the admitted lines are kept, or the rejected ones; none where rows are only counted.
        keep: Option<Keep>,
    },
    /// Do the filters in that file keep their promise?
    Audit,
}

impl Work {
    /// Bytes of the filters that are built.
    pub(crate) fn bytes(&self) -> Result<u64> {
        let Work::Build { filters, .. } = self else { return Ok(0) };
        filters.values().map(|plan| Ok(plan.params()?.sizing().bytes())).sum()
    }
}

/// Which lines are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Keep {
    /// Those that may be members.
    Admitted,
    /// Those that are certainly none.
    Rejected,
}

/// How mappers send their part of a filter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum How {
    /// Gaps or bits, whichever is shorter.
    #[default]
    Shortest,
    /// The bits of a partial filter.
    Filters,
    /// The indexes of the bits of every key.
    Indexes,
}

/// An input.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Input {
    /// The file, or what messages call rows that are in none.
    pub path: String,
    /// Its first line, where that is a header and there are stretches that do not begin with it.
    pub header: Vec<u8>,
    /// For the audit of one filter: whether its keys were inserted.
    pub members: bool,
    /// How the file was when it was cut; none of what is no file of this machine or of HDFS.
    pub stamp: Option<Stamp>,
}

impl Input {
    /// Refuses a file that has changed since it was cut.
    pub(crate) fn check(&self) -> Result<()> {
        let file = Location::parse(self.path.as_ref());
        self.stamp.map_or(Ok(()), |stamp| stamp.check(&file))
    }
}

/// A line of the manifest: what one mapper reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// The input's place.
    pub input: usize,
    /// The bytes; the whole file, also one that is no plain text, if there are none.
    pub bytes: Option<(u64, u64)>,
}

impl std::fmt::Display for Stretch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.bytes {
            Some((start, end)) => write!(f, "{} {start} {end}", self.input),
            None => write!(f, "{}", self.input),
        }
    }
}

impl std::str::FromStr for Stretch {
    type Err = Error;

    fn from_str(line: &str) -> Result<Stretch> {
        let wrong = || Error::other(format!("{line:?} is no line of a manifest"));
        let numbers: Result<Vec<u64>> =
            line.split(' ').map(|word| word.parse().map_err(|_| wrong())).collect();
        match numbers?[..] {
            [input] => Ok(Stretch { input: input as usize, bytes: None }),
            [input, start, end] => Ok(Stretch { input: input as usize, bytes: Some((start, end)) }),
            _ => Err(wrong()),
        }
    }
}

/// What a mapper has counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    /// The input's place.
    pub input: usize,
    /// Where the stretch begins.
    pub start: u64,
    /// Lines that stand in the stretch itself.
    pub lines: u64,
    /// Rows with a key.
    pub rows: u64,
    /// Rows that could not be used.
    pub malformed: u64,
    /// The first of them: its line in the stretch, from 1, the unit, and what was wrong.
    pub first: Option<(u64, String, String)>,
    /// Rows that were admitted, where that was asked.
    pub admitted: u64,
    /// How the input looks, as its first stretch tells: names of key and group, and whether there are several columns.
    pub look: Option<(Option<String>, Option<String>, bool)>,
}

impl Order {
    /// The order, as it was written.
    pub fn from_json(text: &[u8]) -> Result<Order> {
        serde_json::from_slice(text).map_err(|error| Error::other(format!("the order: {error}")))
    }

    /// The order as text.
    pub fn to_json(&self) -> Result<Vec<u8>> {
        serde_json::to_vec_pretty(self).map_err(|error| Error::other(error.to_string()))
    }

    /// The input at a place.
    pub fn input(&self, place: usize) -> Result<&Input> {
        let found = self.inputs.get(place);
        found.ok_or_else(|| Error::other("the manifest names no input of this job"))
    }
}

/// How records are read: a shape as text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Columns {
    key: Option<String>,
    by: Option<String>,
    round: bool,
    weight: Option<String>,
    delimiter: Option<u8>,
    header: bool,
    integers: bool,
    interval: Option<(i64, i64)>,
}

impl From<&Shape> for Columns {
    fn from(shape: &Shape) -> Columns {
        let text = |column: &Option<Column>| column.as_ref().map(Column::to_string);
        Columns {
            key: text(&shape.key),
            by: text(&shape.by),
            round: shape.round,
            weight: text(&shape.weight),
            delimiter: shape.delimiter,
            header: shape.header,
            integers: shape.integers,
            interval: shape.interval,
        }
    }
}

impl Columns {
    /// The shape.
    pub fn shape(&self) -> Result<Shape> {
        let column = |text: &Option<String>| -> Result<Option<Column>> {
            text.as_ref().map(|text| text.parse().map_err(Error::Other)).transpose()
        };
        Ok(Shape {
            key: column(&self.key)?,
            by: column(&self.by)?,
            round: self.round,
            weight: column(&self.weight)?,
            delimiter: self.delimiter,
            header: self.header,
            integers: self.integers,
            interval: self.interval,
            ..Shape::default()
        })
    }
}

/// The parameters of a filter, in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilterPlan {
    n: u64,
    m: u64,
    k: u32,
    blocked: bool,
    /// The family, where it is not xxh3.
    family: Option<String>,
    seeds: Vec<u32>,
    seed: u64,
    integers: bool,
}

impl From<&Params> for FilterPlan {
    fn from(params: &Params) -> FilterPlan {
        let sizing = params.sizing();
        let (family, seeds, seed) = match params.strategy() {
            &Strategy::Xxh3 { seed } => (None, Vec::new(), seed),
            Strategy::Seeded { family, seeds } => (Some(family.name().into()), seeds.clone(), 0),
        };
        FilterPlan {
            n: sizing.capacity(),
            m: sizing.bits(),
            k: sizing.probes(),
            blocked: sizing.layout() == Layout::Blocked,
            family,
            seeds,
            seed,
            integers: params.key_type() == KeyType::U64,
        }
    }
}

impl FilterPlan {
    /// The parameters.
    pub fn params(&self) -> Result<Params> {
        let families =
            [Family::Murmur2, Family::Murmur3, Family::PolynomialMod, Family::PolynomialWrap];
        let family = self.family.as_deref().map(|name| {
            let found = families.into_iter().find(|family| family.name() == name);
            found.ok_or_else(|| Error::other(format!("{name:?} is no hash that is known here")))
        });
        let family = family.transpose()?;
        let plan = Plan {
            n: Some(self.n),
            p: None,
            k: (!self.blocked).then_some(self.k),
            m: Some(self.m),
            layout: Some(if self.blocked { Layout::Blocked } else { Layout::Classic }),
            family,
            seeds: family.map(|_| self.seeds.clone()),
            seed: self.seed,
            integers: self.integers,
        };
        Ok(plan.params(self.n)?)
    }
}

#[cfg(test)]
mod tests {
    use umbel::Sizing;

    use super::*;

    #[test]
    fn parameters_come_back() {
        let classic = Params::new(Sizing::classic(1234, 0.001).unwrap());
        let seeded = Params::new(Sizing::with(10, 1000, 3).unwrap())
            .with_strategy(Strategy::Seeded { family: Family::Murmur2, seeds: vec![9, 8, 7] });
        let seed = Params::new(Sizing::blocked(99, 0.01).unwrap())
            .with_strategy(Strategy::Xxh3 { seed: u64::MAX })
            .unwrap()
            .with_key_type(KeyType::U64);
        for params in [classic, seeded.unwrap(), seed] {
            let text = serde_json::to_string(&FilterPlan::from(&params)).unwrap();
            let back: FilterPlan = serde_json::from_str(&text).unwrap();
            assert_eq!(back.params().unwrap(), params);
        }
    }

    #[test]
    fn shapes_come_back() {
        let shape = Shape {
            key: Some(Column::Name("tconst".into())),
            by: Some(Column::Number(2)),
            round: true,
            delimiter: Some(b'\t'),
            integers: true,
            interval: Some((-5, 9)),
            ..Shape::default()
        };
        assert_eq!(Columns::from(&shape).shape().unwrap(), shape);
    }

    #[test]
    fn lines_of_a_manifest_come_back() {
        for stretch in
            [Stretch { input: 3, bytes: None }, Stretch { input: 0, bytes: Some((5, 9)) }]
        {
            assert_eq!(stretch.to_string().parse::<Stretch>().unwrap(), stretch);
        }
        assert!("1 2".parse::<Stretch>().is_err() && "".parse::<Stretch>().is_err());
    }
}
