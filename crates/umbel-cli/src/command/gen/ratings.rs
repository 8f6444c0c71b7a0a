//! `umbel gen ratings`: a table of titles, ratings and votes.

use std::io::{self, Write};

use anyhow::Result;

use super::Common;
use super::random::Random;
use super::urn::Urn;

/// Make a table of rated titles: tconst, averageRating, numVotes
#[derive(clap::Args)]
#[command(after_help = "\
Tab-separated, with a header and 1254184 rows. The ratings, rounded half up, are in random order:
 rating    1    2     3     4      5      6      7      8      9    10
 titles 2546 6623 17937 43912 103292 220871 373321 355416 113980 16286

Malformed rows come on top, the kinds in turn: too few fields, an empty rating, a rating that is no \
number (a null mark, a comma, a word), an empty title.

Example:
  umbel gen ratings --malformed 100 -o ratings.tsv")]
pub struct Args {
    /// Add this many malformed rows at random places
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = crate::input::whole)]
    malformed: u64,
    #[command(flatten)]
    common: Common,
}

/// Titles with a rating that rounds to 1, 2, … 10.
const TITLES: [u64; 10] =
    [2546, 6623, 17_937, 43_912, 103_292, 220_871, 373_321, 355_416, 113_980, 16_286];

/// What stands after the title's name in a malformed row; the last kind has no name.
const MALFORMED: [&str; 6] = ["", "\t\t12", "\t\\N\t7", "\t7,3\t25", "\tgood\t31", "\t6.4\t18"];

impl Args {
    pub fn run(self) -> Result<()> {
        let (mut random, mut places) = (self.common.random(), self.common.random_places());
        let lines = 1 + TITLES.iter().sum::<u64>() + self.malformed;
        self.common
            .write(Some(lines), |out| Ok(write(self.malformed, &mut random, &mut places, out)?))
    }
}

/// Titles ascend with gaps, as in a catalogue; the eighth digit comes when it is needed.
/// Malformed rows have random numbers of their own, so that the others are the same table with and without them.
fn write(
    malformed: u64,
    random: &mut Random,
    places: &mut Random,
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(out, "tconst\taverageRating\tnumVotes")?;
    let mut urn = Urn::new(&TITLES);
    let (mut title, mut good, mut bad) = (1, TITLES.iter().sum::<u64>(), 0);
    loop {
        while bad < malformed && places.below(good.saturating_add(malformed - bad)) >= good {
            write_malformed(bad, out)?;
            bad += 1;
        }
        let Some(group) = urn.draw(random) else { return Ok(()) };
        let tenths = tenths(group as u64 + 1, random);
        let (whole, rest) = (tenths / 10, tenths % 10);
        writeln!(out, "tt{title:07}\t{whole}.{rest}\t{}", votes(random))?;
        title += 1 + random.below(15);
        good -= 1;
    }
}

/// A rating of the group, in tenths; ratings run from 1.0 to 10.0.
fn tenths(group: u64, random: &mut Random) -> u64 {
    let lowest = (10 * group - 5).max(10);
    let highest = (10 * group + 4).min(100);
    lowest + random.below(highest - lowest + 1)
}

/// Five at least; twice as many are half as likely.
fn votes(random: &mut Random) -> u64 {
    let doublings = random.next().trailing_zeros().min(17);
    5 + random.below(20 << doublings)
}

/// The kinds take turns, so that a few rows show them all. Their titles are no others'.
fn write_malformed(turn: u64, out: &mut impl Write) -> io::Result<()> {
    let kind = (turn % MALFORMED.len() as u64) as usize;
    if kind < MALFORMED.len() - 1 {
        write!(out, "tt{}", 90_000_000 + turn)?;
    }
    writeln!(out, "{}", MALFORMED[kind])
}
