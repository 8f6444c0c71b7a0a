//! Jobs without a cluster: a carrier that runs mappers and reducers here, one after the other, and weighs what goes between them. Every hash, layout,
//! way, number of mappers and of reducers must give the bytes that one machine makes.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use umbel::hash::Family;
use umbel::{Layout, Params};
use umbel_io::build::Like;
use umbel_io::{Build, Column, Driver, Filters, Meter, Plan, Shape, Source};
use umbel_job::job::How;
use umbel_job::jobs::{Carried, Carrier, Event, Freight, Job, Report};
use umbel_job::map::{Task, Tool};
use umbel_job::plan::Cut;
use umbel_job::record::{self, Key, Kind, Record};
use umbel_job::reduce::Reducer;
use umbel_job::{Jobs, Location, Result, stretch};

/// Runs the tasks of jobs here.
#[derive(Default)]
struct Here {
    reducers: u64,
    room: usize,
    /// Bytes that the mappers of the last job have sent, as Hadoop counts them, and records of filters among them.
    weight: AtomicU64,
    parts: AtomicU64,
}

impl Carrier for &Here {
    fn carry(&self, freight: &Freight, _: &dyn Fn(Event)) -> Result<Carried> {
        let mut sent: Vec<Record> = Vec::new();
        for place in freight.stretches {
            let task = Task {
                order: freight.order,
                stretch: *place,
                source: stretch::of(freight.order, place)?,
                threads: 1,
                tool: Tool::None,
                lines: None,
            };
            task.run(&mut |key, value| {
                sent.push((key, value.to_vec()));
                Ok(())
            })?;
        }
        self.weigh(&sent);
        let mut records = Vec::new();
        for reducer in 0..self.reducers {
            let mine = |key: &Key| {
                umbel::hash::xxh3(format!("{key:?}").as_bytes(), 0) % self.reducers == reducer
            };
            let mut part: Vec<_> = sent.iter().filter(|(key, _)| mine(key)).cloned().collect();
            part.sort();
            let mut union = Reducer::new(None);
            let mut out = |key: Key, value: &[u8]| {
                records.push((key, value.to_vec()));
                Ok(())
            };
            part.into_iter().try_for_each(|(key, value)| union.take(key, &value, &mut out))?;
            union.finish(&mut out)?;
        }
        Ok(Carried { records, report: Report::default() })
    }

    fn room(&self) -> Result<usize> {
        Ok(self.room)
    }

    fn publish(&self, _: &Location) -> Result<()> {
        Ok(())
    }
}

/// The same after something has happened since the job was planned.
struct Meanwhile<'a>(&'a Here, &'a dyn Fn());

impl Carrier for Meanwhile<'_> {
    fn carry(&self, freight: &Freight, watch: &dyn Fn(Event)) -> Result<Carried> {
        (self.1)();
        (&self.0).carry(freight, watch)
    }

    fn publish(&self, to: &Location) -> Result<()> {
        (&self.0).publish(to)
    }
}

impl Here {
    fn weigh(&self, sent: &[Record]) {
        let mut bytes = Vec::new();
        sent.iter().for_each(|(key, value)| record::write(&mut bytes, key, value).unwrap());
        let parts = sent.iter().filter(|(key, _)| key.kind == Kind::Slice).count();
        self.weight.store(bytes.len() as u64, Ordering::Relaxed);
        self.parts.store(parts as u64, Ordering::Relaxed);
    }
}

/// A table like the one of ratings: ten groups, the largest with some thirty times as many rows as the smallest.
fn table(folder: &Path, rows: u64) -> PathBuf {
    let mut text = String::from("tconst\taverageRating\tnumVotes\n");
    for i in 0..rows {
        let rating = [7, 6, 8, 7, 5, 7, 8, 6, 9, 4][(i % 10) as usize];
        let rating = match i % 97 {
            0 => 1,
            1 | 2 => 2,
            3..=5 => 3,
            6 | 7 => 10,
            _ => rating,
        };
        text += &format!("tt{:07}\t{rating}\t{i}\n", i * 7 % 10_000_019);
    }
    let path = folder.join("ratings.tsv");
    std::fs::write(&path, text).unwrap();
    path
}

fn shape(grouped: bool) -> Shape {
    let column = |name: &str| Some(Column::Name(name.into()));
    let by = if grouped { column("averageRating") } else { None };
    Shape { key: column("tconst"), by, round: grouped, ..Shape::default() }
}

fn build(p: f64, layout: Layout, family: Option<Family>) -> Build {
    let polynomial =
        family.is_some_and(|f| matches!(f, Family::PolynomialMod | Family::PolynomialWrap));
    let plan = Plan {
        n: None,
        p: Some(p),
        k: None,
        m: None,
        layout: Some(layout),
        family,
        // One for each probe at 1 %.
        seeds: polynomial.then(|| vec![31, 37, 41, 43, 47, 53, 59]),
        seed: 0,
        integers: false,
    };
    Build { plan, like: None, memory: 1 << 30 }
}

fn built_here(path: &Path, shape: &Shape, build: &Build) -> Vec<u8> {
    let driver = Driver {
        sources: vec![Source::new(path)],
        shape: shape.clone(),
        threads: 1,
        strict: false,
        meter: Arc::new(Meter::default()),
    };
    match shape.by {
        Some(_) => build.groups(&driver).unwrap().0.to_bytes().unwrap(),
        None => build.bloom(&driver).unwrap().0.to_bytes().unwrap(),
    }
}

/// The filters that so many mappers make, each of an equal stretch.
fn built_in_parts(
    here: &Here,
    path: &Path,
    shape: &Shape,
    build: &Build,
    by: (How, u64),
) -> Filters {
    let (how, mappers) = by;
    Jobs::new(Box::new(here), job(path, shape, mappers)).build(build, how).unwrap().0
}

fn job(path: &Path, shape: &Shape, mappers: u64) -> Job<'static> {
    let len = std::fs::metadata(path).unwrap().len();
    Job {
        name: "test".into(),
        inputs: vec![Location::parse(path)],
        members: Vec::new(),
        shape: shape.clone(),
        strict: false,
        cut: Cut::Bytes(len.div_ceil(mappers)),
        watch: &|_| (),
    }
}

fn to_bytes(filters: Filters) -> Vec<u8> {
    match filters {
        Filters::One(filter) => filter.to_bytes().unwrap(),
        Filters::Groups(groups) => groups.to_bytes().unwrap(),
    }
}

#[test]
fn every_way_gives_the_bytes_that_one_machine_makes() {
    let folder = tempfile::tempdir().unwrap();
    let path = table(folder.path(), 5000);
    let hashes = [
        (Layout::Blocked, None),
        (Layout::Classic, None),
        (Layout::Classic, Some(Family::Murmur2)),
        (Layout::Classic, Some(Family::Murmur3)),
        (Layout::Classic, Some(Family::PolynomialMod)),
        (Layout::Classic, Some(Family::PolynomialWrap)),
    ];
    for (layout, family) in hashes {
        let build = build(0.01, layout, family);
        for shape in [shape(false), shape(true)] {
            let expected = built_here(&path, &shape, &build);
            for how in [How::Shortest, How::Filters, How::Indexes] {
                for (mappers, reducers) in [(1, 1), (1, 3), (2, 1), (7, 2), (7, 5), (64, 1)] {
                    let here = Here { reducers, ..Here::default() };
                    let found = built_in_parts(&here, &path, &shape, &build, (how, mappers));
                    let case = format!("{layout} {family:?} {how:?} {mappers} {reducers}");
                    assert!(to_bytes(found) == expected, "{case}");
                }
            }
        }
    }
}

/// With all of them there is no job that sends filters; with some of them, or with a hash that needs the keys, it is as without.
#[test]
fn hashes_that_come_with_the_count_spare_a_job() {
    let folder = tempfile::tempdir().unwrap();
    let path = table(folder.path(), 5000);
    let cases = [(None, 0), (None, 5), (Some(Family::Murmur3), 0)];
    for ((family, seed), grouped) in cases.into_iter().flat_map(|c| [(c, false), (c, true)]) {
        let mut build = build(0.01, Layout::Classic, family);
        build.plan.seed = seed;
        let expected = built_here(&path, &shape(grouped), &build);
        for room in [10_000, 714, 10] {
            let here = Here { reducers: 2, room, ..Here::default() };
            let found = built_in_parts(&here, &path, &shape(grouped), &build, (How::Shortest, 7));
            let case = format!("{family:?} {seed} {grouped} {room}");
            assert!(to_bytes(found) == expected, "{case}");
            let spared = here.parts.load(Ordering::Relaxed) == 0;
            assert_eq!(spared, room == 10_000 && family.is_none(), "{case}");
        }
    }
}

/// Filters by group like others are of one job, unless a group is new; they have the bytes that one machine makes, also without a group that the
/// others have.
#[test]
fn filters_like_others_are_not_counted_first() {
    let folder = tempfile::tempdir().unwrap();
    let (path, shape) = (table(folder.path(), 5000), shape(true));
    for family in [None, Some(Family::Murmur2)] {
        let mut build = build(0.01, Layout::Classic, family);
        let here = Here { reducers: 2, ..Here::default() };
        let all = params_of(&built_in_parts(&here, &path, &shape, &build, (How::Shortest, 1)));
        let other = ("other".to_string(), all["7"].clone());
        let more = all.clone().into_iter().chain([other]).collect();
        let mut fewer = all.clone();
        fewer.remove("3");
        for (like, does) in
            [(all, vec!["build"]), (more, vec!["build"]), (fewer, vec!["count", "build"])]
        {
            build.like = Some(Like::Groups(like));
            for how in [How::Shortest, How::Filters, How::Indexes] {
                let mut jobs = Jobs::new(Box::new(&here), job(&path, &shape, 7));
                let found = jobs.build(&build, how).unwrap().0;
                assert!(to_bytes(found) == built_here(&path, &shape, &build), "{family:?} {how:?}");
                let done: Vec<&str> = jobs.reports().iter().map(|(does, _)| *does).collect();
                assert_eq!(done, does, "{family:?} {how:?}");
            }
        }
    }
}

/// What the plain ways send: a number and the indexes of each row; or of each group and mapper a number and the bits.
fn plain_ways(rows: u64, params: &BTreeMap<String, Params>, mappers: u64) -> (u64, u64) {
    let k = u64::from(params.values().next().unwrap().sizing().probes());
    let whole: u64 = params.values().map(|params| 8 + params.sizing().bits().div_ceil(8)).sum();
    (rows * (8 + 4 * k), mappers * whole)
}

fn params_of(filters: &Filters) -> BTreeMap<String, Params> {
    let params =
        |(name, filter): (&str, &umbel::Bloom)| (name.to_string(), filter.params().clone());
    match filters {
        Filters::One(filter) => BTreeMap::from([params(("", filter))]),
        Filters::Groups(groups) => groups.iter().map(params).collect(),
    }
}

/// Never more than the better of the plain ways and 64 bytes for each group and mapper; at 1 % with 8 mappers half of it at most.
#[test]
fn mappers_send_no_more_than_the_plain_ways() {
    let folder = tempfile::tempdir().unwrap();
    let rows = 60_000;
    let path = table(folder.path(), rows);
    let here = Here { reducers: 1, ..Here::default() };
    for (p, grouped) in
        [0.1, 0.01, 0.001, 0.0001, 0.00001].into_iter().flat_map(|p| [(p, true), (p, false)])
    {
        for mappers in [1, 2, 3, 4, 8, 16, 32, 64] {
            let build = build(p, Layout::Classic, None);
            let filters =
                built_in_parts(&here, &path, &shape(grouped), &build, (How::Shortest, mappers));
            let params = params_of(&filters);
            let parts = here.parts.load(Ordering::Relaxed);
            assert_eq!(parts, mappers * params.len() as u64, "a group is not everywhere");
            let (indexes, bits) = plain_ways(rows, &params, mappers);
            let (ours, better) = (here.weight.load(Ordering::Relaxed), indexes.min(bits));
            let case = format!(
                "p {p}, {mappers} mappers, {parts} parts: {ours} bytes; plain {indexes}, {bits}"
            );
            assert!(ours <= better + 64 * parts, "{case}");
            if p == 0.01 && mappers == 8 {
                assert!(2 * ours <= better, "{case}");
            }
        }
    }
}

#[test]
fn a_filter_without_keys_is_not_sent() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("empty.txt");
    std::fs::write(&path, "").unwrap();
    let here = Here { reducers: 1, ..Here::default() };
    let mut build = build(0.01, Layout::Blocked, None);
    build.plan.n = Some(100);
    let found = built_in_parts(&here, &path, &Shape::default(), &build, (How::Shortest, 1));
    assert_eq!(here.parts.load(Ordering::Relaxed), 0);
    assert!(to_bytes(found) == built_here(&path, &Shape::default(), &build));
}

#[test]
fn an_input_that_has_become_shorter_fails_the_job() {
    let folder = tempfile::tempdir().unwrap();
    let (path, build) = (table(folder.path(), 5000), build(0.01, Layout::Blocked, None));
    let here = Here { reducers: 1, ..Here::default() };
    let shrink = || {
        let text = std::fs::read(&path).unwrap();
        std::fs::write(&path, &text[..text.len() / 2]).unwrap();
    };
    for mappers in [1, 4] {
        let job = job(&path, &shape(false), mappers);
        let mut jobs = Jobs::new(Box::new(Meanwhile(&here, &shrink)), job);
        let said = jobs.build(&build, How::Shortest).err().map(|error| error.to_string());
        let changed = format!("{}: it has changed since the job was planned", path.display());
        assert!(said.as_ref().is_some_and(|said| said.starts_with(&changed)), "{said:?}");
    }
}
