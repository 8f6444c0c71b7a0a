//! The mapper: reads one stretch of the input and sends its parts.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use umbel::bloom::{Coding, Indexes, SLICE_BITS};
use umbel::{Bloom, Counts, Params};
use umbel_io::audit::parts::{self, Place};
use umbel_io::build::{Census, Hashes, census, census_keeping, insert_all, insert_groups};
use umbel_io::screen::{Summary, Wanted, screen};
use umbel_io::{Batch, Driver, Filters, Meter, Source, Tally, count};

use crate::job::{Counted, How, Keep, Order, Stretch, Work};
use crate::record::{Key, Kind};
use crate::{Error, Result};

/// Bytes of rows that are kept in memory before they are sent.
const MEMORY: usize = 256 << 20;

/// The work of one mapper.
pub struct Task<'a> {
    /// What to do.
    pub order: &'a Order,
    /// Which part of the input this is.
    pub stretch: Stretch,
    /// The part.
    pub source: Source,
    /// Threads to work with.
    pub threads: usize,
    /// What came in the file that goes with the job.
    pub tool: Tool<'a>,
    /// Where kept lines go, if any are.
    pub lines: Option<&'a mut (dyn Write + Send)>,
}

/// What a mapper works with.
pub enum Tool<'a> {
    /// Nothing is needed.
    None,
    /// Filters to ask.
    Filters(&'a Filters),
    /// Empty counts to fill.
    Counts(&'a Counts),
}

/// Takes a record.
pub type Sink<'a> = dyn FnMut(Key, &[u8]) -> Result<()> + Send + 'a;

impl Task<'_> {
    /// Does the work. What the data is to blame for is sent as the result, and nothing was counted; whatever might pass another time is an
    /// error.
    pub fn run(self, out: &mut Sink) -> Result<Option<Counted>> {
        match self.work(out) {
            Err(Error::Input(umbel_io::Error::NewGroup)) => {
                out(Key::new(Kind::NewGroup, ""), b"")?;
                Ok(None)
            }
            Err(error) if !error.may_pass() => {
                out(Key::new(Kind::Fault, ""), error.to_string().as_bytes())?;
                Ok(None)
            }
            done => done.map(Some),
        }
    }

    fn work(self, out: &mut Sink) -> Result<Counted> {
        let Task { order, stretch, source, threads, tool, lines } = self;
        let input = order.input(stretch.input)?;
        input.check()?;
        let copied_header =
            stretch.bytes.is_some_and(|(start, _)| start > 0) && !input.header.is_empty();
        let driver = Driver {
            sources: vec![source],
            shape: order.columns.shape()?,
            threads,
            strict: order.strict,
            meter: Arc::new(Meter::default()),
        };
        let mut admitted = 0;
        let tally = match &order.work {
            Work::Census => {
                let (census, tally) = census(&driver)?;
                send_census(&driver, census, out)?;
                tally
            }
            Work::Gather { seed, most } => {
                let (census, hashes, tally) = census_keeping(&driver, *seed, *most)?;
                send_census(&driver, census, out)?;
                send_hashes(hashes.unwrap_or_default(), out)?;
                tally
            }
            Work::Build { how, filters } => {
                let params = filters.iter().map(|(name, plan)| Ok((name.clone(), plan.params()?)));
                let params = params.collect::<Result<BTreeMap<_, _>>>()?;
                send_filters(&driver, *how, &params, out)?
            }
            Work::Count => send_counts(&driver, tool.counts()?, out)?,
            Work::Screen { group, keep } => {
                let summary = keep_lines(&driver, tool.filters()?, group.as_deref(), *keep, lines)?;
                admitted = summary.admitted;
                summary.tally
            }
            Work::Audit => {
                parts::send_rows(tool.filters()?, &driver, input.members, MEMORY, |at, rows| {
                    send_rows(at, rows, out)
                })?
            }
        };
        send_tally(stretch, copied_header, &tally, admitted, out)
    }
}

impl<'a> Tool<'a> {
    fn filters(&self) -> Result<&'a Filters> {
        match self {
            Tool::Filters(filters) => Ok(filters),
            _ => Err(Error::other("the job has no filters to ask")),
        }
    }

    fn counts(&self) -> Result<&'a Counts> {
        match self {
            Tool::Counts(counts) => Ok(counts),
            _ => Err(Error::other("the job has no counts to fill")),
        }
    }
}

fn send_rows(at: Place, rows: &[u8], out: &mut Sink) -> umbel_io::Result<()> {
    let key = match at {
        Place::Bucket(slice) => Key { kind: Kind::Rows, slice, group: String::new() },
        Place::Missing(group, slice) => Key { kind: Kind::Missing, slice, group: group.into() },
    };
    out(key, rows).map_err(passed_on)
}

/// An error of ours on its way through the driver.
fn passed_on(error: Error) -> umbel_io::Error {
    match error {
        Error::Io { name, source } => umbel_io::Error::io(name)(source),
        Error::Input(error) => error,
        other => umbel_io::Error::Other(other.to_string()),
    }
}

/// Sends what was counted, so that the client has it once from each stretch.
fn send_tally(
    place: Stretch,
    copied_header: bool,
    tally: &Tally,
    admitted: u64,
    out: &mut Sink,
) -> Result<Counted> {
    let extra = u64::from(copied_header);
    let start = place.bytes.map_or(0, |(start, _)| start);
    let look = tally.look.clone();
    let counted = Counted {
        input: place.input,
        start,
        look: (start == 0 && tally.lines > 0).then_some((look.key, look.by, look.several)),
        lines: tally.lines.saturating_sub(extra),
        rows: tally.rows,
        malformed: tally.malformed,
        admitted,
        first: tally.first_malformed.as_ref().map(|(place, reason)| {
            (place.number.saturating_sub(extra), place.unit.into(), (*reason).into())
        }),
    };
    out(Key::new(Kind::Tally, ""), &counted.to_bytes())?;
    Ok(counted)
}

fn send_census(driver: &Driver, census: Census, out: &mut Sink) -> Result<()> {
    if driver.shape.by.is_none() {
        out(Key::new(Kind::Distinct, ""), &census.all.to_bytes())?;
    }
    for (name, distinct) in census.groups {
        out(Key::new(Kind::Distinct, &name), &distinct.to_bytes())?;
    }
    Ok(())
}

fn send_hashes(hashes: Hashes, out: &mut Sink) -> Result<()> {
    for (name, hashes) in hashes {
        let bytes: Vec<u8> = hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect();
        out(Key::new(Kind::Hashes, &name), &bytes)?;
    }
    Ok(())
}

fn send_filters(
    driver: &Driver,
    how: How,
    filters: &BTreeMap<String, Params>,
    out: &mut Sink,
) -> Result<Tally> {
    let coding = match how {
        How::Indexes => return send_indexes(driver, filters, out),
        How::Filters => Coding::Bits,
        How::Shortest => Coding::Shortest,
    };
    if driver.shape.by.is_some() {
        let (groups, tally) = insert_groups(driver, filters)?;
        groups.iter().try_for_each(|(name, filter)| send_filter(name, filter, coding, out))?;
        return Ok(tally);
    }
    let params = filters.get("").ok_or_else(|| Error::other("the order has no filter"))?;
    let (filter, tally) = insert_all(driver, params.clone())?;
    send_filter("", &filter, coding, out)?;
    Ok(tally)
}

/// Nothing is sent of a filter that has no keys.
fn send_filter(name: &str, filter: &Bloom, coding: Coding, out: &mut Sink) -> Result<()> {
    if filter.inserted() == Some(0) {
        return Ok(());
    }
    for slice in 0..filter.slices() {
        let key = Key { kind: Kind::Slice, slice: slice as u32, group: name.into() };
        out(key, &filter.partial(slice).to_bytes(coding))?;
    }
    Ok(())
}

fn send_counts(driver: &Driver, empty: &Counts, out: &mut Sink) -> Result<Tally> {
    if driver.shape.by.is_none() {
        let (counts, tally) = count::count(driver, empty)?;
        out(Key::new(Kind::Counts, ""), &counts.to_bytes()?)?;
        return Ok(tally);
    }
    let (groups, tally) = count::count_groups(driver, empty)?;
    for (name, counts) in groups.iter() {
        out(Key::new(Kind::Counts, name), &counts.to_bytes()?)?;
    }
    Ok(tally)
}

/// Screens the rows, and writes the lines that are kept.
fn keep_lines(
    driver: &Driver,
    filters: &Filters,
    group: Option<&str>,
    keep: Option<Keep>,
    mut out: Option<&mut (dyn Write + Send)>,
) -> Result<Summary> {
    let one = match (filters, group) {
        (Filters::Groups(groups), Some(name)) => Some(Filters::One(groups.get(name)?.clone())),
        _ => None,
    };
    let wanted =
        Wanted { admitted: keep == Some(Keep::Admitted), rejected: keep == Some(Keep::Rejected) };
    Ok(screen(driver, one.as_ref().unwrap_or(filters), None, wanted, |lines| {
        let lines = if wanted.admitted { &lines.admitted } else { &lines.rejected };
        let written = out.as_mut().map_or(Ok(()), |out| out.write_all(lines));
        written.map_err(umbel_io::Error::io("the file of kept lines"))
    })?)
}

/// The bits of every key, as they come.
fn send_indexes(
    driver: &Driver,
    filters: &BTreeMap<String, Params>,
    out: &mut Sink,
) -> Result<Tally> {
    let outcome = driver.run(
        Vec::new,
        |known: &mut Vec<Option<Params>>, batch| {
            for name in &batch.group_names()[known.len().min(batch.group_names().len())..] {
                known.push(filters.get(name).cloned());
            }
            if batch.groups().is_empty() && known.is_empty() {
                known.push(filters.get("").cloned());
            }
            let name = |group: u32| batch.group_names().get(group as usize).map_or("", |name| name);
            let gathered = gather_indexes(batch, known)?.into_iter();
            Ok(gathered
                .map(|((group, slice), part)| (name(group).to_string(), slice, part))
                .collect())
        },
        |gathered: Vec<(String, u64, Indexes)>| {
            let sent = gathered.into_iter().try_for_each(|(group, slice, indexes)| {
                let value = indexes.to_bytes(&filters[&group], slice);
                out(Key { kind: Kind::Slice, slice: slice as u32, group }, &value)
            });
            sent.map_err(passed_on)
        },
    )?;
    Ok(outcome.tally)
}

/// The indexes of a batch by the number of the group, and slice.
fn gather_indexes(
    batch: &Batch,
    known: &[Option<Params>],
) -> umbel_io::Result<BTreeMap<(u32, u64), Indexes>> {
    let mut gathered: BTreeMap<(u32, u64), Indexes> = BTreeMap::new();
    for (i, row) in batch.rows().enumerate() {
        let group = batch.groups().get(i).copied().unwrap_or(0);
        let params = known.get(group as usize).and_then(Option::as_ref);
        let params = params.ok_or(umbel_io::Error::NewGroup)?;
        // The number of insert calls goes with the first slice.
        gathered.entry((group, 0)).or_default().count_insert();
        params.for_each_bit(batch.key(&row), |bit| {
            let slice = gathered.entry((group, bit / SLICE_BITS)).or_default();
            slice.push((bit % SLICE_BITS) as u32);
        });
    }
    Ok(gathered)
}
