//! `umbel gen numbers`: numbers, and others near to them or far from them.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail, ensure};
use clap::value_parser;
use umbel_io::Source;

use super::Common;
use super::decimal::{self, MOST_DECIMALS};
use super::lines::Lines;
use super::random::Random;
use crate::overlap;

/// Make numbers, one a line; or such as are near to those of a file, or far from all of them
#[derive(clap::Args)]
#[command(after_help = "\
All have the same number of decimals, and each that lies between the ends is as likely as the others; \
a number may come again. Distances are exact.

Example: values, questions that have one within 5, and questions that have none
  umbel gen numbers -n 1000000 --max 1000000000 --decimals 2 -o values.txt
  umbel gen numbers -n 1000 --of values.txt --within 5 --decimals 2 -o near.txt
  umbel gen numbers -n 1000 --of values.txt --beyond 6 --decimals 2 -o far.txt")]
pub struct Args {
    /// How many numbers
    #[arg(short, value_name = "N")]
    n: u64,
    /// The least [default: 0; with --beyond, somewhat below the least of the file]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, conflicts_with = "within")]
    min: Option<String>,
    /// The greatest [default: 1000000; with --beyond, somewhat above the greatest of the file]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, conflicts_with = "within")]
    max: Option<String>,
    /// Decimals of each
    #[arg(long, default_value_t = 0, value_name = "DIGITS", value_parser = value_parser!(u32).range(..=i64::from(MOST_DECIMALS)))]
    decimals: u32,
    /// The numbers to be near to or far from, one a line; - is standard input
    #[arg(long, value_name = "FILE")]
    of: Option<PathBuf>,
    /// Each is at most this far from one of the file
    #[arg(
        long,
        value_name = "DISTANCE",
        allow_negative_numbers = true,
        requires = "of",
        conflicts_with = "beyond"
    )]
    within: Option<String>,
    /// Each is further than this from all of the file
    #[arg(long, value_name = "DISTANCE", allow_negative_numbers = true, requires = "of")]
    beyond: Option<String>,
    #[command(flatten)]
    common: Common,
}

impl Args {
    pub fn run(self) -> Result<()> {
        let (n, decimals) = (self.n, self.decimals);
        let mut random = self.common.random();
        let source = self.source()?;
        ensure!(n == 0 || source.count > 0, "there is no such number: {}", self.advice());
        self.common.write(Some(n), |out| {
            let mut line = String::new();
            for _ in 0..n {
                line.clear();
                decimal::write(source.draw(&mut random), decimals, &mut line);
                line.push('\n');
                out.write_all(line.as_bytes())?;
            }
            Ok(())
        })
    }

    /// Where the numbers come from.
    fn source(&self) -> Result<Runs> {
        let Some(path) = &self.of else {
            let least = self.number("--min", self.min.as_deref().unwrap_or("0"))?;
            let greatest = self.number("--max", self.max.as_deref().unwrap_or("1000000"))?;
            return Ok(Runs::new([(least, greatest)]));
        };
        overlap::check(self.common.path(), [path])?;
        match (&self.within, &self.beyond) {
            (Some(within), _) => self.near(path, self.distance("--within", within)?),
            (None, Some(beyond)) => self.far(path, self.distance("--beyond", beyond)?),
            (None, None) => {
                bail!("--of needs --within or --beyond: near to its numbers, or far from them?")
            }
        }
    }

    /// Around each number of the file.
    fn near(&self, path: &Path, distance: i64) -> Result<Runs> {
        let numbers = self.read(path)?;
        Ok(Runs::new(numbers.into_iter().map(|y| (y - distance, y + distance))))
    }

    /// Between the numbers of the file.
    fn far(&self, path: &Path, distance: i64) -> Result<Runs> {
        let mut numbers = self.read(path)?;
        numbers.sort_unstable();
        numbers.dedup();
        let (Some(first), Some(last)) = (numbers.first(), numbers.last()) else {
            bail!("{}: there are no numbers in it", path.display());
        };
        let given = |name, text: &Option<String>, usual| match text {
            Some(text) => self.number(name, text),
            None => Ok(usual),
        };
        let least = given("--min", &self.min, first - 2 * distance - 1)?;
        let greatest = given("--max", &self.max, last + 2 * distance + 1)?;
        // From behind each number to before the next.
        let starts =
            std::iter::once(least).chain(numbers.iter().map(|y| least.max(y + distance + 1)));
        let ends = numbers.iter().map(|y| greatest.min(y - distance - 1)).chain([greatest]);
        Ok(Runs::new(starts.zip(ends)))
    }

    fn read(&self, path: &Path) -> Result<Vec<i64>> {
        let source = Source::new(path);
        let name = source.name();
        let mut lines = Lines::open(source)?;
        let mut numbers = Vec::new();
        while let Some(line) = lines.next()? {
            let text = String::from_utf8_lossy(line);
            let number = decimal::parse(text.trim_end_matches('\r'), self.decimals);
            let place = format!("{name}, line {}", numbers.len() + 1);
            numbers.push(number.ok_or_else(|| anyhow!("{place}: {}", self.refuse(&text)))?);
        }
        Ok(numbers)
    }

    fn number(&self, name: &str, text: &str) -> Result<i64> {
        decimal::parse(text, self.decimals).ok_or_else(|| anyhow!("{name}: {}", self.refuse(text)))
    }

    /// At most a tenth of the largest number, so that what is that far off fits 64 bits.
    fn distance(&self, name: &str, text: &str) -> Result<i64> {
        let distance = self.number(name, text)?;
        ensure!(
            (0..=decimal::MOST / 10).contains(&distance),
            "{name}: {text} is not a distance from 0 to 10^17 times the last decimal"
        );
        Ok(distance)
    }

    fn refuse(&self, text: &str) -> String {
        format!(
            "{text:?} is not a number with at most {} decimals (--decimals) and 18 digits",
            self.decimals
        )
    }

    fn advice(&self) -> &'static str {
        match (&self.within, &self.beyond) {
            (Some(_), _) => "the file is empty",
            (_, Some(_)) => "all between --min and --max have one of the file near them",
            _ => "--max is less than --min",
        }
    }
}

/// Runs of numbers, from one to another, both included.
struct Runs {
    /// The first number of each, and how many there are in all before it.
    starts: Vec<(i64, u64)>,
    count: u64,
}

impl Runs {
    /// Runs whose end is before their start are empty.
    fn new(runs: impl IntoIterator<Item = (i64, i64)>) -> Runs {
        let (mut starts, mut count) = (Vec::new(), 0_u64);
        for (first, last) in runs.into_iter().filter(|(first, last)| first <= last) {
            starts.push((first, count));
            count = count.saturating_add(first.abs_diff(last) + 1);
        }
        Runs { starts, count }
    }

    /// A number of a run, each place as likely as the others.
    fn draw(&self, random: &mut Random) -> i64 {
        let place = random.below(self.count);
        let run = self.starts.partition_point(|&(_, before)| before <= place) - 1;
        let (first, before) = self.starts[run];
        first.wrapping_add_unsigned(place - before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_of_every_run_is_drawn() {
        let runs = Runs::new([(-2, 0), (5, 4), (10, 10)]);
        assert_eq!(runs.count, 4);
        let mut counts = std::collections::BTreeMap::new();
        let mut random = Random::new(1);
        for _ in 0..4000 {
            *counts.entry(runs.draw(&mut random)).or_insert(0) += 1;
        }
        assert!(counts.keys().eq(&[-2, -1, 0, 10]));
        assert!(counts.values().all(|count| (850..1150).contains(count)), "{counts:?}");
        assert_eq!(Runs::new([(3, 2)]).count, 0);
    }
}
