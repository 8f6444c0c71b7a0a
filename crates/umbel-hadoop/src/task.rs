//! Mapper and reducer between Hadoop's pipes, in the folder of their container.

use std::io::{self, BufRead, Write};

use serde::{Deserialize, Serialize};
use umbel::Counts;
use umbel_io::{Filters, Source};
use umbel_job::job::{Counted, How, Stretch, Work};
use umbel_job::map::{self, Tool};
use umbel_job::record::{self, Key};
use umbel_job::reduce::Reducer;
use umbel_job::{HdfsPath, Order, lines, stretch};

use crate::{Error, Result, message};

/// The order's file, in the folder that a task works in.
pub(crate) const ORDER: &str = "job.json";
/// The file that goes with the job, in the same folder.
pub(crate) const TOOL: &str = "tool.umbel";

/// What a task is told.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Told {
    /// What to do.
    pub order: Order,
    /// Whether lines come from the pipe; else a line of the manifest says what to read.
    pub piped: bool,
    /// The folder on HDFS where a task that gives up leaves its message.
    pub messages: String,
}

impl Told {
    /// What stands in the task's folder.
    pub fn read() -> Result<Told> {
        let text = std::fs::read(ORDER).map_err(Error::io(ORDER))?;
        serde_json::from_slice(&text).map_err(|error| Error::other(format!("{ORDER}: {error}")))
    }

    /// The text of the file.
    pub(crate) fn to_json(&self) -> Result<Vec<u8>> {
        serde_json::to_vec_pretty(self).map_err(|error| Error::other(error.to_string()))
    }

    /// Does the work of one mapper.
    pub fn map(&self) -> Result<()> {
        let (stretch, source) = self.source()?;
        let threads = threads();
        let order = &fitting(self.order.clone(), threads as u64, memory())?;
        let (filters, counts);
        let tool = match &order.work {
            Work::Census | Work::Gather { .. } | Work::Build { .. } => Tool::None,
            Work::Count => {
                counts = Counts::load(TOOL)?;
                Tool::Counts(&counts)
            }
            Work::Screen { .. } | Work::Audit => {
                filters = Filters::open(TOOL.as_ref(), threads)?;
                Tool::Filters(&filters)
            }
        };
        let mut lines = match order.work {
            Work::Screen { keep: Some(_), .. } => Some(lines_file(stretch)?.create()?),
            _ => None,
        }
        .map(|writer| io::BufWriter::with_capacity(1 << 20, writer));
        let task = map::Task {
            order,
            stretch,
            source,
            threads,
            tool,
            lines: lines.as_mut().map(|lines| lines as &mut (dyn Write + Send)),
        };
        let mut pipe = io::BufWriter::with_capacity(1 << 20, io::stdout());
        let counted = task.run(&mut |key, value| send(&mut pipe, &key, value))?;
        if let Some(lines) = lines {
            lines.into_inner().map_err(|error| Error::io("lines")(error.into_error()))?.close()?;
        }
        counted.iter().for_each(tell);
        pipe.flush().map_err(Error::io("stdout"))
    }

    /// Does the work of one reducer: what comes from the pipe is sorted by key.
    pub fn reduce(&self) -> Result<()> {
        let filters = match self.order.work {
            Work::Audit => Some(Filters::open(TOOL.as_ref(), 1)?),
            _ => None,
        };
        let mut from = io::BufReader::with_capacity(1 << 20, io::stdin().lock());
        let mut pipe = io::BufWriter::with_capacity(1 << 20, io::stdout());
        let mut out = |key: Key, value: &[u8]| send(&mut pipe, &key, value);
        let mut reducer = Reducer::new(filters.as_ref());
        while let Some((key, value)) = record::read(&mut from).map_err(Error::io("stdin"))? {
            reducer.take(key, &value, &mut out)?;
        }
        reducer.finish(&mut out)?;
        pipe.flush().map_err(Error::io("stdout"))
    }

    /// Leaves a message where the client finds it, if that can be done.
    pub fn leave(&self, text: &str) {
        let attempt = std::env::var("mapreduce_task_attempt_id").unwrap_or_else(|_| "task".into());
        if let Some(folder) = HdfsPath::parse(self.messages.as_ref()) {
            let _ = message::leave(&folder, &attempt, text);
        }
    }

    /// What this mapper reads: the lines of the pipe, or what the only line of the pipe says.
    fn source(&self) -> Result<(Stretch, Source)> {
        if self.piped {
            let (place, start) = piped_place(&self.order)?;
            let input = self.order.input(place)?;
            let stretch = Stretch { input: place, bytes: Some((start, u64::MAX)) };
            return Ok((stretch, stretch::piped(input.path.clone(), start, &input.header)));
        }
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line).map_err(Error::io("stdin"))?;
        let place: Stretch = line.trim_end().parse()?;
        Ok((place, stretch::of(&self.order, &place)?))
    }
}

fn send(pipe: &mut impl Write, key: &Key, value: &[u8]) -> Result<()> {
    record::write(pipe, key, value).map_err(Error::io("stdout"))
}

/// Tells Hadoop's counters. The client does not rely on them: an attempt that is repeated counts twice.
fn tell(counted: &Counted) {
    let counts =
        [("rows", counted.rows), ("malformed", counted.malformed), ("admitted", counted.admitted)];
    for (name, count) in
        counts.into_iter().filter(|(name, count)| *name != "admitted" || *count > 0)
    {
        eprintln!("reporter:counter:umbel,{name},{count}");
    }
}

/// Which input the lines of the pipe are from, and where they begin: Streaming tells by its environment.
fn piped_place(order: &Order) -> Result<(usize, u64)> {
    let file = variable("mapreduce_map_input_file")?;
    let path = HdfsPath::parse(file.as_ref()).map_or(file.clone(), |path| path.path().into());
    let is_it = |known: &str| parse(known).is_ok_and(|known| known.path() == path);
    let place = order.inputs.iter().position(|input| is_it(&input.path));
    let start = variable("mapreduce_map_input_start")?.parse().unwrap_or(0);
    Ok((place.ok_or_else(|| Error::other(format!("{file} is no input of this job")))?, start))
}

/// Where the kept lines of a stretch go: to a file in the folder of this attempt, which Hadoop moves to the job's output if it is this
/// attempt that counts.
fn lines_file(place: Stretch) -> Result<HdfsPath> {
    let folder = variable("mapreduce_task_output_dir")?;
    Ok(parse(&folder)?.join(&lines::file_name(place)))
}

fn variable(name: &str) -> Result<String> {
    std::env::var(name).map_err(|_| Error::other(format!("Hadoop does not say {name}")))
}

fn parse(path: &str) -> Result<HdfsPath> {
    HdfsPath::parse(path.as_ref()).ok_or_else(|| Error::other(format!("{path}: not on HDFS")))
}

/// As many threads as the container has cores.
fn threads() -> usize {
    let cores = std::env::var("mapreduce_map_cpu_vcores").ok().and_then(|text| text.parse().ok());
    cores.unwrap_or(1).clamp(1, 64)
}

/// Bytes of memory that the container has, where Hadoop says so.
fn memory() -> Option<u64> {
    let megabytes = std::env::var("mapreduce_map_memory_mb").ok()?;
    megabytes.parse().ok().filter(|&megabytes| megabytes > 0).map(|megabytes: u64| megabytes << 20)
}

/// The order, as a container with this memory can do it. A mapper whose filters would take more than a quarter (Hadoop's own side of the task is in there too) keeps none, and
/// sends the bits of each key as they come: so its memory does not bound the size of a filter.
fn fitting(mut order: Order, threads: u64, memory: Option<u64>) -> Result<Order> {
    if let (Work::Build { how, filters }, Some(memory)) = (&mut order.work, memory)
        && *how == How::Shortest
    {
        let params = filters.values().map(|plan| Ok(plan.params()?.sizing().bytes()));
        let bytes = params.sum::<Result<u64>>()?;
        if bytes.saturating_mul(threads) > memory / 4 {
            *how = How::Indexes;
        }
    }
    Ok(order)
}

#[cfg(test)]
mod tests {
    use umbel::{Params, Sizing};
    use umbel_job::job::FilterPlan;

    use super::*;

    #[test]
    fn filters_that_do_not_fit_are_sent_as_indexes() {
        let params = Params::new(Sizing::with(1 << 27, 1 << 30, 5).unwrap());
        let filters = [("".to_string(), FilterPlan::from(&params))].into();
        let order = Order {
            work: Work::Build { how: How::Shortest, filters },
            columns: Default::default(),
            strict: false,
            inputs: Vec::new(),
        };
        let way = |order: Order, threads, megabytes: Option<u64>| match fitting(
            order,
            threads,
            megabytes.map(|mb| mb << 20),
        )
        .unwrap()
        .work
        {
            Work::Build { how, .. } => how,
            _ => panic!("another work"),
        };
        // 128 MiB of bits.
        assert_eq!(way(order.clone(), 1, None), How::Shortest);
        assert_eq!(way(order.clone(), 1, Some(512)), How::Shortest);
        assert_eq!(way(order.clone(), 1, Some(511)), How::Indexes);
        assert_eq!(way(order.clone(), 4, Some(1024)), How::Indexes);
        let Work::Build { filters, .. } = order.work.clone() else { panic!("another work") };
        let asked = Order { work: Work::Build { how: How::Filters, filters }, ..order };
        assert_eq!(way(asked, 1, Some(16)), How::Filters);
    }
}
