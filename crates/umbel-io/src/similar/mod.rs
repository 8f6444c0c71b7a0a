//! Items, and which of others are similar to one of them.
//!
//! Threads read rows and find the bands of their items, which is most of the work; one after the other they are inserted or asked for, in the order of
//! the input.

mod reading;

use std::collections::BTreeMap;
use std::time::Instant;

use umbel::format::File;
use umbel::similar::{Bands, Samples, Similar, Space};

use self::reading::Room;
pub use self::reading::{Reading, Sort};
use crate::filters::verify;
use crate::screen::{Summary, Wanted};
use crate::{Batch, Driver, Error, Result, Tally};

/// What is in an input.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Census {
    /// Items that can be used.
    pub items: u64,
    /// The length of the first, which is that of all: bits of a string, numbers of a vector.
    pub length: usize,
    /// The bits that an item takes on average where it is stored as it is.
    pub item_bits: f64,
}

/// Counts the items of an input.
pub fn census(driver: &Driver, reading: &Reading) -> Result<(Census, Tally)> {
    // By length: items, bits. The length of the first decides which of them count.
    let mut lengths: BTreeMap<usize, (u64, u64)> = BTreeMap::new();
    let mut first = None;
    let outcome = driver.run(
        Room::default,
        |room, batch| {
            let mut found: Vec<(usize, u64)> = Vec::new();
            batch.keep(|row| {
                reading.read(row, None, room)?;
                found.push((room.length, room.size(reading.sort)));
                Ok(())
            });
            Ok(found)
        },
        |found| {
            for (length, bits) in found {
                first.get_or_insert(length);
                let (items, all) = lengths.entry(length).or_default();
                (*items, *all) = (*items + 1, *all + bits);
            }
            Ok(())
        },
    )?;
    let length = first.unwrap_or(0);
    let (items, bits) = lengths.get(&length).copied().unwrap_or((0, 0));
    let item_bits = bits as f64 / items.max(1) as f64;
    Ok((Census { items, length, item_bits }, outcome.tally))
}

/// Refuses inputs that cannot be read again.
pub fn check_twice(driver: &Driver, missing: &str) -> Result<()> {
    match driver.sources.iter().find(|source| !source.is_seekable()) {
        None => Ok(()),
        Some(source) => Err(Error::Other(format!(
            "{}: the items have to be counted first, and a pipe can be read only once: give {missing}, or a file",
            source.name()
        ))),
    }
}

/// Inserts all items of an input.
pub fn insert(driver: &Driver, reading: &Reading, filter: &mut Similar) -> Result<Tally> {
    let finder = Finder::new(reading, filter);
    let bands = filter.params().shape().bands as usize;
    let outcome = driver.run(
        Scratch::default,
        |scratch, batch| finder.bands(batch, scratch),
        |found| {
            for hashes in found.chunks(bands) {
                filter.insert_bands(hashes)?;
            }
            Ok(())
        },
    )?;
    Ok(outcome.tally)
}

/// Verifies a file in several threads and reads it into memory.
pub fn read(file: File, threads: usize) -> Result<Similar> {
    verify(&file, threads)?;
    Ok(file.into_similar()?.into_memory())
}

/// Which items of the input are close to a stored one: hands out the wanted lines in its order, those that are as admitted ones.
pub fn query(
    driver: &Driver,
    reading: &Reading,
    filter: &Similar,
    wanted: Wanted,
    mut deliver: impl FnMut(&[u8]) -> Result<()> + Send,
) -> Result<Summary> {
    let (started, finder) = (Instant::now(), Finder::new(reading, filter));
    let bands = filter.params().shape().bands as usize;
    let outcome = driver.run(
        || (0_u64, Scratch::default()),
        |(admitted, scratch), batch| {
            let found = finder.bands(batch, scratch)?;
            let mut lines = Vec::new();
            for (row, hashes) in batch.rows().zip(found.chunks(bands)) {
                let close = filter.contains_bands(hashes)?;
                *admitted += u64::from(close);
                if (close && wanted.admitted) || (!close && wanted.rejected) {
                    lines.extend_from_slice(batch.line(&row));
                }
            }
            Ok(lines)
        },
        |lines| deliver(&lines),
    )?;
    let admitted = outcome.partials.iter().map(|((admitted, _), _)| admitted).sum();
    Ok(Summary { tally: outcome.tally, admitted, time: started.elapsed() })
}

/// Asks for each item in turn and inserts it if nothing close is there: hands out the wanted lines, those seen before as admitted ones.
pub fn dedup(
    driver: &Driver,
    reading: &Reading,
    filter: &mut Similar,
    wanted: Wanted,
    mut deliver: impl FnMut(&[u8]) -> Result<()> + Send,
) -> Result<Summary> {
    let (started, finder) = (Instant::now(), Finder::new(reading, filter));
    let bands = filter.params().shape().bands as usize;
    let mut admitted = 0;
    let outcome = driver.run(
        Scratch::default,
        |scratch, batch| {
            let found = finder.bands(batch, scratch)?;
            let mut lines = Lines::default();
            batch.rows().for_each(|row| lines.push(batch.line(&row)));
            Ok((found, lines))
        },
        |(found, lines)| {
            let mut out = Vec::new();
            for (hashes, line) in found.chunks(bands).zip(lines.iter()) {
                let seen = filter.contains_bands(hashes)?;
                if !seen {
                    filter.insert_bands(hashes)?;
                }
                admitted += u64::from(seen);
                if (seen && wanted.admitted) || (!seen && wanted.rejected) {
                    out.extend_from_slice(line);
                }
            }
            deliver(&out)
        },
    )?;
    Ok(Summary { tally: outcome.tally, admitted, time: started.elapsed() })
}

/// The length of all items, where they have one: bits of a string, numbers of a vector.
pub fn length_of(space: Space) -> Option<usize> {
    match space {
        Space::Hamming { bits } => Some(bits as usize),
        Space::Cosine { dimension } | Space::Euclid { dimension } => Some(dimension as usize),
        _ => None,
    }
}

/// Finds the bands of rows.
struct Finder<'a> {
    reading: &'a Reading,
    samples: Samples,
    length: Option<usize>,
}

#[derive(Default)]
struct Scratch {
    room: Room,
    bands: Bands,
}

impl<'a> Finder<'a> {
    fn new(reading: &'a Reading, filter: &Similar) -> Finder<'a> {
        let length = length_of(filter.params().space());
        Finder { reading, samples: filter.samples(), length }
    }

    /// The bands of all rows, one behind the other; rows that cannot be used are taken out of the batch.
    fn bands(&self, batch: &mut Batch, scratch: &mut Scratch) -> Result<Vec<u64>> {
        let (mut found, Scratch { room, bands }) = (Vec::new(), scratch);
        batch.keep(|row| {
            self.reading.read(row, self.length, room)?;
            let sort = self.reading.sort;
            // What reading lets through is an item, but for vectors whose steps cannot be told.
            room.with(sort, |item| self.samples.bands(item, bands))
                .map_err(|_| "the vector lies too far from the origin to be told from others")?;
            found.extend_from_slice(bands.as_slice());
            Ok(())
        });
        Ok(found)
    }
}

/// Lines without their batch.
#[derive(Default)]
struct Lines {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Lines {
    fn push(&mut self, line: &[u8]) {
        self.bytes.extend_from_slice(line);
        self.ends.push(self.bytes.len());
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| &self.bytes[std::mem::replace(&mut start, end)..end])
    }
}
