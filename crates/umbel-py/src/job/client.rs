//! Jobs from their inputs to their results, for `umbel.spark`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use umbel::Bloom;
use umbel::counts::{CountGroups, Sketch};
use umbel_io::audit::{Audited, judge_all};
use umbel_io::{Build, Column, Filters, Plan, Shape, Tally, remembered};
use umbel_job::job::{How, Keep};
use umbel_job::jobs::{Event, Job, Report};
use umbel_job::plan::Cut;
use umbel_job::{Jobs, Location};

use super::carrier::{PyCarrier, raise};
use crate::file;
use crate::groups::Groups;
use crate::sizing::{Sizing, named_family, named_layout};

/// What jobs read, how, and who carries them: an object with these attributes.
#[derive(FromPyObject)]
pub struct Setup {
    carrier: Py<PyAny>,
    name: String,
    inputs: Vec<PathBuf>,
    key: Option<String>,
    by: Option<String>,
    round: bool,
    weight: Option<String>,
    delimiter: Option<String>,
    header: bool,
    integers: bool,
    strict: bool,
    /// About so many stretches of files, where none gets below or above these bytes.
    parts: u64,
    least: u64,
    most: u64,
}

/// How filters are sized: an object with these attributes.
#[derive(FromPyObject)]
pub struct Wishes {
    n: Option<u64>,
    p: Option<f64>,
    k: Option<u32>,
    m: Option<u64>,
    layout: Option<String>,
    hash: String,
    seeds: Option<Vec<u32>>,
    seed: u64,
    integers: bool,
}

impl Wishes {
    fn plan(&self) -> PyResult<Plan> {
        Ok(Plan {
            n: self.n,
            p: self.p,
            k: self.k,
            m: self.m,
            layout: named_layout(self.layout.as_deref())?,
            family: named_family(&self.hash)?,
            seeds: self.seeds.clone(),
            seed: self.seed,
            integers: self.integers,
        })
    }
}

impl Setup {
    fn shape(&self) -> PyResult<Shape> {
        let column = |text: &Option<String>| -> PyResult<Option<Column>> {
            text.as_ref().map(|text| text.parse().map_err(PyValueError::new_err)).transpose()
        };
        let delimiter = match self.delimiter.as_deref().map(str::as_bytes) {
            None => None,
            Some([byte]) => Some(*byte),
            Some(_) => return Err(PyValueError::new_err("a delimiter is a single character")),
        };
        Ok(Shape {
            key: column(&self.key)?,
            by: column(&self.by)?,
            round: self.round,
            weight: column(&self.weight)?,
            delimiter,
            header: self.header,
            integers: self.integers,
            ..Shape::default()
        })
    }

    /// Runs jobs, and tells what they have told.
    fn run<T: Send>(
        &self,
        py: Python<'_>,
        shape: Shape,
        work: impl FnOnce(&mut Jobs) -> umbel_job::Result<(T, Tally)> + Send,
    ) -> PyResult<(T, Tally, Told)> {
        let carrier = PyCarrier::new(self.carrier.clone_ref(py));
        let Setup { parts, least, most, strict, .. } = *self;
        let (name, cut) = (self.name.clone(), Cut::Parts { parts, least, most });
        let inputs = self.inputs.iter().map(|path| Location::parse(path)).collect();
        let carry = carrier.clone();
        let done = py.detach(|| {
            let watch = |_: Event| ();
            let job = Job { name, inputs, members: Vec::new(), shape, strict, cut, watch: &watch };
            let mut jobs = Jobs::new(Box::new(carry), job);
            let done = work(&mut jobs);
            done.map(|(result, tally)| (result, tally, jobs.reports().to_vec()))
        });
        let (result, tally, reports) = done.map_err(|error| carrier.exception(error))?;
        let told = Told::new(&tally, reports);
        Ok((result, tally, told))
    }
}

/// What jobs have told, beside their result.
#[derive(IntoPyObject)]
pub struct Told {
    rows: u64,
    malformed: u64,
    /// Where the first malformed row stands, and what is wrong with it.
    first: Option<String>,
    jobs: Vec<JobTold>,
}

#[derive(IntoPyObject)]
struct JobTold {
    does: &'static str,
    id: String,
    seconds: f64,
    maps: u64,
    bytes: u64,
}

impl Told {
    fn new(tally: &Tally, reports: Vec<(&'static str, Report)>) -> Told {
        let job = |(does, report): (&'static str, Report)| JobTold {
            does,
            seconds: report.time.as_secs_f64(),
            maps: report.maps,
            bytes: report.map_output_bytes,
            id: report.id,
        };
        let first = tally.first_malformed.as_ref();
        Told {
            rows: tally.rows,
            malformed: tally.malformed,
            first: first.map(|(place, reason)| format!("{place}: {reason}")),
            jobs: reports.into_iter().map(job).collect(),
        }
    }
}

/// Group, rows and size of what would be built.
type Line = (Option<String>, u64, Sizing);

/// What filters would cost: a line for each group, in their order; without groups, for each layout to choose from.
#[pyfunction]
pub fn parameters(py: Python<'_>, setup: Setup, wishes: Wishes) -> PyResult<(Vec<Line>, Told)> {
    let (plan, shape) = (wishes.plan()?, setup.shape()?);
    let grouped = shape.by.is_some();
    let (lines, _, told) = setup.run(py, shape, |jobs| {
        let (census, tally) = jobs.census()?;
        if !grouped {
            let (rows, sizings) = (census.all.rows(), plan.sizings(census.all.n())?);
            let line = |sizing| (None, rows, Sizing(sizing));
            return Ok((sizings.into_iter().map(line).collect(), tally));
        }
        let mut groups: Vec<_> = census.groups.into_iter().collect();
        groups.sort_by(|(a, _), (b, _)| umbel::groups::compare_names(a, b));
        let line = |(name, distinct): (String, umbel::distinct::Distinct)| {
            let sizing = plan.params(plan.n.unwrap_or(distinct.n()))?.sizing();
            Ok((Some(name), distinct.rows(), Sizing(sizing)))
        };
        let lines = groups.into_iter().map(line).collect::<umbel_job::Result<Vec<Line>>>()?;
        Ok((lines, tally))
    })?;
    Ok((lines, told))
}

/// Builds a filter, or one for each group; the same bytes as the command's. Returns it, what the jobs have told, and which filters hold more keys
/// than they were sized for.
#[pyfunction]
pub fn build<'py>(
    py: Python<'py>,
    setup: Setup,
    wishes: Wishes,
    how: Option<&str>,
    metadata: BTreeMap<String, String>,
) -> PyResult<(Bound<'py, PyAny>, Told, Vec<String>)> {
    let how = match how {
        None => How::Shortest,
        Some("indexes") => How::Indexes,
        Some("filters") => How::Filters,
        Some(other) => {
            return Err(PyValueError::new_err(format!(
                "how is \"indexes\", \"filters\" or None, not {other:?}"
            )));
        }
    };
    check_names(&metadata)?;
    let shape = setup.shape()?;
    let build = Build { plan: wishes.plan()?, like: None, memory: 0 };
    // What cannot be done is said before the work, not behind it.
    build.plan.params(build.plan.n.unwrap_or(1)).map_err(|error| raise(error.into()))?;
    let (filters, tally, told) = setup.run(py, shape.clone(), |jobs| jobs.build(&build, how))?;
    let overfull = py.detach(|| overfull(&filters));
    let remember = |own: &mut umbel::Metadata| {
        metadata.iter().for_each(|(name, value)| own.set(name, value));
        remembered::write(own, &shape, &tally.look);
    };
    let object = match filters {
        Filters::One(mut filter) => {
            remember(filter.metadata_mut());
            file::object(py, crate::bloom::Bloom::new(filter))
        }
        Filters::Groups(mut groups) => {
            remember(groups.metadata_mut());
            file::object(py, Groups::new(groups))
        }
    };
    Ok((object?, told, overfull))
}

fn overfull(filters: &Filters) -> Vec<String> {
    let group = |(name, filter): (&str, &Bloom)| {
        filter.overfull().map(|overfull| format!("group {name}: {overfull}"))
    };
    match filters {
        Filters::One(filter) => filter.overfull().iter().map(ToString::to_string).collect(),
        Filters::Groups(groups) => groups.iter().filter_map(group).collect(),
    }
}

/// Counts into counts like those of an empty file; the same bytes as the command's.
#[pyfunction]
pub fn count<'py>(
    py: Python<'py>,
    setup: Setup,
    empty: PathBuf,
    metadata: BTreeMap<String, String>,
) -> PyResult<(Bound<'py, PyAny>, Told)> {
    check_names(&metadata)?;
    let empty = umbel::Counts::load(empty).map_err(crate::error::raise)?;
    let mut shape = setup.shape()?;
    if let Some(Sketch::Ranges(ranges)) = empty.sketch() {
        shape.interval = Some((ranges.params().lo(), ranges.params().hi()));
    }
    let grouped = shape.by.is_some();
    let (mut all, tally, told) = setup.run(py, shape.clone(), |jobs| jobs.count(&empty))?;
    let remember = |own: &mut umbel::Metadata| {
        metadata.iter().for_each(|(name, value)| own.set(name, value));
        remembered::write(own, &shape, &tally.look);
    };
    let bytes = if grouped {
        let mut groups = CountGroups::default();
        for (name, counts) in all {
            groups.set(name, counts).map_err(crate::error::raise)?;
        }
        remember(groups.metadata_mut());
        groups.to_bytes()
    } else {
        let mut counts = all.pop_first().map_or(empty, |(_, counts)| counts);
        remember(counts.metadata_mut());
        counts.to_bytes()
    };
    let bytes = bytes.map_err(crate::error::raise)?;
    let made = file::from_bytes(py, pyo3::types::PyBytes::new(py, &bytes).into())?;
    Ok((made, told))
}

/// Refuses names that are umbel's own.
fn check_names(metadata: &BTreeMap<String, String>) -> PyResult<()> {
    match metadata.keys().find(|name| name.starts_with(remembered::PREFIX)) {
        None => Ok(()),
        Some(name) => Err(PyValueError::new_err(format!(
            "metadata {name:?}: names that begin with {} are umbel's own",
            remembered::PREFIX
        ))),
    }
}

/// Screens the lines of files with the filters of a file, and keeps those that are wanted in a new folder, where one is named. Returns the
/// number of rows admitted.
#[pyfunction]
pub fn screen(
    py: Python<'_>,
    setup: Setup,
    filter: PathBuf,
    group: Option<&str>,
    output: Option<PathBuf>,
    rejected: bool,
) -> PyResult<(u64, Told)> {
    let keep = if rejected { Keep::Rejected } else { Keep::Admitted };
    let folder = output.map(|folder| Location::parse(&folder));
    let (admitted, _, told) = setup.run(py, setup.shape()?, |jobs| {
        let summary = jobs.screen(&filter, group, folder.as_ref().map(|folder| (keep, folder)))?;
        Ok((summary.admitted, summary.tally))
    })?;
    Ok((admitted, told))
}

/// What an audit has found of one filter.
#[derive(IntoPyObject)]
pub struct Found {
    group: Option<String>,
    true_positives: u64,
    false_positives: u64,
    true_negatives: u64,
    false_negatives: u64,
    rate: Option<f64>,
    interval: (f64, f64),
    rate_from_bits: f64,
    promised_rate: Option<f64>,
    chance: Option<f64>,
    holds: bool,
}

/// Groups of the table that have no filter, with their different keys.
type Missing = Vec<(String, u64)>;

/// Audits the filters of a file: exact counts, and a verdict on each. `members` has the keys of a single one.
#[pyfunction]
pub fn audit(
    py: Python<'_>,
    setup: Setup,
    filter: PathBuf,
    members: Option<PathBuf>,
    confidence: f64,
) -> PyResult<(Vec<Found>, Missing, Told)> {
    let filters = py.detach(|| Filters::map(&filter)).map_err(|error| raise(error.into()))?;
    let mut shape = setup.shape()?;
    remembered::read(filters.metadata(), &mut shape);
    let grouped = matches!(filters, Filters::Groups(_));
    if grouped && shape.by.is_none() {
        return Err(PyValueError::new_err(
            "the filters do not remember the group's column: give by",
        ));
    }
    if !grouped {
        (shape.by, shape.round) = (None, false);
    }
    shape.integers = filters.holds_integers();
    let named: Vec<(Option<String>, &Bloom)> = match &filters {
        Filters::One(filter) => vec![(None, filter)],
        Filters::Groups(groups) => {
            groups.iter().map(|(name, filter)| (Some(name.into()), filter)).collect()
        }
    };
    let members = members.map(|path| Location::parse(&path));
    let (Audited { counts, missing, .. }, _, told) = setup.run(py, shape, |jobs| {
        let audited = jobs.audit(&filter, named.len(), members)?;
        let tally = audited.tally.clone();
        Ok((audited, tally))
    })?;
    let (names, ones): (Vec<_>, Vec<_>) = named.into_iter().unzip();
    let judged = py.detach(|| judge_all(&ones, &counts, confidence, 1));
    let judged = judged.map_err(|error| raise(error.into()))?;
    let found = names.into_iter().zip(counts).zip(judged).map(|((group, counts), judged)| Found {
        group,
        true_positives: counts.true_positives,
        false_positives: counts.false_positives,
        true_negatives: counts.true_negatives,
        false_negatives: counts.false_negatives,
        rate: counts.rate(),
        interval: judged.interval,
        rate_from_bits: judged.verdict.from_bits,
        promised_rate: judged.verdict.promised,
        chance: judged.verdict.chance,
        holds: judged.verdict.holds,
    });
    Ok((found.collect(), missing, told))
}

/// The columns that a file remembers: key, by and round.
#[pyfunction]
pub fn remembered_columns(
    metadata: BTreeMap<String, String>,
) -> (Option<String>, Option<String>, bool) {
    let mut own = umbel::Metadata::default();
    metadata.iter().for_each(|(name, value)| own.set(name, value));
    let mut shape = Shape::default();
    remembered::read(&own, &mut shape);
    let text = |column: Option<Column>| column.map(|column| column.to_string());
    (text(shape.key), text(shape.by), shape.round)
}

/// Takes away what is unfinished: for a program that ends before its jobs do.
#[pyfunction]
pub fn abandon(py: Python<'_>) {
    py.detach(umbel_job::unfinished::end);
}
