//! numpy's arrays in chunks.

use pyo3::prelude::*;

use super::Column;
use super::chunk::{Cells, Chunk, Gather, Want};
use crate::error::OrRaise;
use crate::foreign::numpy::{Kind, NumpyArray};

/// Rows gathered at a time.
const ROWS: usize = 1024;

/// The column in an object that has `__array_interface__`.
pub fn column<'py>(object: &Bound<'py, PyAny>) -> PyResult<Column<'py>> {
    let array = NumpyArray::of(object)?;
    match array.kind() {
        Kind::Objects => Column::of(&array.objects()?),
        _ => Ok(Column::Numpy(array)),
    }
}

/// Works on the rows of an array, in order.
pub fn each(
    py: Python<'_>,
    array: &NumpyArray<'_>,
    want: Want,
    mut work: impl FnMut(Chunk<'_>) -> umbel::Result<()> + Send,
) -> PyResult<()> {
    match (want, array.kind()) {
        (Want::Bytes, Kind::Bytes(_)) => {
            let ((bytes, width), rows) = (array.bytes(), array.rows());
            py.detach(|| each_text(bytes, width, rows, work)).or_raise()
        }
        (
            Want::Integers | Want::Signed | Want::Numbers | Want::Weights,
            Kind::Integers { signed },
        ) => {
            let words = array.words();
            py.detach(|| want.check(words, signed))?;
            py.detach(|| work(Chunk::whole(Cells::Words(words)))).or_raise()
        }
        (Want::Numbers, Kind::Floats) => {
            let floats = array.floats();
            py.detach(|| work(Chunk::whole(Cells::Floats(floats)))).or_raise()
        }
        (_, Kind::Bytes(_)) => Err(want.refuse("an array of bytes")),
        (_, Kind::Integers { .. }) => Err(want.refuse("an array of integers")),
        (_, Kind::Floats | Kind::Objects) => Err(want.refuse("an array of floats")),
    }
}

/// Keys of the same width, one behind the other; as for numpy, zeros at the end of one do not count.
fn each_text(
    bytes: &[u8],
    width: usize,
    rows: usize,
    mut work: impl FnMut(Chunk<'_>) -> umbel::Result<()>,
) -> umbel::Result<()> {
    let mut gather = Gather::new(ROWS, false);
    for first in (0..rows).step_by(ROWS) {
        let last = rows.min(first + ROWS);
        gather.clear();
        for row in first..last {
            gather.push(row - first, trimmed(&bytes[row * width..(row + 1) * width]));
        }
        work(gather.chunk(last - first, Cells::Bytes))?;
    }
    Ok(())
}

fn trimmed(cell: &[u8]) -> &[u8] {
    let end = cell.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    &cell[..end]
}
