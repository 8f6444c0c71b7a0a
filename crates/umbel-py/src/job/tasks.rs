//! What executors do.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyIterator};
use umbel::Counts;
use umbel::bloom::Coding;
use umbel_io::{Filters, Look, ReadAt, Remote, Source};
use umbel_job::job::{Counted, How, Order, Stretch, Work};
use umbel_job::lines::LinesFile;
use umbel_job::map::{Sink, Task, Tool};
use umbel_job::record::{Key, Record};
use umbel_job::reduce::{Combiner, Reducer};
use umbel_job::{Location, stretch};

use super::carrier::raise;
use super::frames::Handed;

/// Records, as Python carries them.
type Sent<'py> = Vec<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)>;

/// Does the work of an order on stretches of files, and returns the records that are to be united.
#[pyfunction]
#[pyo3(signature = (order, stretches, *, tool=None, lines=None))]
pub fn map_stretches<'py>(
    py: Python<'py>,
    order: &[u8],
    stretches: Vec<String>,
    tool: Option<PathBuf>,
    lines: Option<PathBuf>,
) -> PyResult<Sent<'py>> {
    let work = || {
        let worker = Worker::new(order, tool.as_deref(), lines.as_deref())?;
        let places: Vec<Stretch> =
            stretches.iter().map(|line| line.parse()).collect::<umbel_job::Result<_>>()?;
        worker.map(&places, |place| stretch::of(&worker.order, place))
    };
    py.detach(work).map_err(raise).map(|records| sent(py, records))
}

/// The same for a file that the engine has read.
#[pyfunction]
#[pyo3(signature = (order, stretch, content, *, tool=None, lines=None))]
pub fn map_content<'py>(
    py: Python<'py>,
    order: &[u8],
    stretch: &str,
    content: PyBackedBytes,
    tool: Option<PathBuf>,
    lines: Option<PathBuf>,
) -> PyResult<Sent<'py>> {
    let bytes = Arc::new(content);
    let work = || {
        let worker = Worker::new(order, tool.as_deref(), lines.as_deref())?;
        let place: Stretch = stretch.parse()?;
        let name = worker.order.input(place.input)?.path.clone();
        worker.map(&[place], |_| {
            let bytes = Arc::clone(&bytes);
            Ok(Source::remote(Arc::new(Content { name: name.clone(), bytes })))
        })
    };
    py.detach(work).map_err(raise).map(|records| sent(py, records))
}

/// The same for batches of (key, group or None, weight or None), Arrow arrays all of them: the rows of an input's partition.
#[pyfunction]
#[pyo3(signature = (order, place, batches, *, key=None, by=None, tool=None))]
pub fn map_batches<'py>(
    py: Python<'py>,
    order: &[u8],
    place: (usize, u64),
    batches: &Bound<'py, PyIterator>,
    key: Option<String>,
    by: Option<String>,
    tool: Option<PathBuf>,
) -> PyResult<Sent<'py>> {
    let several = by.is_some();
    let order = Order::from_json(order).map_err(raise)?;
    let (input, partition) = place;
    let name = order.input(input).map_err(raise)?.path.clone();
    let handed =
        Handed::new(name, Look { key, by, several, json: false }, batches.clone().unbind());
    let work = || {
        let worker = Worker::with(order, tool.as_deref(), None)?;
        // Partitions are told apart as stretches are.
        let place = Stretch { input, bytes: Some((partition, partition + 1)) };
        worker.map(&[place], |_| Ok(handed.source()))
    };
    let records = py.detach(work);
    handed.failure()?;
    records.map_err(raise).map(|records| sent(py, records))
}

/// Unites records, which come sorted by key; returns what they come to.
#[pyfunction]
#[pyo3(signature = (order, records, *, tool=None))]
pub fn reduce<'py>(
    py: Python<'py>,
    order: &[u8],
    records: &Bound<'py, PyIterator>,
    tool: Option<PathBuf>,
) -> PyResult<Sent<'py>> {
    let order = Order::from_json(order).map_err(raise)?;
    let filters = match (&order.work, tool) {
        (Work::Audit, Some(tool)) => {
            Some(Filters::map(&tool).map_err(|error| raise(error.into()))?)
        }
        _ => None,
    };
    let mut united = Vec::new();
    let mut out = |key: Key, value: &[u8]| {
        united.push((key, value.to_vec()));
        Ok(())
    };
    let mut reducer = Reducer::new(filters.as_ref());
    for record in records {
        let (key, value): (PyBackedBytes, PyBackedBytes) = record?.extract()?;
        let key = Key::from_bytes(&key)?;
        reducer.take(key, &value, &mut out).map_err(raise)?;
    }
    reducer.finish(&mut out).map_err(raise)?;
    Ok(sent(py, united))
}

fn sent(py: Python<'_>, records: Vec<Record>) -> Sent<'_> {
    let bytes = |bytes: &[u8]| PyBytes::new(py, bytes);
    records.into_iter().map(|(key, value)| (bytes(&key.to_bytes()), bytes(&value))).collect()
}

/// What a task works with.
struct Worker {
    order: Order,
    tool: Held,
    lines: Option<Location>,
}

/// What came in the file that goes with the job.
enum Held {
    None,
    Filters(Box<Filters>),
    Counts(Box<Counts>),
}

impl Worker {
    fn new(order: &[u8], tool: Option<&Path>, lines: Option<&Path>) -> umbel_job::Result<Worker> {
        Worker::with(Order::from_json(order)?, tool, lines)
    }

    fn with(order: Order, tool: Option<&Path>, lines: Option<&Path>) -> umbel_job::Result<Worker> {
        let tool = match (&order.work, tool) {
            (Work::Count, Some(tool)) => Held::Counts(Box::new(Counts::load(tool)?)),
            (Work::Screen { .. } | Work::Audit, Some(tool)) => {
                Held::Filters(Box::new(Filters::map(tool)?))
            }
            _ => Held::None,
        };
        Ok(Worker { order, tool, lines: lines.map(Location::parse) })
    }

    /// Maps all stretches. What can be united is united here: the less there is to carry.
    fn map(
        &self,
        places: &[Stretch],
        source: impl Fn(&Stretch) -> umbel_job::Result<Source>,
    ) -> umbel_job::Result<Vec<Record>> {
        let mut records = Vec::new();
        let mut out = |key: Key, value: &[u8]| {
            records.push((key, value.to_vec()));
            Ok(())
        };
        let mut order = self.order.clone();
        let mut coding = Coding::Shortest;
        if let Work::Build { how, .. } = &mut order.work {
            // Who asks for the indexes of every key wants to see them carried.
            if places.len() == 1 || *how == How::Indexes {
                for place in places {
                    self.map_one(&order, *place, source(place)?, &mut out)?;
                }
                return Ok(records);
            }
            if *how == How::Filters {
                coding = Coding::Bits;
            }
            // Between here and the combiner there is no way to save.
            *how = How::Filters;
        }
        let mut combiner = Combiner::new(coding);
        for place in places {
            let mut take = |key: Key, value: &[u8]| combiner.take(key, value, &mut out);
            self.map_one(&order, *place, source(place)?, &mut take)?;
        }
        combiner.finish(&mut out)?;
        Ok(records)
    }

    fn map_one(
        &self,
        order: &Order,
        stretch: Stretch,
        source: Source,
        out: &mut Sink,
    ) -> umbel_job::Result<Option<Counted>> {
        let mut lines = match &self.lines {
            Some(folder) => Some(LinesFile::create(folder, stretch)?),
            None => None,
        };
        let task = Task {
            order,
            stretch,
            source,
            // Executors run as many tasks as they have cores.
            threads: 1,
            tool: match &self.tool {
                Held::None => Tool::None,
                Held::Filters(filters) => Tool::Filters(filters),
                Held::Counts(counts) => Tool::Counts(counts),
            },
            lines: lines.as_mut().map(|lines| lines as &mut (dyn io::Write + Send)),
        };
        let counted = task.run(out)?;
        lines.map_or(Ok(()), LinesFile::commit)?;
        Ok(counted)
    }
}

/// A file that the engine has read.
#[derive(Debug)]
struct Content {
    name: String,
    bytes: Arc<PyBackedBytes>,
}

impl Remote for Content {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn size(&self) -> Option<u64> {
        Some(self.bytes.len() as u64)
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(io::Cursor::new(Shared(Arc::clone(&self.bytes)))))
    }

    fn places(&self) -> Option<Arc<dyn ReadAt>> {
        Some(Arc::new(Shared(Arc::clone(&self.bytes))))
    }
}

/// Bytes that several readers share.
struct Shared(Arc<PyBackedBytes>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl ReadAt for Shared {
    fn read_at(&self, buffer: &mut [u8], place: u64) -> io::Result<usize> {
        let start = usize::try_from(place).unwrap_or(usize::MAX).min(self.0.len());
        let len = buffer.len().min(self.0.len() - start);
        buffer[..len].copy_from_slice(&self.0[start..start + len]);
        Ok(len)
    }
}
