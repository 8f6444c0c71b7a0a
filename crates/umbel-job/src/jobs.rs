//! Jobs from their inputs to their results, whoever carries them.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use umbel::bloom::Partial;
use umbel::distinct::Distinct;
use umbel::{Bloom, Counts, Groups, Keys, Params};
use umbel_io::audit::Audited;
use umbel_io::build::{Census, Hashes, Like};
use umbel_io::screen::Summary;
use umbel_io::{Build, Filters, Shape, Tally, count};

use crate::job::{FilterPlan, How, Keep, Order, Stretch, Work};
use crate::location::Location;
use crate::plan::{Cut, Prepared};
use crate::record::{Kind, Record};
use crate::results::{counted, tally};
use crate::unfinished::Unfinished;
use crate::{Error, Result};

/// Bytes of filters for which there is a reducer more, and the most reducers that are chosen without being asked for.
const A_REDUCER: u64 = 64 << 20;
const REDUCERS: u64 = 8;

/// An engine, as jobs see it.
pub trait Carrier {
    /// Has the tasks of an order done, and brings back what the reducers have sent. Parts of filters and distinct counts may come as mappers have sent them.
    fn carry(&self, freight: &Freight, watch: &dyn Fn(Event)) -> Result<Carried>;

    /// How many hashes each mapper may send with what it counts: where all come, filters need no second job. None where that is the longer way.
    fn room(&self) -> Result<usize> {
        Ok(0)
    }

    /// The files at a place.
    fn files(&self, at: &Location) -> Result<Vec<Location>> {
        at.files()
    }

    /// Moves the lines that the last job has kept to a new folder, in the order of the input.
    fn publish(&self, to: &Location) -> Result<()>;
}

/// What is carried to the tasks of one job.
pub struct Freight<'a> {
    /// What the job is called where jobs are listed.
    pub name: &'a str,
    /// What to do.
    pub order: &'a Order,
    /// What mappers read, one each or several.
    pub stretches: &'a [Stretch],
    /// Reducers that seem right; 0 where nothing is to be united.
    pub reducers: u32,
    /// The file that goes with the job: filters to ask, or empty counts.
    pub file: Option<&'a Location>,
    /// The new folder for lines that are kept, if any are.
    pub lines: Option<&'a Location>,
    /// Bytes that what comes back may take, about.
    pub bytes: u64,
}

/// What has come back.
#[derive(Debug)]
pub struct Carried {
    /// The records.
    pub records: Vec<Record>,
    /// What the engine tells.
    pub report: Report,
}

/// What happens while a job runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// It has got this name.
    Started(String),
    /// It has come so far.
    Progress(String),
    /// It has ended.
    Ended(&'static str, u64, Report),
}

/// What is known of a job that has ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Its name on the cluster.
    pub id: String,
    /// From submitting to the end.
    pub time: Duration,
    /// Mappers.
    pub maps: u64,
    /// Bytes that left the mappers.
    pub map_output_bytes: u64,
    /// The engine's own counters, by their names.
    pub counters: BTreeMap<String, u64>,
}

/// What jobs read, and how.
pub struct Job<'a> {
    /// What they are called where jobs are listed.
    pub name: String,
    /// What is read.
    pub inputs: Vec<Location>,
    /// For the audit of one filter: files with the keys that were inserted.
    pub members: Vec<Location>,
    /// How records are read.
    pub shape: Shape,
    /// Whether a row that cannot be used is an error.
    pub strict: bool,
    /// How texts are shared out.
    pub cut: Cut,
    /// Is told what happens.
    pub watch: &'a dyn Fn(Event),
}

/// Jobs over the same inputs.
pub struct Jobs<'a> {
    carrier: Box<dyn Carrier + 'a>,
    job: Job<'a>,
    /// Those that have ended: what each has done, and what is known of it.
    reports: Vec<(&'static str, Report)>,
}

impl<'a> Jobs<'a> {
    /// Jobs that this engine carries.
    pub fn new(carrier: Box<dyn Carrier + 'a>, job: Job<'a>) -> Jobs<'a> {
        Jobs { carrier, job, reports: Vec::new() }
    }

    /// The jobs that have ended.
    pub fn reports(&self) -> &[(&'static str, Report)] {
        &self.reports
    }

    /// Counts rows and distinct keys.
    pub fn census(&mut self) -> Result<(Census, Tally)> {
        let (census, _, tally) = self.gather("count", Work::Census)?;
        Ok((census, tally))
    }

    /// What was counted, and the hashes that have come with it.
    fn gather(&mut self, what: &'static str, work: Work) -> Result<(Census, Hashes, Tally)> {
        let Ran { records, tally, .. } = self.run(what, work, 1, None, None)?;
        let (mut census, mut hashes) = (Census::default(), Hashes::new());
        for (key, value) in records {
            match key.kind {
                Kind::Distinct => {
                    let counted = match self.job.shape.by {
                        None => &mut census.all,
                        Some(_) => census.groups.entry(key.group).or_default(),
                    };
                    counted.merge(&Distinct::from_bytes(&value)?);
                }
                Kind::Hashes => {
                    let (words, _) = value.as_chunks();
                    let words = words.iter().map(|word| u64::from_le_bytes(*word));
                    hashes.entry(key.group).or_default().extend(words);
                }
                _ => {}
            }
        }
        Ok((census, hashes, tally))
    }

    /// Builds filters, sized as they would be on one machine.
    pub fn build(&mut self, build: &Build, how: How) -> Result<(Filters, Tally)> {
        if self.job.shape.by.is_some() {
            let (filters, tally) = match self.fill_alike(build, how)? {
                Some(done) => done,
                None => self.size_and_fill(build, how)?,
            };
            let mut groups = Groups::default();
            for (name, filter) in filters {
                groups.set(&name, filter)?;
            }
            return Ok((Filters::Groups(groups), tally));
        }
        let (mut filters, tally) = match build.known()? {
            Some(params) => self.fill(how, &BTreeMap::from([(String::new(), params)]))?,
            None => self.size_and_fill(build, how)?,
        };
        let filter = filters.remove("");
        let filter = filter.ok_or_else(|| Error::other("the job has made no filter"))?;
        Ok((Filters::One(filter), tally))
    }

    /// Filters by group, like others: their parameters are known, and nothing is counted first. None where there are no others, or
    /// where the input has a group that they have not.
    fn fill_alike(&mut self, build: &Build, how: How) -> Result<Option<(Named, Tally)>> {
        let Some(Like::Groups(like)) = &build.like else { return Ok(None) };
        match self.fill(how, like) {
            Ok((mut filters, tally)) => {
                filters.retain(|_, filter| filter.inserted() != Some(0));
                Ok(Some((filters, tally)))
            }
            Err(Error::Input(umbel_io::Error::NewGroup)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Filters by group, or one under the empty name, whose n is counted first.
    fn size_and_fill(&mut self, build: &Build, how: How) -> Result<(Named, Tally)> {
        // Who asks for a way to send filters wants to see it gone.
        let room = match how == How::Shortest && build.like.is_none() && build.plan.hashes_once() {
            true => self.carrier.room()?,
            false => 0,
        };
        let (census, hashes, tally) = match room {
            0 => self.gather("count", Work::Census)?,
            most => self.gather("gather", Work::Gather { seed: build.plan.seed, most })?,
        };
        let params = match self.job.shape.by {
            Some(_) => build.params_of(&census.groups)?,
            None => BTreeMap::from([(String::new(), build.plan.params(census.all.n())?)]),
        };
        let kept: usize = hashes.values().map(Vec::len).sum();
        match kept as u64 == tally.rows {
            true => Ok((filled(&params, &hashes)?, tally)),
            false => self.fill(how, &params),
        }
    }

    /// Builds filters of these parameters: one for each group, or one under the empty name.
    fn fill(&mut self, how: How, params: &BTreeMap<String, Params>) -> Result<(Named, Tally)> {
        let filters = params.iter().map(|(name, params)| (name.clone(), FilterPlan::from(params)));
        let work = Work::Build { how, filters: filters.collect() };
        let reducers = (1 + work.bytes()? / A_REDUCER).min(REDUCERS) as u32;
        let Ran { records, tally, .. } = self.run("build", work, reducers, None, None)?;
        let mut filters = filled(params, &Hashes::new())?;
        for (key, value) in records.into_iter().filter(|(key, _)| key.kind == Kind::Slice) {
            let filter = filters.get_mut(&key.group).ok_or_else(|| {
                Error::other(format!(
                    "the job has made a filter for {:?}, which was not asked for",
                    key.group
                ))
            })?;
            filter.merge_partial(key.slice.into(), &Partial::from_bytes(&value)?)?;
        }
        Ok((filters, tally))
    }

    /// Counts into counts like `empty`: by group, or under the empty name.
    pub fn count(&mut self, empty: &Counts) -> Result<(BTreeMap<String, Counts>, Tally)> {
        if count::depends_on_order(empty) {
            return Err(Error::other(
                "conservative counts and heavy hitters depend on the order of the keys, which a cluster does not keep: leave them out, or count here",
            ));
        }
        let (local, _unfinished) = Unfinished::temporary()?;
        let sketch = local.join("sketch.umbel");
        empty.save(&sketch)?;
        let file = Location::Local(sketch);
        let Ran { records, tally, .. } = self.run("count", Work::Count, 1, Some(&file), None)?;
        let mut all = BTreeMap::new();
        for (key, value) in records.into_iter().filter(|(key, _)| key.kind == Kind::Counts) {
            all.insert(key.group, Counts::from_bytes(&value)?);
        }
        if self.job.shape.by.is_none() {
            all.entry(String::new()).or_insert_with(|| empty.clone());
        }
        Ok((all, tally))
    }

    /// Screens rows with the filters of a file. Kept lines become files in a new folder, in the order of the input.
    pub fn screen(
        &mut self,
        filter: &Path,
        group: Option<&str>,
        keep: Option<(Keep, &Location)>,
    ) -> Result<Summary> {
        if let Some((_, folder)) = keep
            && folder.exists()?
        {
            return Err(Error::other(format!(
                "{folder}: it exists already: choose another, or remove it"
            )));
        }
        let work = Work::Screen { group: group.map(Into::into), keep: keep.map(|(keep, _)| keep) };
        let lines = keep.map(|(_, folder)| folder);
        let ran = self.run("screen", work, 0, Some(&Location::parse(filter)), lines)?;
        let time = self.reports.last().map(|(_, report)| report.time).unwrap_or_default();
        Ok(Summary { tally: ran.tally, admitted: ran.admitted, time })
    }

    /// Audits the filters of a file, which are so many; `members` has the keys of a single one.
    pub fn audit(
        &mut self,
        filter: &Path,
        filters: usize,
        members: Option<Location>,
    ) -> Result<Audited> {
        self.job.members = members.into_iter().collect();
        let ran = self.run("audit", Work::Audit, 1, Some(&Location::parse(filter)), None)?;
        let mut counts = vec![umbel::audit::Counts::default(); filters];
        let mut missing: BTreeMap<String, u64> = BTreeMap::new();
        for (key, value) in ran.records {
            match key.kind {
                Kind::Audited => add_counts(&mut counts, &value)?,
                Kind::Missing => {
                    let keys = value.try_into().map(u64::from_le_bytes);
                    *missing.entry(key.group).or_default() += keys.unwrap_or(0);
                }
                _ => {}
            }
        }
        let mut missing: Vec<_> = missing.into_iter().collect();
        missing.sort_by(|(a, _), (b, _)| umbel::groups::compare_names(a, b));
        Ok(Audited { counts, missing, tally: ran.tally })
    }

    /// Runs a job.
    fn run(
        &mut self,
        what: &'static str,
        work: Work,
        reducers: u32,
        file: Option<&Location>,
        lines: Option<&Location>,
    ) -> Result<Ran> {
        let bytes = work.bytes()?;
        let Prepared { inputs, stretches, .. } =
            Prepared::new(&self.job, &*self.carrier, lines.is_some())?;
        // A mapper knows only its own lines: the client says where the first malformed one stands.
        let order = Order { work, columns: (&self.job.shape).into(), strict: false, inputs };
        let freight = Freight {
            name: &self.job.name,
            order: &order,
            stretches: &stretches,
            reducers,
            file,
            lines,
            bytes,
        };
        let Carried { records, report } = self.carrier.carry(&freight, self.job.watch)?;
        if let Some((_, text)) = records.iter().find(|(key, _)| key.kind == Kind::Fault) {
            return Err(Error::Other(String::from_utf8_lossy(text).into()));
        }
        if records.iter().any(|(key, _)| key.kind == Kind::NewGroup) {
            return Err(umbel_io::Error::NewGroup.into());
        }
        let counted = counted(&records)?;
        let tally = tally(self.job.strict, &order.inputs, &counted)?;
        if let Some(to) = lines {
            self.carrier.publish(to)?;
        }
        (self.job.watch)(Event::Ended(what, tally.rows, report.clone()));
        self.reports.push((what, report));
        let admitted = counted.iter().map(|part| part.admitted).sum();
        Ok(Ran { records, tally, admitted })
    }
}

/// Filters by name.
type Named = BTreeMap<String, Bloom>;

/// Filters of these parameters, with these keys in them.
fn filled(params: &BTreeMap<String, Params>, hashes: &Hashes) -> Result<Named> {
    let fill = |(name, params): (&String, &Params)| {
        let mut filter = Bloom::with(params.clone())?;
        if let Some(hashes) = hashes.get(name) {
            filter.insert_batch(Keys::Hashes(hashes))?;
        }
        Ok((name.clone(), filter))
    };
    params.iter().map(fill).collect()
}

/// What came of a job, not yet put together.
struct Ran {
    records: Vec<Record>,
    tally: Tally,
    admitted: u64,
}

fn add_counts(counts: &mut [umbel::audit::Counts], value: &[u8]) -> Result<()> {
    let numbers: Vec<[u64; 4]> = serde_json::from_slice(value)
        .map_err(|error| Error::other(format!("a reducer's counts cannot be read: {error}")))?;
    for (counts, numbers) in counts.iter_mut().zip(numbers) {
        let [true_positives, false_positives, true_negatives, false_negatives] = numbers;
        *counts += umbel::audit::Counts {
            true_positives,
            false_positives,
            true_negatives,
            false_negatives,
        };
    }
    Ok(())
}
