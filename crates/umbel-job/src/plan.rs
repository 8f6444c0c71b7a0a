//! Inputs, cut into what each mapper reads.

use std::io::{self, Read};
use std::sync::Arc;

use umbel_io::{Driver, Meter, ReadAt, Remote, Shape, Source};

use crate::job::{Input, Stretch};
use crate::jobs::{Carrier, Job};
use crate::location::Location;
use crate::{Error, Result};

/// The longest header.
const HEADER: usize = 1 << 20;

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
    pub(crate) fn new(job: &Job, carrier: &dyn Carrier) -> Result<Prepared> {
        let mut files = Vec::new();
        let inputs = job.inputs.iter().map(|path| (path, false));
        for (path, members) in inputs.chain(job.members.iter().map(|path| (path, true))) {
            files.extend(carrier.files(path)?.into_iter().map(|file| (file, members)));
        }
        let stretch = match job.cut {
            Cut::Elsewhere => None,
            Cut::Bytes(bytes) => Some(bytes),
            Cut::Parts { parts, least, most } => {
                let total: u64 = files.iter().filter_map(|(file, _)| file.source().size()).sum();
                Some(total.div_ceil(parts.max(1)).clamp(least, most))
            }
        };
        let mut prepared = Prepared { inputs: Vec::new(), stretches: Vec::new(), stretch };
        for (file, members) in files {
            prepared.add(job, &file, members)?;
        }
        Ok(prepared)
    }

    fn add(&mut self, job: &Job, path: &Location, members: bool) -> Result<()> {
        if let Location::Elsewhere(path) = path {
            self.stretches.push(Stretch { input: self.inputs.len(), bytes: None });
            self.inputs.push(Input { path: path.clone(), header: Vec::new(), members });
            return Ok(());
        }
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
        let mut header = Vec::new();
        if is_text {
            let first = first_line(path)?;
            check_columns(&job.shape, path, first.clone())?;
            if can_cut && job.shape.has_header() {
                header = first;
            }
        }
        self.inputs.push(Input { path: path.to_string(), header, members });
        // Row groups are shared out by where they begin.
        let can_cut = can_cut || source.is_parquet()?;
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

/// The first line of a text, with its newline.
fn first_line(path: &Location) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let opened = path.open()?;
    let mut stream = opened.range(0, opened.len()).map_err(Error::io(path))?;
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
fn check_columns(shape: &Shape, path: &Location, first: Vec<u8>) -> Result<()> {
    if !shape.has_header() {
        return Ok(());
    }
    let head = Source::remote(Arc::new(Head { name: path.to_string(), bytes: first }));
    let driver = Driver {
        sources: vec![head],
        shape: shape.clone(),
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
