//! Hadoop as a carrier of jobs.

use std::cell::Cell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use umbel_job::jobs::{Carried, Carrier, Event, Freight};
use umbel_job::unfinished::Unfinished;
use umbel_job::{HdfsPath, Location, lines};

use crate::submit::{Hadoop, Places};
use crate::task::{ORDER, TOOL, Told};
use crate::{Error, Result, message, output};

/// Bytes that one mapper reads, where nobody says how many lines: a block of HDFS.
pub const STRETCH: u64 = 128 << 20;

/// A cluster to run jobs on, with a folder on HDFS for what they need meanwhile; it is removed in the end.
pub struct Cluster {
    hadoop: Hadoop,
    scratch: HdfsPath,
    _unfinished: Unfinished,
    /// Lines for each mapper, which get them from Hadoop; else mappers read HDFS themselves.
    lines_per_split: Option<u64>,
    /// The number of reducers.
    reducers: Option<u32>,
    has_command: Cell<bool>,
}

impl Cluster {
    /// The cluster that this machine's Hadoop belongs to. What jobs need goes to the NameNode of this path.
    pub fn find(
        near: &HdfsPath,
        lines_per_split: Option<u64>,
        reducers: Option<u32>,
    ) -> Result<Cluster> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let name = format!("/tmp/umbel-{}-{}", std::process::id(), now.as_nanos());
        let scratch = near.with_path(name);
        Ok(Cluster {
            hadoop: Hadoop::find()?,
            _unfinished: Unfinished::new(Location::Hdfs(scratch.clone()), Vec::new()),
            scratch,
            lines_per_split,
            reducers,
            has_command: Cell::new(false),
        })
    }

    /// The command, as it travels with jobs: put on HDFS by the first, so that nodes keep it for the next.
    fn command(&self) -> Result<String> {
        let there = self.scratch.join("umbel");
        if !self.has_command.replace(true) {
            let path = own_command()?;
            there.write(&std::fs::read(&path).map_err(Error::io(path.display()))?)?;
        }
        Ok(format!("{there}#umbel"))
    }

    /// The file that goes with the job: HDFS serves each node with one copy. Hadoop's lists take no odd names: such a file is copied.
    fn shared_file(&self, file: &Location) -> Result<String> {
        let there = self.folder().join(TOOL);
        match file {
            Location::Hdfs(path) if is_plain(path.path().as_ref()) => {
                return Ok(format!("{path}#{TOOL}"));
            }
            Location::Hdfs(path) => copy(path.open()?.from(0), &there)?,
            Location::Local(path) => {
                let path = path.canonicalize().unwrap_or_else(|_| path.clone());
                if is_plain(&path) {
                    return Ok(named_file(&path, TOOL));
                }
                copy(std::fs::File::open(&path).map_err(Error::io(file))?, &there)?;
            }
            Location::Elsewhere(path) => return Ok(format!("{path}#{TOOL}")),
        }
        Ok(format!("{there}#{TOOL}"))
    }

    /// What the last job has left behind; removed before the next.
    fn folder(&self) -> HdfsPath {
        self.scratch.join("job")
    }
}

impl Carrier for Cluster {
    fn carry(&self, freight: &Freight, watch: &dyn Fn(Event)) -> Result<Carried> {
        let folder = self.folder();
        folder.remove()?;
        let messages = folder.join("messages");
        messages.make_folder()?;
        let manifest = folder.join("manifest");
        if self.lines_per_split.is_none() {
            let lines = freight.stretches.iter().map(|stretch| format!("{stretch}\n"));
            manifest.write(lines.collect::<String>().as_bytes())?;
        }
        let order = freight.order;
        let (local, _unfinished) = Unfinished::temporary()?;
        let told = Told {
            order: order.clone(),
            piped: self.lines_per_split.is_some(),
            messages: messages.to_string(),
        };
        let order_file = local.join(ORDER);
        std::fs::write(&order_file, told.to_json()?).map_err(Error::io(order_file.display()))?;
        let output = folder.join("output");
        let inputs = match self.lines_per_split {
            Some(_) => order.inputs.iter().map(|input| input.path.clone()).collect(),
            None => vec![manifest.to_string()],
        };
        let own = [named_file(&order_file, ORDER), self.command()?];
        let conf = self.hadoop.conf().into_iter().map(|file| uri(&file));
        let file = freight.file.map(|file| self.shared_file(file)).transpose()?;
        let files = own.into_iter().chain(conf).chain(file);
        let arguments = Arguments {
            name: freight.name,
            lines: self.lines_per_split.unwrap_or(1),
            // Where nothing is to be united there are none.
            reducers: match freight.reducers {
                0 => 0,
                chosen => self.reducers.unwrap_or(chosen),
            },
            files: files.collect(),
            inputs,
            output: output.to_string(),
        };
        let places = Places { local: &local, hdfs: &self.scratch };
        let report = self.hadoop.run(&arguments.list(), &places, watch).map_err(|error| {
            // A task's own words tell more than Hadoop's of it.
            message::find(&messages).unwrap_or(error)
        })?;
        Ok(Carried { records: output::records(&output)?, report })
    }

    fn publish(&self, to: &Location) -> Result<()> {
        lines::publish(&Location::Hdfs(self.folder().join("output")), to)
    }
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
fn named_file(path: &Path, name: &str) -> String {
    format!("{}#{name}", uri(path))
}

/// A file of this machine as Hadoop's options have it.
fn uri(path: &Path) -> String {
    format!("file://{}", escaped(path.as_os_str().as_encoded_bytes()))
}

/// A path in an option of Hadoop's, where a space or a comma would end it.
fn escaped(path: &[u8]) -> String {
    let escaped = |&byte: &u8| match byte {
        b'/' | b'.' | b'-' | b'_' | b'~' => char::from(byte).to_string(),
        byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    path.iter().map(escaped).collect()
}

/// Whether nothing in a path means something in Hadoop's lists of files.
fn is_plain(path: &Path) -> bool {
    let path = path.as_os_str().as_encoded_bytes();
    escaped(path).as_bytes() == path
}

fn copy(mut from: impl std::io::Read, to: &HdfsPath) -> Result<()> {
    let mut writer = std::io::BufWriter::with_capacity(1 << 20, to.create()?);
    std::io::copy(&mut from, &mut writer).map_err(Error::io(to))?;
    writer.into_inner().map_err(|error| Error::io(to)(error.into_error()))?.close()
}

/// What Hadoop's command is told.
struct Arguments<'a> {
    name: &'a str,
    lines: u64,
    reducers: u32,
    files: Vec<String>,
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
        list.extend(["-files".into(), self.files.join(",").into()]);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_any_name_travel() {
        let name = named_file("/a b/c,d/größe#1/x.umbel".as_ref(), TOOL);
        assert_eq!(name, format!("file:///a%20b/c%2Cd/gr%C3%B6%C3%9Fe%231/x.umbel#{TOOL}"));
        assert!(is_plain("/a/b-c_d.umbel".as_ref()));
        assert!(!is_plain("/a b.umbel".as_ref()) && !is_plain("/a,b.umbel".as_ref()));
    }
}
