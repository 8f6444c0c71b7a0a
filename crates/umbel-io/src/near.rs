//! Numbers, and which of others are near them.

use umbel::format::File;
use umbel::near::{Builder, Grid, Near, Number, Structure};

use crate::batch::CHUNK;
use crate::filters::verify;
use crate::number::get;
use crate::pieces::Pieces;
use crate::screen::{Screened, Summary, Wanted, select};
use crate::{Batch, Driver, Result, Tally};

/// A filter of its own for each thread as long as all together take no more bytes than this; beyond, one is filled in turn.
const APART: u64 = 1 << 30;

/// What to build of values that are all in the input.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wish {
    /// alpha, beta, and what the values are.
    pub grid: Grid,
    /// The rate of false positives for a whole question.
    pub p: f64,
    /// The seed of the hash.
    pub seed: u64,
    /// How they are kept.
    pub kept: Kept,
}

/// How values are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// In the smallest list.
    Smallest,
    /// In an exact list, whatever it costs.
    Exactly,
    /// In a growing filter, sized for those that are there.
    Growing,
}

/// Builds a structure of all values in the input. They are gathered first, eight bytes each.
pub fn build(driver: &Driver, wish: &Wish) -> Result<(Near, Tally)> {
    let outcome = driver.run(
        || Builder::new(wish.grid).with_seed(wish.seed),
        |builder, batch| Ok(builder.extend(numbers(batch, &wish.grid))?),
        |()| Ok(()),
    )?;
    let mut parts = outcome.partials.into_iter().map(|(builder, _)| builder);
    let mut all = parts.next().unwrap_or_else(|| Builder::new(wish.grid).with_seed(wish.seed));
    parts.try_for_each(|part| all.join(part))?;
    let near = match wish.kept {
        Kept::Smallest => all.build(wish.p)?,
        Kept::Exactly => all.build_as(Structure::ExactList, wish.p)?,
        Kept::Growing => all.build_growing(wish.p)?,
    };
    Ok((near, outcome.tally))
}

/// Adds all values in the input to a growing filter like this one, which is empty.
pub fn fill(driver: &Driver, empty: Near) -> Result<(Near, Tally)> {
    let bytes = (empty.bits() / 8).saturating_mul(driver.threads as u64);
    if bytes <= APART { fill_apart(driver, empty) } else { fill_in_turn(driver, empty) }
}

/// Each thread fills a filter of its own, and they are merged.
fn fill_apart(driver: &Driver, empty: Near) -> Result<(Near, Tally)> {
    let grid = empty.params().grid();
    let outcome = driver.run(
        || empty.clone(),
        |near, batch| Ok(near.insert_batch(&numbers(batch, &grid).collect::<Vec<_>>())?),
        |()| Ok(()),
    )?;
    let mut parts = outcome.partials.into_iter().map(|(near, _)| near);
    let mut all = parts.next().unwrap_or(empty);
    parts.try_for_each(|part| all.merge(&part).map(drop))?;
    Ok((all, outcome.tally))
}

/// The threads read; values are added in the order of the input.
fn fill_in_turn(driver: &Driver, mut near: Near) -> Result<(Near, Tally)> {
    let grid = near.params().grid();
    let outcome = driver.run(
        || (),
        |(), batch| Ok(numbers(batch, &grid).collect::<Vec<_>>()),
        |values| Ok(near.insert_batch(&values)?),
    )?;
    Ok((near, outcome.tally))
}

/// Verifies a file in several threads and reads it into memory: that has huge pages, which a mapped file has not, and a long run
/// does not depend on what becomes of the file.
pub fn read(file: File, threads: usize) -> Result<Near> {
    verify(&file, threads)?;
    let near = file.into_near()?;
    near.verify()?;
    Ok(near.into_memory())
}

/// Which numbers of the input have a stored one within `alpha`: hands out the wanted lines in its order, those with a
/// neighbour as admitted ones.
pub fn query(
    driver: &Driver,
    near: &Near,
    alpha: f64,
    wanted: Wanted,
    deliver: impl FnMut(&Screened) -> Result<()> + Send,
) -> Result<Summary> {
    let contains = |batch: &Batch, found: &mut [u64]| {
        let grid = near.params().grid();
        let mut questions = [Number::Integer(0); CHUNK];
        let mut answers = [false; CHUNK];
        let mut numbers = numbers(batch, &grid);
        for found in found.chunks_mut(CHUNK / 64) {
            let len = numbers.len().min(CHUNK);
            let (questions, answers) = (&mut questions[..len], &mut answers[..len]);
            questions
                .iter_mut()
                .zip(&mut numbers)
                .for_each(|(question, number)| *question = number);
            near.contains_batch_within(questions, alpha, answers)?;
            for (word, answers) in found.iter_mut().zip(answers.chunks(64)) {
                *word = answers.iter().rev().fold(0, |word, &yes| word << 1 | u64::from(yes));
            }
        }
        Ok(())
    };
    select(driver, contains, wanted, deliver)
}

/// Hands out the numbers of the input that have a stored one within `alpha`, in its order, a line each: the number, the
/// nearest one that is stored, and how far it is, with tabs between. Returns the number of lines too.
pub fn nearest(
    driver: &Driver,
    near: &Near,
    alpha: f64,
    mut deliver: impl FnMut(&[u8]) -> Result<()> + Send,
) -> Result<(u64, Tally)> {
    let values = near.params().grid().values();
    let outcome = driver.run_in_pieces(
        || 0u64,
        |found, batch, emit| {
            let mut lines = Pieces::new(emit);
            for row in batch.rows() {
                let x = get(batch.key(&row), values);
                if !near.contains_within(x, alpha)? {
                    continue;
                }
                *found += 1;
                if let Some(nearest) = near.nearest(x)? {
                    let distance = Number::Float(nearest.distance);
                    let line = format!("{x}\t{}\t{distance}\n", nearest.value);
                    lines.push(line.as_bytes())?;
                }
            }
            Ok(lines.into_last())
        },
        |lines| deliver(&lines),
    )?;
    let found = outcome.partials.iter().map(|(found, _)| found).sum();
    Ok((found, outcome.tally))
}

/// The numbers of a batch.
fn numbers<'b>(batch: &'b Batch, grid: &Grid) -> impl ExactSizeIterator<Item = Number> + 'b {
    let values = grid.values();
    batch.rows().map(move |row| get(batch.key(&row), values))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Arc;

    use super::*;
    use crate::{Meter, Shape, Source};

    /// Filters too large for one a thread are filled in turn, to the same bytes.
    #[test]
    fn filled_in_turn_is_filled_apart() {
        let grid = Grid::integers(5, 1).unwrap();
        let mut file = tempfile::NamedTempFile::new().unwrap();
        (0..100_000_u64).for_each(|i| writeln!(file, "{}", i * i % 999_983).unwrap());
        for threads in [1, 2, 3, 7] {
            let driver = Driver {
                sources: vec![Source::new(file.path())],
                shape: Shape { numbers: Some(grid), ..Shape::default() },
                threads,
                strict: false,
                meter: Arc::new(Meter::default()),
            };
            let empty = Near::growing(grid, 100_000, 0.01).unwrap();
            let (apart, _) = fill_apart(&driver, empty.clone()).unwrap();
            let (in_turn, tally) = fill_in_turn(&driver, empty).unwrap();
            assert_eq!((tally.rows, in_turn.inserted()), (100_000, 100_000));
            assert!(apart.to_bytes().unwrap() == in_turn.to_bytes().unwrap(), "{threads} threads");
        }
    }
}
