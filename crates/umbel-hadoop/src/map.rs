//! The mapper: reads one stretch of the input and sends its parts.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::sync::Arc;

use umbel::bloom::{Coding, Indexes, SLICE_BITS};
use umbel::{Bloom, Counts, Params};
use umbel_io::audit::parts::{self, Place};
use umbel_io::build::{census, insert_all, insert_groups};
use umbel_io::screen::{Summary, Wanted, screen};
use umbel_io::{Batch, Driver, Filters, Meter, Source, Tally, count};

use crate::hdfs::HdfsPath;
use crate::job::{Counted, FILTER, How, Keep, Order, SKETCH, Stretch, Work};
use crate::record::{self, Key, Kind};
use crate::{Error, Result, input, stretch};

/// How the names of files with kept lines begin.
pub(crate) const LINES: &str = "lines-";
/// Bytes of rows that are kept in memory before they are sent.
const MEMORY: usize = 256 << 20;

/// Does the work of one mapper. What the data is to blame for is sent as the result; whatever might pass another time is an error.
pub fn run(order: &Order) -> Result<()> {
    let mut out = Sender(io::BufWriter::with_capacity(1 << 20, io::stdout()));
    match work(order, &mut out) {
        Err(error) if !error.may_pass() => {
            out.send(Key::new(Kind::Fault, ""), error.to_string().as_bytes())?
        }
        other => other?,
    }
    out.0.flush().map_err(Error::io("stdout"))
}

fn work<W: Write + Send>(order: &Order, out: &mut Sender<W>) -> Result<()> {
    let (place, source) = source(order)?;
    let copied_header = place.bytes.is_some_and(|(start, _)| start > 0)
        && !order.inputs[place.input].header.is_empty();
    let driver = Driver {
        sources: vec![source],
        shape: order.columns.shape()?,
        threads: threads(),
        strict: order.strict,
        meter: Arc::new(Meter::default()),
    };
    let mut admitted = 0;
    let tally = match &order.work {
        Work::Census => send_census(&driver, out)?,
        Work::Build { how, filters } => {
            let params = filters.iter().map(|(name, plan)| Ok((name.clone(), plan.params()?)));
            let params = params.collect::<Result<BTreeMap<_, _>>>()?;
            send_filters(&driver, *how, &params, out)?
        }
        Work::Count => send_counts(&driver, out)?,
        Work::Screen { group, keep } => {
            let summary = send_lines(&driver, group.as_deref(), *keep, place)?;
            admitted = summary.admitted;
            summary.tally
        }
        Work::Audit => {
            let members = order.inputs[place.input].members;
            let filters = Filters::open(FILTER.as_ref(), driver.threads)?;
            parts::send_rows(&filters, &driver, members, MEMORY, |at, rows| {
                out.send_rows(at, rows)
            })?
        }
    };
    send_tally(place, copied_header, &tally, admitted, out)
}

/// What this mapper reads: the lines of the pipe, or what the only line of the pipe says.
fn source(order: &Order) -> Result<(Stretch, Source)> {
    let input = |place: usize| {
        order
            .inputs
            .get(place)
            .ok_or_else(|| Error::other("the manifest names no input of this job"))
    };
    if order.piped {
        let (place, start) = piped_place(order)?;
        let (path, header) = (&input(place)?.path, &input(place)?.header);
        let stretch = Stretch { input: place, bytes: Some((start, u64::MAX)) };
        return Ok((stretch, stretch::piped(path.clone(), start, header)));
    }
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).map_err(Error::io("stdin"))?;
    let place: Stretch = line.trim_end().parse()?;
    let from = input(place.input)?;
    let path = parse(&from.path)?;
    let source = match place.bytes {
        Some((start, end)) => stretch::source(&path, start, end, &from.header)?,
        None => input::source(&path),
    };
    Ok((place, source))
}

/// Which input the lines of the pipe are from, and where they begin: Streaming tells by its environment.
fn piped_place(order: &Order) -> Result<(usize, u64)> {
    let variable = |name: &str| {
        std::env::var(name).map_err(|_| Error::other(format!("Hadoop does not say {name}")))
    };
    let file = variable("mapreduce_map_input_file")?;
    let path = HdfsPath::parse(file.as_ref()).map_or(file.clone(), |path| path.path().into());
    let is_it = |known: &str| parse(known).is_ok_and(|known| known.path() == path);
    let place = order.inputs.iter().position(|input| is_it(&input.path));
    let start = variable("mapreduce_map_input_start")?.parse().unwrap_or(0);
    Ok((place.ok_or_else(|| Error::other(format!("{file} is no input of this job")))?, start))
}

fn parse(path: &str) -> Result<HdfsPath> {
    HdfsPath::parse(path.as_ref()).ok_or_else(|| Error::other(format!("{path}: not on HDFS")))
}

/// As many threads as the container has cores.
fn threads() -> usize {
    let cores = std::env::var("mapreduce_map_cpu_vcores").ok().and_then(|text| text.parse().ok());
    cores.unwrap_or(1).clamp(1, 64)
}

/// Where records go.
struct Sender<W>(W);

impl<W: Write> Sender<W> {
    fn send(&mut self, key: Key, value: &[u8]) -> Result<()> {
        record::write(&mut self.0, &key, value).map_err(Error::io("stdout"))
    }

    fn send_rows(&mut self, at: Place, rows: &[u8]) -> umbel_io::Result<()> {
        let key = match at {
            Place::Bucket(slice) => Key { kind: Kind::Rows, slice, group: String::new() },
            Place::Missing(group, slice) => Key { kind: Kind::Missing, slice, group: group.into() },
        };
        record::write(&mut self.0, &key, rows).map_err(umbel_io::Error::io("stdout"))
    }
}

/// Sends what was counted, so that the client has it once from each stretch; and tells Hadoop's counters.
fn send_tally<W: Write>(
    place: Stretch,
    copied_header: bool,
    tally: &Tally,
    admitted: u64,
    out: &mut Sender<W>,
) -> Result<()> {
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
    let counts =
        [("rows", counted.rows), ("malformed", counted.malformed), ("admitted", counted.admitted)];
    for (name, count) in
        counts.into_iter().filter(|(name, count)| *name != "admitted" || *count > 0)
    {
        eprintln!("reporter:counter:umbel,{name},{count}");
    }
    let value = serde_json::to_vec(&counted).map_err(|error| Error::other(error.to_string()))?;
    out.send(Key::new(Kind::Tally, ""), &value)
}

fn send_census<W: Write>(driver: &Driver, out: &mut Sender<W>) -> Result<Tally> {
    let (census, tally) = census(driver)?;
    if driver.shape.by.is_none() {
        out.send(Key::new(Kind::Distinct, ""), &census.all.to_bytes())?;
    }
    for (name, distinct) in census.groups {
        out.send(Key::new(Kind::Distinct, &name), &distinct.to_bytes())?;
    }
    Ok(tally)
}

fn send_filters<W: Write + Send>(
    driver: &Driver,
    how: How,
    filters: &BTreeMap<String, Params>,
    out: &mut Sender<W>,
) -> Result<Tally> {
    let coding = match how {
        How::Indexes => return send_indexes(driver, filters, out),
        How::Filters => Coding::Bits,
        How::Shortest => Coding::Shortest,
    };
    if driver.shape.by.is_some() {
        let (groups, tally) = insert_groups(driver, filters)?;
        for (name, filter) in groups.iter().filter(|(_, filter)| filter.inserted() != Some(0)) {
            send_filter(name, filter, coding, out)?;
        }
        return Ok(tally);
    }
    let params = filters.get("").ok_or_else(|| Error::other("the order has no filter"))?;
    let (filter, tally) = insert_all(driver, params.clone())?;
    send_filter("", &filter, coding, out)?;
    Ok(tally)
}

fn send_filter<W: Write>(
    name: &str,
    filter: &Bloom,
    coding: Coding,
    out: &mut Sender<W>,
) -> Result<()> {
    for slice in 0..filter.slices() {
        let key = Key { kind: Kind::Slice, slice: slice as u32, group: name.into() };
        out.send(key, &filter.partial(slice).to_bytes(coding))?;
    }
    Ok(())
}

fn send_counts<W: Write>(driver: &Driver, out: &mut Sender<W>) -> Result<Tally> {
    let empty = Counts::load(SKETCH)?;
    if driver.shape.by.is_none() {
        let (counts, tally) = count::count(driver, &empty)?;
        out.send(Key::new(Kind::Counts, ""), &counts.to_bytes()?)?;
        return Ok(tally);
    }
    let (groups, tally) = count::count_groups(driver, &empty)?;
    for (name, counts) in groups.iter() {
        out.send(Key::new(Kind::Counts, name), &counts.to_bytes()?)?;
    }
    Ok(tally)
}

/// Screens the rows. Lines that are kept go to a file in the folder of this attempt, which Hadoop moves to the job's output
/// if it is this attempt that counts.
fn send_lines(
    driver: &Driver,
    group: Option<&str>,
    keep: Option<Keep>,
    place: Stretch,
) -> Result<Summary> {
    let filters = match (Filters::open(FILTER.as_ref(), driver.threads)?, group) {
        (Filters::Groups(groups), Some(name)) => Filters::One(groups.get(name)?.clone()),
        (filters, _) => filters,
    };
    let wanted =
        Wanted { admitted: keep == Some(Keep::Admitted), rejected: keep == Some(Keep::Rejected) };
    let mut out = keep
        .map(|_| lines_file(place)?.create())
        .transpose()?
        .map(|writer| io::BufWriter::with_capacity(1 << 20, writer));
    let summary = screen(driver, &filters, None, wanted, |lines| {
        let lines = if wanted.admitted { &lines.admitted } else { &lines.rejected };
        let written = out.as_mut().map_or(Ok(()), |out| out.write_all(lines));
        written.map_err(umbel_io::Error::io("the file of kept lines"))
    })?;
    if let Some(out) = out {
        out.into_inner().map_err(|error| Error::io("lines")(error.into_error()))?.close()?;
    }
    Ok(summary)
}

/// Where the kept lines of a stretch go: names in the order of the input.
fn lines_file(place: Stretch) -> Result<HdfsPath> {
    let folder = std::env::var("mapreduce_task_output_dir")
        .map_err(|_| Error::other("Hadoop does not say mapreduce_task_output_dir"))?;
    let start = place.bytes.map_or(0, |(start, _)| start);
    Ok(parse(&folder)?.join(&format!("{LINES}{:06}-{start:020}", place.input)))
}

/// The bits of every key, as they come.
fn send_indexes<W: Write + Send>(
    driver: &Driver,
    filters: &BTreeMap<String, Params>,
    out: &mut Sender<W>,
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
                out.send(Key { kind: Kind::Slice, slice: slice as u32, group }, &value)
            });
            sent.map_err(|error| umbel_io::Error::Other(error.to_string()))
        },
    )?;
    Ok(outcome.tally)
}

/// The indexes of a batch by the number of the group, and slice.
fn gather_indexes(
    batch: &Batch,
    known: &[Option<Params>],
) -> umbel_io::Result<BTreeMap<(u32, u64), Indexes>> {
    let changed =
        || umbel_io::Error::Other("the input has changed while it was read: a group is new".into());
    let mut gathered: BTreeMap<(u32, u64), Indexes> = BTreeMap::new();
    for (i, row) in batch.rows().iter().enumerate() {
        let group = batch.groups().get(i).copied().unwrap_or(0);
        let params = known.get(group as usize).and_then(Option::as_ref).ok_or_else(changed)?;
        // The number of insert calls goes with the first slice.
        gathered.entry((group, 0)).or_default().count_insert();
        params.for_each_bit(batch.key(row), |bit| {
            let slice = gathered.entry((group, bit / SLICE_BITS)).or_default();
            slice.push((bit % SLICE_BITS) as u32);
        });
    }
    Ok(gathered)
}
