//! Arrow's arrays in chunks.

use std::ops::Range;

use pyo3::prelude::*;

use super::chunk::{Cells, Chunk, Gather, Want};
use crate::error::OrRaise;
use crate::foreign::arrow::{Array, Kind, Stream};

/// Rows gathered at a time: what is known of them stays in the nearest cache.
const ROWS: usize = 1024;

/// Works on the rows of an array, in order.
pub fn each(
    kind: &Kind,
    array: &Array,
    want: Want,
    mut work: impl FnMut(Chunk<'_>) -> umbel::Result<()>,
) -> PyResult<()> {
    match (want, kind.values()) {
        (_, Kind::Null) => {
            work(Chunk { cells: Cells::Bytes(&[]), rows: array.len(), places: Some(&[]) })
                .or_raise()
        }
        (Want::Bytes, Kind::Text | Kind::LargeText | Kind::Views | Kind::Fixed(_)) => {
            let nulls = may_be_null(kind, array);
            let mut gather = Gather::new(ROWS, nulls);
            each_range(array.len(), |rows| {
                gather.clear();
                match kind {
                    Kind::Text if !nulls => gather.extend(array.texts(rows.clone())),
                    Kind::LargeText if !nulls => gather.extend(array.large_texts(rows.clone())),
                    Kind::Views if !nulls => gather.extend(array.views(rows.clone())),
                    _ => array.each_text(kind, rows.clone(), |row, text| {
                        gather.push(row - rows.start, text);
                    }),
                }
                work(gather.chunk(rows.len(), Cells::Bytes)).or_raise()
            })
        }
        (
            Want::Integers | Want::Signed | Want::Numbers | Want::Weights,
            &Kind::Integers { signed, .. },
        ) => {
            let mut work = |words: &[u64], chunk: Chunk<'_>| {
                want.check(words, signed)?;
                work(chunk).or_raise()
            };
            if let Some(words) = array.words(kind) {
                return work(words, Chunk::whole(Cells::Words(words)));
            }
            let mut gather = Gather::new(ROWS, may_be_null(kind, array));
            each_range(array.len(), |rows| {
                gather.clear();
                array
                    .each_word(kind, rows.clone(), |row, word| gather.push(row - rows.start, word));
                work(gather.values(), gather.chunk(rows.len(), Cells::Words))
            })
        }
        (Want::Numbers, Kind::Floats { .. }) => {
            if let Some(floats) = array.floats(kind) {
                return work(Chunk::whole(Cells::Floats(floats))).or_raise();
            }
            let mut gather = Gather::new(ROWS, may_be_null(kind, array));
            each_range(array.len(), |rows| {
                gather.clear();
                array.each_float(kind, rows.clone(), |row, x| gather.push(row - rows.start, x));
                work(gather.chunk(rows.len(), Cells::Floats)).or_raise()
            })
        }
        (_, other) => Err(want.refuse(other.name())),
    }
}

/// A dictionary may have nulls among its values.
fn may_be_null(kind: &Kind, array: &Array) -> bool {
    array.has_nulls() || matches!(kind, Kind::Dictionary { .. })
}

fn each_range(rows: usize, mut work: impl FnMut(Range<usize>) -> PyResult<()>) -> PyResult<()> {
    (0..rows).step_by(ROWS).try_for_each(|first| work(first..rows.min(first + ROWS)))
}

/// Works on the rows of all arrays of a stream, in order.
pub fn each_of_stream(
    mut stream: Stream,
    want: Want,
    mut work: impl FnMut(Chunk<'_>) -> umbel::Result<()>,
) -> PyResult<()> {
    let kind = stream.kind()?;
    while let Some(array) = stream.next()? {
        each(&kind, &array, want, &mut work)?;
    }
    Ok(())
}
