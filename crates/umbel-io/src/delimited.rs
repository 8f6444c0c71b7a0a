//! The hot loop over tables without quotes. Where the delimiters of a line stand is known for its first 64 bytes from one mask;
//! what lies beyond is searched for.

use std::ops::Range;

use crate::batch::{Batch, Record, Row};
use crate::groups::Interner;
use crate::parser::{EMPTY_KEY, NO_COLUMN};
use crate::shape::Fields;
use crate::split::bits;

/// Reads the rows of a block: lines that end at `ends`, the first of which begins at `start`.
pub(crate) fn rows(
    fields: &Fields,
    groups: &mut Interner,
    (mut start, ends, masks): (usize, &[u32], &[u64]),
    batch: &mut Batch,
) {
    let bytes = std::mem::take(&mut batch.bytes);
    for (&end, &mask) in ends.iter().zip(masks) {
        let line = start..end as usize + 1;
        start = line.end;
        batch.push(row(fields, groups, &bytes, line, mask));
    }
    batch.learn(groups.names());
    batch.bytes = bytes;
}

/// A row, or the reason why it is none.
#[inline(always)]
fn row(
    fields: &Fields,
    groups: &mut Interner,
    bytes: &[u8],
    line: Range<usize>,
    mask: u64,
) -> Result<Record, &'static str> {
    let text = &bytes[line.start..line.end - 1];
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    let line_mask = mask & bits(text.len());
    let column = |place: usize| match text.len() <= 64 {
        true => column(line_mask, text.len(), place),
        false => long_column(line_mask, text, fields.delimiter, place),
    };
    let key = fields.key.map_or(Some(0..text.len()), column).ok_or(NO_COLUMN)?;
    let group = match fields.by {
        Some(place) => Some(column(place).ok_or(NO_COLUMN)?),
        None => None,
    };
    if key.is_empty() {
        return Err(EMPTY_KEY);
    }
    // Last, so that a group is one only if it has a key.
    let group = match group {
        Some(group) => {
            let (start, end) = (line.start + group.start, line.start + group.end);
            Some(groups.id(bytes, start..end, fields.round)?)
        }
        None => None,
    };
    let key = line.start + key.start..line.start + key.end;
    Ok(Record { row: Row::new(line, key), group, weight: None })
}

/// A column of a line of `len` bytes, whose delimiters are the bits of a mask.
#[inline(always)]
fn column(mut mask: u64, len: usize, place: usize) -> Option<Range<usize>> {
    let mut start = 0;
    for _ in 0..place {
        if mask == 0 {
            return None;
        }
        start = mask.trailing_zeros() as usize + 1;
        mask &= mask - 1;
    }
    Some(start..if mask == 0 { len } else { mask.trailing_zeros() as usize })
}

/// A column of a line that is longer than its mask.
fn long_column(mask: u64, text: &[u8], delimiter: u8, place: usize) -> Option<Range<usize>> {
    if mask.count_ones() as usize > place {
        return column(mask, 64, place);
    }
    let mut ends = memchr::memchr_iter(delimiter, text);
    let start = if place == 0 { 0 } else { ends.nth(place - 1)? + 1 };
    Some(start..ends.next().unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_lines_short_and_long() {
        for lengths in
            [[0, 0, 0], [9, 3, 2], [20, 20, 22], [20, 20, 23], [70, 1, 5], [1, 61, 70], [62, 0, 0]]
        {
            let fields = lengths.map(|len| "x".repeat(len));
            let text = fields.join("\t");
            let mask = text.bytes().take(64).enumerate();
            let mask = mask.fold(0, |mask, (i, byte)| mask | u64::from(byte == b'\t') << i);
            for place in 0..4 {
                let expected = fields.get(place).map(|field| {
                    let start = place + fields[..place].iter().map(String::len).sum::<usize>();
                    start..start + field.len()
                });
                assert_eq!(
                    long_column(mask, text.as_bytes(), b'\t', place),
                    expected,
                    "{lengths:?}"
                );
                if text.len() <= 64 {
                    assert_eq!(column(mask, text.len(), place), expected, "{lengths:?}");
                }
            }
        }
    }
}
