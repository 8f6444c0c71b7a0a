//! Jobs from their inputs to their results.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use umbel::bloom::Partial;
use umbel::distinct::Distinct;
use umbel::{Bloom, Counts, Params};
use umbel_io::audit::Audited;
use umbel_io::build::Census;
use umbel_io::{Driver, Meter, ReadAt, Remote, Shape, Source, Tally, count};

use crate::hdfs::HdfsPath;
use crate::job::{self, FilterPlan, How, Input, Keep, Order, Stretch, Work};
use crate::record::{Kind, Record};
use crate::results::{counted, message, read_output, tally};
use crate::submit::{Event, Hadoop, Report};
use crate::{Error, Result, input, map};

/// Bytes that one mapper reads, where nobody says how many lines: a block of HDFS.
const STRETCH: u64 = 128 << 20;
/// Bytes of filters for which there is a reducer more, and the most reducers that are chosen without being asked for.
const A_REDUCER: u64 = 64 << 20;
const REDUCERS: u64 = 8;
/// The longest header.
const HEADER: usize = 1 << 20;

/// A cluster to run jobs on, with a folder on HDFS for what they need meanwhile; it is removed in the end.
pub struct Cluster {
    hadoop: Hadoop,
    scratch: HdfsPath,
}

/// What a job reads, and how.
pub struct Job<'a> {
    /// What it is called where jobs are listed.
    pub name: String,
    /// Files on HDFS.
    pub inputs: Vec<HdfsPath>,
    /// For the audit of one filter: files with the keys that were inserted.
    pub members: Vec<HdfsPath>,
    /// How records are read.
    pub shape: Shape,
    /// Whether a row that cannot be used is an error.
    pub strict: bool,
    /// Lines for each mapper, which get them from Hadoop; else mappers read HDFS themselves.
    pub lines_per_split: Option<u64>,
    /// The number of reducers.
    pub reducers: Option<u32>,
    /// Is told what happens.
    pub watch: &'a dyn Fn(Event),
}

/// What came of a job.
#[derive(Debug)]
pub struct Done<T> {
    /// Its result.
    pub result: T,
    /// Rows.
    pub tally: Tally,
    /// What Hadoop tells.
    pub report: Report,
}

impl Cluster {
    /// The cluster that this machine's Hadoop belongs to. What jobs need goes to the NameNode of this path.
    pub fn find(near: &HdfsPath) -> Result<Cluster> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let name = format!("/tmp/umbel-{}-{}", std::process::id(), now.as_nanos());
        Ok(Cluster { hadoop: Hadoop::find()?, scratch: near.with_path(name) })
    }

    /// Counts rows and distinct keys.
    pub fn census(&self, job: &Job) -> Result<Done<Census>> {
        let Ran { records, tally, report, .. } = self.run(job, Work::Census, 1, &[], None)?;
        let mut census = Census::default();
        for (key, value) in records.into_iter().filter(|(key, _)| key.kind == Kind::Distinct) {
            let distinct = Distinct::from_bytes(&value)?;
            match job.shape.by {
                None => census.all = distinct,
                Some(_) => _ = census.groups.insert(key.group, distinct),
            }
        }
        Ok(Done { result: census, tally, report })
    }

    /// Builds filters of these parameters: one for each group, or one under the empty name.
    pub fn build(
        &self,
        job: &Job,
        how: How,
        params: &BTreeMap<String, Params>,
    ) -> Result<Done<BTreeMap<String, Bloom>>> {
        let bytes: u64 = params.values().map(|params| params.sizing().bytes()).sum();
        let reducers = (1 + bytes / A_REDUCER).min(REDUCERS) as u32;
        let filters = params.iter().map(|(name, params)| (name.clone(), FilterPlan::from(params)));
        let work = Work::Build { how, filters: filters.collect() };
        let Ran { records, tally, report, .. } = self.run(job, work, reducers, &[], None)?;
        let empty =
            params.iter().map(|(name, params)| Ok((name.clone(), Bloom::with(params.clone())?)));
        let mut filters = empty.collect::<Result<BTreeMap<_, _>>>()?;
        for (key, value) in records.into_iter().filter(|(key, _)| key.kind == Kind::Slice) {
            let filter = filters.get_mut(&key.group).ok_or_else(|| {
                Error::other(format!(
                    "the job has made a filter for {:?}, which was not asked for",
                    key.group
                ))
            })?;
            filter.merge_partial(key.slice.into(), &Partial::from_bytes(&value)?)?;
        }
        Ok(Done { result: filters, tally, report })
    }

    /// Counts into counts like `empty`: by group, or under the empty name.
    pub fn count(&self, job: &Job, empty: &Counts) -> Result<Done<BTreeMap<String, Counts>>> {
        if count::depends_on_order(empty) {
            return Err(Error::other(
                "conservative counts and heavy hitters depend on the order of the keys, which a cluster does not keep: leave them out, or count here",
            ));
        }
        let local = tempfile::tempdir().map_err(Error::io("a temporary folder"))?;
        let sketch = local.path().join(job::SKETCH);
        empty.save(&sketch)?;
        let ran = self.run(job, Work::Count, 1, &[named_file(&sketch, job::SKETCH)], None)?;
        let mut all = BTreeMap::new();
        for (key, value) in ran.records.into_iter().filter(|(key, _)| key.kind == Kind::Counts) {
            all.insert(key.group, Counts::from_bytes(&value)?);
        }
        if job.shape.by.is_none() {
            all.entry(String::new()).or_insert_with(|| empty.clone());
        }
        Ok(Done { result: all, tally: ran.tally, report: ran.report })
    }

    /// Screens rows with the filters of a file. Kept lines become files in a new folder, in the order of the input. The result is the
    /// number of rows admitted.
    pub fn screen(
        &self,
        job: &Job,
        filter: &Path,
        group: Option<&str>,
        keep: Option<(Keep, &HdfsPath)>,
    ) -> Result<Done<u64>> {
        if let Some((_, folder)) = keep
            && folder.status()?.is_some()
        {
            return Err(Error::other(format!(
                "{folder}: it exists already: choose another, or remove it"
            )));
        }
        let work = Work::Screen { group: group.map(Into::into), keep: keep.map(|(keep, _)| keep) };
        let ran = self.run(job, work, 0, &[shared_file(filter)], keep.map(|(_, folder)| folder))?;
        Ok(Done { result: ran.admitted, tally: ran.tally, report: ran.report })
    }

    /// Audits the filters of a file, which are so many.
    pub fn audit(&self, job: &Job, filter: &Path, filters: usize) -> Result<Done<Audited>> {
        let ran = self.run(job, Work::Audit, 1, &[shared_file(filter)], None)?;
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
        let audited = Audited { counts, missing, tally: ran.tally.clone() };
        Ok(Done { result: audited, tally: ran.tally, report: ran.report })
    }

    /// Runs a job, with further files in the tasks' folder.
    fn run(
        &self,
        job: &Job,
        work: Work,
        reducers: u32,
        further: &[OsString],
        lines: Option<&HdfsPath>,
    ) -> Result<Ran> {
        let prepared = Prepared::new(job)?;
        let folder = self.scratch.join("job");
        folder.remove()?;
        let order = Order {
            work,
            columns: (&job.shape).into(),
            // A mapper knows only its own lines: the client says where the first malformed one stands.
            strict: false,
            inputs: prepared.inputs,
            piped: job.lines_per_split.is_some(),
            messages: folder.join("messages").to_string(),
        };
        folder.join("messages").make_folder()?;
        let manifest = folder.join("manifest");
        if job.lines_per_split.is_none() {
            let lines = prepared.stretches.iter().map(|stretch| format!("{stretch}\n"));
            manifest.write(lines.collect::<String>().as_bytes())?;
        }
        let local = tempfile::tempdir().map_err(Error::io("a temporary folder"))?;
        let order_file = local.path().join(job::FILE);
        std::fs::write(&order_file, order.to_json()?).map_err(Error::io(order_file.display()))?;
        let output = folder.join("output");
        let inputs = match job.lines_per_split {
            Some(_) => order.inputs.iter().map(|input| input.path.clone()).collect(),
            None => vec![manifest.to_string()],
        };
        let command = own_command()?;
        let own = [named_file(&order_file, job::FILE), named_file(&command, "umbel")];
        let conf = self.hadoop.conf().iter().map(|file| file.clone().into_os_string());
        let files = own.into_iter().chain(conf).chain(further.iter().cloned());
        let arguments = Arguments {
            name: &job.name,
            lines: job.lines_per_split.unwrap_or(1),
            // Where nothing is to be united there are none.
            reducers: if reducers == 0 { 0 } else { job.reducers.unwrap_or(reducers) },
            files: files.collect(),
            inputs,
            output: output.to_string(),
        };
        let report = self.hadoop.run(&arguments.list(), job.watch).map_err(|error| {
            // A task's own words tell more than Hadoop's of it.
            message(&folder.join("messages")).unwrap_or(error)
        })?;
        let records = read_output(&output)?;
        if let Some((_, text)) = records.iter().find(|(key, _)| key.kind == Kind::Fault) {
            return Err(Error::Other(String::from_utf8_lossy(text).into()));
        }
        let counted = counted(&records)?;
        let tally = tally(job.strict, &order.inputs, &counted)?;
        if let Some(to) = lines {
            publish_lines(&output, to)?;
        }
        folder.remove()?;
        let admitted = counted.iter().map(|part| part.admitted).sum();
        Ok(Ran { records, tally, report, admitted })
    }
}

/// What came of a job, not yet put together.
struct Ran {
    records: Vec<Record>,
    tally: Tally,
    report: Report,
    admitted: u64,
}

/// The command that travels with the job: this one, unless another program has brought it along.
fn own_command() -> Result<PathBuf> {
    let command = std::env::current_exe().map_err(Error::io("the umbel command"))?;
    match command.file_name().is_some_and(|name| name.to_string_lossy().starts_with("umbel")) {
        true => Ok(command),
        false => Err(Error::other(format!(
            "{}: a job carries the umbel command with it, and this is another program: run umbel itself",
            command.display()
        ))),
    }
}

/// A file of this machine under a name in the tasks' folder.
fn named_file(path: &Path, name: &str) -> OsString {
    let mut file = OsString::from("file://");
    file.push(path);
    file.push(format!("#{name}"));
    file
}

/// The filters for the tasks: HDFS serves each node with one copy.
fn shared_file(path: &Path) -> OsString {
    match HdfsPath::parse(path) {
        Some(path) => format!("{path}#{}", job::FILTER).into(),
        None => named_file(&path.canonicalize().unwrap_or_else(|_| path.into()), job::FILTER),
    }
}

/// Makes a folder of kept lines of what the mappers have left.
fn publish_lines(output: &HdfsPath, to: &HdfsPath) -> Result<()> {
    let is_lines = |path: &HdfsPath| path.file_name().starts_with(map::LINES);
    let (lines, others): (Vec<_>, Vec<_>) =
        output.list()?.into_iter().map(|found| found.path).partition(is_lines);
    others.iter().try_for_each(HdfsPath::remove)?;
    for (i, file) in lines.iter().enumerate() {
        file.rename(&output.join(&format!("part-{i:05}")))?;
    }
    to.parent().make_folder()?;
    output.rename(to)
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

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = self.scratch.remove();
    }
}

/// Inputs, cut into what each mapper reads.
struct Prepared {
    inputs: Vec<Input>,
    stretches: Vec<Stretch>,
}

impl Prepared {
    fn new(job: &Job) -> Result<Prepared> {
        let mut prepared = Prepared { inputs: Vec::new(), stretches: Vec::new() };
        let inputs = job.inputs.iter().map(|path| (path, false));
        for (path, members) in inputs.chain(job.members.iter().map(|path| (path, true))) {
            for file in input::files(path)? {
                prepared.add(job, &file, members)?;
            }
        }
        Ok(prepared)
    }

    fn add(&mut self, job: &Job, path: &HdfsPath, members: bool) -> Result<()> {
        let source = input::source(path);
        let is_text = source.is_plain()?;
        // Newlines inside quotes end no record: such a text has no place to cut it.
        let can_cut = is_text && job.shape.quoted(&source).is_none();
        if job.lines_per_split.is_some() && !can_cut {
            return Err(Error::other(format!(
                "{path}: --lines-per-split takes plain text without quoted fields: leave it out"
            )));
        }
        let (len, place) = (source.size().unwrap_or(0), self.inputs.len());
        let mut header = Vec::new();
        if is_text {
            let first = first_line(path)?;
            check_columns(job, path, first.clone())?;
            if can_cut && job.shape.has_header() {
                header = first;
            }
        }
        self.inputs.push(Input { path: path.to_string(), header, members });
        let parts = len.div_ceil(STRETCH).max(1);
        let cut = |part: u64| Some((len * part / parts, len * (part + 1) / parts));
        match can_cut {
            true => {
                self.stretches.extend((0..parts).map(|i| Stretch { input: place, bytes: cut(i) }))
            }
            false => self.stretches.push(Stretch { input: place, bytes: None }),
        }
        Ok(())
    }
}

/// The first line of a text, with its newline.
fn first_line(path: &HdfsPath) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let opened = path.open()?;
    let mut stream = opened.from(0);
    let mut buffer = vec![0; 1 << 14];
    loop {
        let read = stream.read(&mut buffer).map_err(Error::io(path))?;
        bytes.extend_from_slice(&buffer[..read]);
        if let Some(newline) = bytes.iter().position(|&byte| byte == b'\n') {
            bytes.truncate(newline + 1);
            return Ok(bytes);
        }
        if read == 0 || bytes.len() > HEADER {
            return Ok(bytes);
        }
    }
}

/// Says at once what is wrong with the columns: the same as every mapper would say.
fn check_columns(job: &Job, path: &HdfsPath, first: Vec<u8>) -> Result<()> {
    if !job.shape.has_header() {
        return Ok(());
    }
    let head = Source::remote(Arc::new(Head { name: path.to_string(), bytes: first }));
    let driver = Driver {
        sources: vec![head],
        shape: job.shape.clone(),
        threads: 1,
        strict: false,
        meter: Arc::new(Meter::default()),
    };
    driver.run(|| (), |(), _| Ok(()), |()| Ok(()))?;
    Ok(())
}

/// The first line of a file.
#[derive(Debug)]
struct Head {
    name: String,
    bytes: Vec<u8>,
}

impl Remote for Head {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn size(&self) -> Option<u64> {
        None
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(io::Cursor::new(self.bytes.clone())))
    }

    fn places(&self) -> Option<Arc<dyn ReadAt>> {
        None
    }

    fn is_part(&self) -> bool {
        true
    }
}

/// What Hadoop's command is told.
struct Arguments<'a> {
    name: &'a str,
    lines: u64,
    reducers: u32,
    files: Vec<OsString>,
    inputs: Vec<String>,
    output: String,
}

impl Arguments<'_> {
    fn list(&self) -> Vec<OsString> {
        let mut list: Vec<OsString> = Vec::new();
        let settings = [
            ("mapreduce.job.name", self.name.to_string()),
            ("mapreduce.job.reduces", self.reducers.to_string()),
            ("mapreduce.input.lineinputformat.linespermap", self.lines.to_string()),
            ("stream.map.input", "text".into()),
            // Else the place of every line would stand before it.
            ("stream.map.input.ignoreKey", "true".into()),
            ("stream.map.output", "rawbytes".into()),
            ("stream.reduce.input", "rawbytes".into()),
            ("stream.reduce.output", "rawbytes".into()),
            ("mapreduce.output.fileoutputformat.compress", "false".into()),
        ];
        for (name, value) in settings {
            list.extend(["-D".into(), format!("{name}={value}").into()]);
        }
        list.extend(["-files".into(), self.files.join(",".as_ref())]);
        let mut option = |name: &str, value: &str| list.extend([name.into(), value.into()]);
        option("-inputformat", "org.apache.hadoop.mapred.lib.NLineInputFormat");
        option("-outputformat", "org.apache.hadoop.mapred.SequenceFileOutputFormat");
        self.inputs.iter().for_each(|input| option("-input", input));
        option("-output", &self.output);
        option("-mapper", "./umbel hadoop map");
        option("-reducer", if self.reducers == 0 { "NONE" } else { "./umbel hadoop reduce" });
        // The configuration lies beside the command.
        option("-cmdenv", "HADOOP_CONF_DIR=.");
        list
    }
}
