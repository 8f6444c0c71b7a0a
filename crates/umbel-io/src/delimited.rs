//! The hot loops over tables without quotes.
//!
//! Where the fields of a line end is known for its first 64 bytes from one mask. Loops that do one thing each take keys and groups from
//! there; the few lines that do not fit, because they are long or wrong, are looked at again one by one.

use std::ops::Range;

use umbel::Span;

use crate::batch::{Batch, Record, Row, without_return};
use crate::groups::{Interner, Known, NONE};
use crate::parser::{EMPTY_KEY, NO_COLUMN};
use crate::shape::Fields;

/// The lines of a block: the first begins at `start`, each ends at its place in `ends`; `marks` tell where their fields end.
#[derive(Clone, Copy)]
pub(crate) struct Lines<'a> {
    pub(crate) start: usize,
    pub(crate) ends: &'a [u32],
    pub(crate) marks: &'a [u64],
}

/// Reads the rows of a block.
pub(crate) fn rows(fields: &Fields, groups: &mut Interner, lines: Lines, batch: &mut Batch) {
    let bytes = std::mem::take(&mut batch.bytes);
    keys(fields, lines, &bytes, &mut batch.keys);
    batch.texts.extend(each(lines, |start, end, _| Span { start, end: end + 1 }));
    if let Some(by) = fields.by {
        batch.groups.resize(batch.keys.len(), NONE);
        find_groups(groups, (by, fields.round), &bytes, lines, &batch.keys, &mut batch.groups);
    }
    match batch.keys.iter().any(|key| key.is_empty()) || batch.groups.contains(&NONE) {
        true => look_again(fields, groups, &bytes, batch),
        false => batch.lines += lines.ends.len() as u64,
    }
    batch.learn(groups.names());
    batch.bytes = bytes;
}

/// A key for each line; it is empty where the line is to be looked at again.
fn keys(fields: &Fields, lines: Lines, bytes: &[u8], keys: &mut Vec<Span>) {
    match fields.key {
        None => keys.extend(each(lines, |start, end, _| without_return(bytes, start, end))),
        // Mostly the first column, which needs no counting.
        Some(0) => keys.extend(each(lines, |start, _, marks| part(start, field(marks, 0)))),
        Some(place) => keys.extend(each(lines, |start, _, marks| part(start, field(marks, place)))),
    }
}

/// What is made of where each line begins and ends, and of its marks.
#[inline(always)]
fn each<T>(lines: Lines, make: impl Fn(u32, u32, u64) -> T) -> impl ExactSizeIterator<Item = T> {
    let mut start = lines.start as u32;
    lines.ends.iter().zip(lines.marks).map(move |(&end, &marks)| {
        let made = make(start, end, marks);
        start = end + 1;
        made
    })
}

#[inline(always)]
fn part(start: u32, field: Option<(u32, u32)>) -> Span {
    let (from, to) = field.unwrap_or_default();
    Span { start: start + from, end: start + to }
}

/// The number of each row's group, from the column `by`; none for rows that are to be looked at again.
fn find_groups(
    groups: &mut Interner,
    (by, round): (usize, bool),
    bytes: &[u8],
    lines: Lines,
    keys: &[Span],
    ids: &mut [u32],
) {
    // The first columns, where groups mostly are, each have a loop that need not count columns.
    match by {
        0 => known_groups(groups.known(), bytes, lines, 0, ids),
        1 => known_groups(groups.known(), bytes, lines, 1, ids),
        _ => known_groups(groups.known(), bytes, lines, by, ids),
    }
    if ids.contains(&NONE) {
        let places = each(lines, |start, _, marks| place(start, marks, by)).zip(keys);
        let new = ids.iter_mut().zip(places).filter(|(id, _)| **id == NONE);
        // A group is one only if it has a key.
        for (id, (place, _)) in new.filter(|(_, (_, key))| !key.is_empty()) {
            *id = place.and_then(|place| groups.id(bytes, place, round).ok()).unwrap_or(NONE);
        }
    }
}

/// The groups that have been met and have short names. Nothing is learned here, so that all but the rows can stay in registers.
#[inline(always)]
fn known_groups(known: Known, bytes: &[u8], lines: Lines, by: usize, ids: &mut [u32]) {
    let places = each(lines, |start, _, marks| place(start, marks, by));
    for (id, place) in ids.iter_mut().zip(places) {
        *id = place.map_or(NONE, |place| known.id(bytes, place));
    }
}

/// Where a field of the line that begins at `start` stands, if the marks tell.
#[inline(always)]
fn place(start: u32, marks: u64, column: usize) -> Option<Range<usize>> {
    let start = start as usize;
    field(marks, column).map(|(from, to)| start + from as usize..start + to as usize)
}

/// Where a field begins and ends in its line, if the marks tell.
#[inline(always)]
fn field(mut marks: u64, place: usize) -> Option<(u32, u32)> {
    let mut start = 0;
    for _ in 0..place {
        start = marks.trailing_zeros() + 1;
        marks &= marks.wrapping_sub(1);
    }
    (marks != 0).then(|| (start, marks.trailing_zeros()))
}

/// Looks again at the rows without a key or a group: they get them, or go.
#[cold]
fn look_again(fields: &Fields, groups: &mut Interner, bytes: &[u8], batch: &mut Batch) {
    let (keys, texts) = (std::mem::take(&mut batch.keys), std::mem::take(&mut batch.texts));
    let ids = std::mem::take(&mut batch.groups);
    batch.keys.reserve(keys.len());
    batch.texts.reserve(texts.len());
    batch.groups.reserve(ids.len());
    for (i, (key, line)) in keys.into_iter().zip(texts).enumerate() {
        let id = ids.get(i).copied();
        batch.push(match key.is_empty() || id == Some(NONE) {
            true => look(fields, groups, bytes, line.start as usize..line.end as usize),
            false => Ok(Record { row: Row { line, key }, group: id, weight: None }),
        });
    }
}

/// A row, or the reason why it is none.
fn look(
    fields: &Fields,
    groups: &mut Interner,
    bytes: &[u8],
    line: Range<usize>,
) -> Result<Record, &'static str> {
    let text = &bytes[line.start..line.end - 1];
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    let column = |place: usize| column(text, fields.delimiter, place).ok_or(NO_COLUMN);
    let key = fields.key.map_or(Ok(0..text.len()), column)?;
    let group = fields.by.map(column).transpose()?;
    if key.is_empty() {
        return Err(EMPTY_KEY);
    }
    let within = |field: Range<usize>| line.start + field.start..line.start + field.end;
    let group = group.map(|group| groups.id(bytes, within(group), fields.round)).transpose()?;
    let key = within(key);
    Ok(Record { row: Row::new(line, key), group, weight: None })
}

/// A column of a line.
fn column(text: &[u8], delimiter: u8, place: usize) -> Option<Range<usize>> {
    let mut ends = memchr::memchr_iter(delimiter, text);
    let start = if place == 0 { 0 } else { ends.nth(place - 1)? + 1 };
    Some(start..ends.next().unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd;

    /// Fields from marks are those from a search, wherever the marks tell.
    #[test]
    fn fields_of_lines_short_and_long() {
        let lengths =
            [[0, 0, 0], [9, 3, 2], [20, 20, 21], [20, 20, 22], [70, 1, 5], [1, 61, 70], [61, 0, 0]];
        for (lengths, end) in lengths.iter().flat_map(|l| [(l, "\n"), (l, "\r\n")]) {
            let text = lengths.map(|len| "x".repeat(len)).join("\t");
            let bytes = format!("{text}{end}\tmore");
            let newline = bytes.find('\n').unwrap() as u32;
            let mut marks = Vec::new();
            simd::marks(bytes.as_bytes(), 0, &[newline], b'\t', &mut marks);
            for place in 0..4 {
                let expected = column(text.as_bytes(), b'\t', place);
                let found = field(marks[0], place).map(|(a, b)| a as usize..b as usize);
                let tells = expected.as_ref().is_some_and(|field| field.end < 64);
                assert_eq!(found, expected.filter(|_| tells), "{lengths:?}, {place}");
            }
        }
    }
}
