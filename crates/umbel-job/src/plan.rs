//! Inputs, cut into what each mapper reads.

use std::io::{BufRead, BufReader};
use std::sync::Arc;

use umbel_io::Source;

use crate::job::{Input, Stretch};
use crate::jobs::{Carrier, Job};
use crate::location::Location;
use crate::stamp::Stamp;
use crate::{Error, Result, handed};

/// How texts are shared out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// Stretches of no more than so many bytes.
    Bytes(u64),
    /// About so many stretches of all inputs together, where none gets below or above these bytes.
    Parts {
        /// How many.
        parts: u64,
        /// The least bytes.
        least: u64,
        /// The most bytes.
        most: u64,
    },
    /// Elsewhere: mappers get lines.
    Elsewhere,
}

/// What the mappers of a job read.
pub(crate) struct Prepared {
    pub(crate) inputs: Vec<Input>,
    pub(crate) stretches: Vec<Stretch>,
    /// The most bytes of a stretch; none where they are not cut here.
    stretch: Option<u64>,
}

impl Prepared {
    /// `whole_lines`: whether lines are kept as they are.
    pub(crate) fn new(job: &Job, carrier: &dyn Carrier, whole_lines: bool) -> Result<Prepared> {
        let mut files = Vec::new();
        let inputs = job.inputs.iter().map(|path| (path, false));
        for (path, members) in inputs.chain(job.members.iter().map(|path| (path, true))) {
            files.extend(carrier.files(path)?.into_iter().map(|file| (file, members)));
        }
        let stretch = match job.cut {
            Cut::Elsewhere => {
                handed::check_once(files.iter().map(|(file, _)| file))?;
                None
            }
            Cut::Bytes(bytes) => Some(bytes),
            Cut::Parts { parts, least, most } => {
                let total: u64 = files.iter().filter_map(|(file, _)| file.source().size()).sum();
                Some(total.div_ceil(parts.max(1)).clamp(least, most))
            }
        };
        let mut prepared = Prepared { inputs: Vec::new(), stretches: Vec::new(), stretch };
        for (file, members) in files {
            prepared.add(job, &file, members)?;
            if stretch.is_none() {
                handed::check(&file, &file.source(), whole_lines)?;
            }
        }
        Ok(prepared)
    }

    fn add(&mut self, job: &Job, path: &Location, members: bool) -> Result<()> {
        if let Location::Elsewhere(path) = path {
            self.stretches.push(Stretch { input: self.inputs.len(), bytes: None });
            self.inputs.push(Input {
                path: path.clone(),
                header: Vec::new(),
                members,
                stamp: None,
            });
            return Ok(());
        }
        // Before anything else is known of it: whatever comes later would pass unseen.
        let stamp = Stamp::of(path)?;
        let source = path.source();
        let is_text = source.is_plain()?;
        // Newlines inside quotes end no record: such a text has no place to cut it.
        let can_cut = is_text && job.shape.quoted(&source).is_none();
        if self.stretch.is_none() && !can_cut {
            return Err(Error::other(format!(
                "{path}: --lines-per-split takes plain text without quoted fields: leave it out"
            )));
        }
        let (len, place) = (source.size().unwrap_or(0), self.inputs.len());
        let is_parquet = !is_text && source.is_parquet()?;
        if is_parquet || job.shape.has_header() {
            // Said at once: every mapper would say it.
            job.shape.check(&source)?;
        }
        let header = match can_cut && job.shape.has_header() {
            true => first_line(&source)?,
            false => Vec::new(),
        };
        self.inputs.push(Input { path: path.to_string(), header, members, stamp });
        // Row groups are shared out by where they begin.
        let can_cut = can_cut || is_parquet;
        let (Some(bytes), true) = (self.stretch, can_cut) else {
            self.stretches.push(Stretch { input: place, bytes: None });
            return Ok(());
        };
        let parts = len.div_ceil(bytes.max(1)).max(1);
        let cut = |part: u64| {
            let at = |part: u64| (u128::from(len) * u128::from(part) / u128::from(parts)) as u64;
            Some((at(part), at(part + 1)))
        };
        self.stretches.extend((0..parts).map(|i| Stretch { input: place, bytes: cut(i) }));
        Ok(())
    }
}

/// The first line of a plain text, with its newline.
fn first_line(source: &Source) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut reader = BufReader::new(source.open(&Arc::default())?);
    reader.read_until(b'\n', &mut bytes).map_err(Error::io(source.name()))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use umbel_io::Shape;

    use super::*;
    use crate::jobs::{Carried, Event, Freight};

    struct Nobody;

    impl Carrier for Nobody {
        fn carry(&self, _: &Freight, _: &dyn Fn(Event)) -> Result<Carried> {
            Err(Error::other("nobody carries"))
        }

        fn publish(&self, _: &Location) -> Result<()> {
            Ok(())
        }
    }

    /// What is said of a column of a file before any job is run.
    fn prepared(path: &Path, key: &str) -> Result<usize> {
        let job = Job {
            name: String::new(),
            inputs: vec![Location::Local(path.into())],
            members: Vec::new(),
            shape: Shape { key: Some(key.parse().unwrap()), ..Shape::default() },
            strict: false,
            cut: Cut::Bytes(1 << 20),
            watch: &|_| (),
        };
        Ok(Prepared::new(&job, &Nobody, false)?.stretches.len())
    }

    #[test]
    fn a_missing_column_is_said_before_a_job_is_run() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        };
        let text = write("a.tsv", b"number\tkey\n1\ta\n");
        let gzip = write("b.tsv.gz", GZIP);
        let parquet = PathBuf::from("../umbel-io/tests/data/pyarrow.parquet");
        for path in [&text, &gzip, &parquet] {
            assert_eq!(prepared(path, "key").unwrap(), 1, "{}", path.display());
            let said =
                prepared(path, "title").err().map(|error| error.to_string()).unwrap_or_default();
            assert!(
                said.contains("there is no column") && said.contains("title"),
                "{}: {said:?}",
                path.display()
            );
        }
    }

    #[test]
    fn a_header_may_hold_newlines_in_quotes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("quoted.csv");
        std::fs::write(&path, "\"the\nnumber\",key\n1,a\n").unwrap();
        for column in ["key", "the\nnumber"] {
            // A whole text: its rows may hold newlines too.
            assert_eq!(prepared(&path, column).unwrap(), 1);
        }
        assert!(prepared(&path, "number").is_err());
    }

    /// `number\tkey\n1\ta\n`
    const GZIP: &[u8] = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb+\xcdMJ-\xe2\xccN\xad\xe42\xe4L\xe4\x02\x00\xde\x9e\x9f\x0d\x0f\x00\x00\x00";
}
