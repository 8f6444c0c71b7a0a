//! From the bytes of a block to rows with keys, groups and weights.

use std::ops::Range;

use crate::batch::{Batch, Record, Row, without_return};
use crate::block::Block;
use crate::delimited::{self, Lines};
use crate::field::{field, record_ends};
use crate::groups::Interner;
use crate::shape::Fields;
use crate::split::{Places, Seen};
use crate::{number, simd};
use umbel::Span;

/// What a row lacks.
pub(crate) const OPEN_QUOTE: &str = "a quote is not closed before the file ends";
pub(crate) const BEHIND_QUOTE: &str =
    "something follows a closing quote: one is missing, or not doubled";
pub(crate) const NO_COLUMN: &str = "a column is missing";
pub(crate) const EMPTY_KEY: &str = "the key is empty";
pub(crate) const NO_INTEGER: &str = "the key is not a 64-bit integer";
pub(crate) const OUTSIDE: &str = "the key lies outside the interval of --integers";
pub(crate) const NO_WEIGHT: &str = "the weight is not a whole number from 0 to 2^64 - 1";

/// Turns blocks into batches; it remembers the groups it has met.
pub(crate) struct Parser {
    pub(crate) groups: Interner,
    /// Where the records of a block end.
    ends: Places,
    /// Those of them that have something behind a closing quote.
    misquoted: Places,
    /// Where the fields of each line end.
    marks: Vec<u64>,
}

impl Parser {
    pub(crate) fn new() -> Parser {
        Parser {
            groups: Interner::new(),
            ends: Places::default(),
            misquoted: Places::default(),
            marks: Vec::new(),
        }
    }

    /// Fills the batch from its own bytes, which are those of `block`.
    pub(crate) fn parse(&mut self, block: &Block, batch: &mut Batch) {
        batch.clear("line");
        batch.lines = header_lines(block, &batch.bytes);
        let fields = &*block.fields;
        self.ends.clear();
        self.misquoted.clear();
        let (mut seen, mut open) = (Seen { returns: true, empty: true }, None);
        if fields.quoted {
            let records = &batch.bytes[block.start..];
            open = record_ends(records, fields.delimiter, |at, malformed| {
                self.ends.push(block.start + at);
                if malformed {
                    self.misquoted.push(block.start + at);
                }
            });
        } else {
            seen = simd::ends(&batch.bytes, block.start, &mut self.ends);
        }
        if fields.is_whole_line() {
            return whole_lines(block.start, self.ends.as_slice(), seen, batch);
        }
        if fields.is_plain() {
            let ends = self.ends.as_slice();
            simd::marks(&batch.bytes, block.start, ends, fields.delimiter, &mut self.marks);
            let lines = Lines { start: block.start, ends, marks: &self.marks };
            return delimited::rows(fields, &mut self.groups, lines, batch);
        }
        self.written_out(fields, block.start, open.map(|at| block.start + at), batch);
    }

    /// The rows of a block where keys do not stand as they are: they are written behind it. A quote that is not closed is at `open`.
    fn written_out(
        &mut self,
        fields: &Fields,
        mut start: usize,
        open: Option<usize>,
        batch: &mut Batch,
    ) {
        let (mut bytes, ends) = (std::mem::take(&mut batch.bytes), std::mem::take(&mut self.ends));
        let misquoted = std::mem::take(&mut self.misquoted);
        let mut next_misquoted = misquoted.as_slice().iter().peekable();
        let block_end = bytes.len();
        for &end in ends.as_slice() {
            let line = start..end as usize + 1;
            start = line.end;
            batch.push(match next_misquoted.next_if_eq(&&end) {
                Some(_) => Err(BEHIND_QUOTE),
                None => self.row(fields, &mut bytes, line.clone()),
            });
            if fields.quoted {
                // A record with newlines inside quotes is several lines of the file.
                batch.lines += newlines(&bytes[line]) - 1;
            }
        }
        if let Some(open) = open {
            batch.lines += newlines(&bytes[start..open]);
            // All lines that it swallows would have been rows.
            (0..newlines(&bytes[open..block_end])).for_each(|_| batch.push(Err(OPEN_QUOTE)));
        }
        batch.learn(self.groups.names());
        (batch.bytes, self.ends, self.misquoted) = (bytes, ends, misquoted);
    }

    #[inline(always)]
    fn row(
        &mut self,
        fields: &Fields,
        bytes: &mut Vec<u8>,
        line: Range<usize>,
    ) -> Result<Record, &'static str> {
        let end = line.end - 1;
        let bare = line.start..end - usize::from(bytes[line.start..end].ends_with(b"\r"));
        let Picked { mut key, group, weight } = pick(fields, bytes, bare).ok_or(NO_COLUMN)?;
        if key.is_empty() {
            return Err(EMPTY_KEY);
        }
        if fields.integers {
            let (bits, negative) = integer(&bytes[key]).ok_or(NO_INTEGER)?;
            check_interval(bits, negative, fields.interval)?;
            key = put_integer(bits, negative, bytes);
        } else if let Some(grid) = &fields.numbers {
            key = number::put(number::parse(&bytes[key], grid)?, bytes);
        }
        let weight = weight.map(|weight| whole(&bytes[weight]).ok_or(NO_WEIGHT)).transpose()?;
        // Last, so that a group is one only if it has a key.
        let group = group.map(|group| self.groups.id(bytes, group, fields.round));
        Ok(Record { row: Row::new(line, key), group: group.transpose()?, weight })
    }
}

/// Where the parts of a line stand.
struct Picked {
    key: Range<usize>,
    group: Option<Range<usize>>,
    weight: Option<Range<usize>>,
}

/// Finds the parts of a line; none if the line has not got them.
fn pick(fields: &Fields, bytes: &mut Vec<u8>, line: Range<usize>) -> Option<Picked> {
    let (mut key, mut group, mut weight) = (fields.key.is_none().then(|| line.clone()), None, None);
    let mut at = Some(line.start);
    let last = fields.key.max(fields.by).max(fields.weight);
    for place in 0..last.map_or(0, |last| last + 1) {
        let (field, next) = field(bytes, at?..line.end, fields.delimiter, fields.quoted);
        at = next;
        if fields.key == Some(place) {
            key = Some(field.clone());
        }
        if fields.by == Some(place) {
            group = Some(field.clone());
        }
        if fields.weight == Some(place) {
            weight = Some(field);
        }
    }
    Some(Picked { key: key?, group, weight })
}

/// The rows of a block where the key is the line: the hot loop of every run over a plain list. Most have no CR anywhere, and need not
/// be looked at again.
fn whole_lines(start: usize, ends: &[u32], seen: Seen, batch: &mut Batch) {
    let Some((&first, rest)) = ends.split_first() else { return };
    let Batch { bytes, keys, texts, .. } = &mut *batch;
    keys.push(Span { start: start as u32, end: first });
    keys.extend(ends.iter().zip(rest).map(|(&last, &end)| Span { start: last + 1, end }));
    if seen.returns {
        texts.extend(keys.iter().map(|key| Span { start: key.start, end: key.end + 1 }));
        keys.iter_mut().for_each(|key| *key = without_return(bytes, key.start, key.end));
    }
    // A CR may be all that a line has. All are looked at: to stop at the first would take longer.
    let any_empty = || batch.keys.iter().fold(false, |any, key| any | key.is_empty());
    if seen.empty || seen.returns && any_empty() {
        batch.keep(|key| if key.is_empty() { Err(EMPTY_KEY) } else { Ok(()) });
    }
    batch.lines += ends.len() as u64;
}

/// The lines before the first record.
fn header_lines(block: &Block, bytes: &[u8]) -> u64 {
    newlines(&bytes[..block.start])
}

pub(crate) fn newlines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// A whole number that is not negative.
pub(crate) fn whole(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// A decimal integer from -2^63 to 2^64 - 1, as 64 bits, and whether it is negative.
pub(crate) fn integer(text: &[u8]) -> Option<(u64, bool)> {
    let text = std::str::from_utf8(text).ok()?;
    let negative = || text.parse::<i64>().ok().map(|number| (number.cast_unsigned(), number < 0));
    text.parse().ok().map(|number| (number, false)).or_else(negative)
}

/// Refuses an integer outside the interval, if there is one.
pub(crate) fn check_interval(
    bits: u64,
    negative: bool,
    interval: Option<(i64, i64)>,
) -> Result<(), &'static str> {
    let Some((lo, hi)) = interval else { return Ok(()) };
    let number = bits.cast_signed();
    // From 2^63 on, bits without a minus are above every i64.
    let fits = (number >= 0 || negative) && (lo..=hi).contains(&number);
    if fits { Ok(()) } else { Err(OUTSIDE) }
}

/// Appends the key that an integer is, as `Batch::integer` reads it; returns where the key stands.
pub(crate) fn put_integer(bits: u64, negative: bool, bytes: &mut Vec<u8>) -> Range<usize> {
    let start = bytes.len();
    bytes.extend(bits.to_le_bytes());
    bytes.push(u8::from(negative));
    start..start + 8
}
