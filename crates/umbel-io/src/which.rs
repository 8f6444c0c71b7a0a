//! Which groups may hold each key?

use umbel::Groups;

use crate::pieces::Pieces;
use crate::{Batch, Driver, Result, Tally, visible};

/// Hands out each key that a group admits, a tab, and the groups, in order, with commas between: a line each, in the order of the
/// input, in pieces that may end amid a line. Returns the number of lines too. A key that is a number is written as one; control
/// characters in the names of groups are written as escapes.
pub fn which(
    driver: &Driver,
    groups: &Groups,
    mut deliver: impl FnMut(&[u8]) -> Result<()> + Send,
) -> Result<(u64, Tally)> {
    let outcome = driver.run_in_pieces(
        || 0u64,
        |admitted, batch, emit| {
            let mut lines = Pieces::new(emit);
            *admitted += write(batch, groups, driver.shape.integers, &mut lines)?;
            Ok(lines.into_last())
        },
        |lines| deliver(&lines),
    )?;
    let admitted = outcome.partials.iter().map(|(admitted, _)| admitted).sum();
    Ok((admitted, outcome.tally))
}

/// Writes the lines of a batch; returns how many.
fn write(batch: &Batch, groups: &Groups, integers: bool, lines: &mut Pieces) -> Result<u64> {
    let mut admitted = 0;
    for row in batch.rows() {
        let mut names = groups.which(batch.key(&row)).map(visible);
        let Some(first) = names.next() else { continue };
        admitted += 1;
        lines.push(&batch.key_text(&row, integers))?;
        lines.push(b"\t")?;
        lines.push(first.as_bytes())?;
        for name in names {
            lines.push(b",")?;
            lines.push(name.as_bytes())?;
        }
        lines.push(b"\n")?;
    }
    Ok(admitted)
}
