//! Which groups may hold each key?

use umbel::Groups;

use crate::screen::Spare;
use crate::{Driver, Result, Tally, visible};

/// Hands out each key that a group admits, a tab, and the groups, in order, with commas between: a line each, in the order of the
/// input. Returns the number of lines too. A key that is a number is written as one; control characters in the names of groups are
/// written as escapes.
pub fn which(
    driver: &Driver,
    groups: &Groups,
    mut deliver: impl FnMut(&[u8]) -> Result<()> + Send,
) -> Result<(u64, Tally)> {
    let spare = Spare::default();
    let outcome = driver.run(
        || 0u64,
        |admitted, batch| {
            let mut screened = spare.screened(batch);
            let lines = &mut screened.admitted;
            for row in batch.rows() {
                let names: Vec<_> = groups.which(batch.key(&row)).map(visible).collect();
                if !names.is_empty() {
                    *admitted += 1;
                    batch.write_key(&row, driver.shape.integers, lines);
                    lines.push(b'\t');
                    lines.extend_from_slice(names.join(",").as_bytes());
                    lines.push(b'\n');
                }
            }
            Ok(screened)
        },
        |screened| {
            deliver(&screened.admitted)?;
            spare.keep(screened);
            Ok(())
        },
    )?;
    let admitted = outcome.partials.iter().map(|(admitted, _)| admitted).sum();
    Ok((admitted, outcome.tally))
}
