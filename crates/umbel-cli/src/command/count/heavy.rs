//! `umbel count heavy`: which keys come most often?

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use serde_json::json;
use umbel::heavy::HeavyKey;
use umbel::{Counts, Heavy, KeyType};
use umbel_io::{Column, Shape, count};

use crate::input::{Grouping, Input};
use crate::notice;
use crate::output::Output;
use crate::progress::Progress;
use crate::table::grouped;

const EXAMPLES: &str = "\
Examples:
  umbel count heavy access.log --key 1 -d ' ' --top 20        the twenty most frequent
  umbel count heavy access.log --key 1 -d ' ' --share 0.001   all above a thousandth of the total
  umbel count heavy sales.csv --key product --weight euros
Each line: the key, a tab, what it came to at most, a tab, what it came to at least.
Exit code: 0 = a key was printed, 1 = none, 2 = an error.";

/// Print the keys that come most often, with bounds that are certain
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Files with keys, also compressed; - or none is stdin
    files: Vec<PathBuf>,

    /// The number of keys to print [default: 10]
    #[arg(long, value_name = "K", conflicts_with = "share")]
    top: Option<u32>,

    /// Print every key above this share of the total weight, and those that may be
    #[arg(long, value_name = "SHARE")]
    share: Option<f64>,

    /// Keys kept while counting: counts are too high by at most the total divided by this [default: 1000, or more
    /// where --top or --share need it]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    places: Option<u32>,

    /// Print JSON, one object a line
    #[arg(long)]
    json: bool,

    /// The column of the weight, a whole number [default: each row counts 1]
    #[arg(long, value_name = "COL", help_heading = "Input")]
    weight: Option<Column>,

    #[command(flatten)]
    input: Input,
}

/// Places where none are asked for.
const PLACES: u32 = 1000;
/// Keys that are printed where no number is asked for.
const TOP: u32 = 10;

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        let counts = match &self.files[..] {
            [file] if is_umbel(file) => self.saved(file)?,
            _ => self.count()?,
        };
        let Some(heavy) = counts.heavy() else {
            bail!(
                "{}: it holds {} without heavy hitters: build it with --heavy",
                self.files[0].display(),
                counts.kind()
            )
        };
        let (keys, complete) = match self.share {
            Some(share) => {
                let above = heavy.above(share)?;
                (above.keys, above.complete)
            }
            None => (heavy.top(self.top.unwrap_or(TOP) as usize), true),
        };
        if !complete {
            notice::warn(format!(
                "keys above this share may be missing: {} places tell those above {}",
                grouped(heavy.places().into()),
                grouped(heavy.missed()),
            ));
        }
        let mut out = Output::stdout();
        keys.iter().try_for_each(|key| self.write(key, heavy, &mut out))?;
        out.commit()?;
        Ok(ExitCode::from(u8::from(keys.is_empty())))
    }

    /// Counts the keys of the input.
    fn count(&self) -> Result<Counts> {
        let empty = Counts::from(Heavy::new(self.places()?)?);
        let shape = self.input.shape(&Grouping::default(), false);
        let driver = self.input.driver(&self.files, Shape { weight: self.weight.clone(), ..shape });
        let progress = Progress::watch(&driver.meter);
        let (counts, tally) = count::count(&driver, &empty)?;
        drop(progress);
        notice::malformed(&tally);
        Ok(counts)
    }

    /// Enough places for what is asked, where they are not given.
    fn places(&self) -> Result<u32> {
        if let Some(places) = self.places {
            return Ok(places);
        }
        let needed = match self.share {
            // Half the share for the error: who is printed is above half of what was asked.
            Some(share) => Heavy::for_share(share)?.places().saturating_mul(2),
            None => self.top.unwrap_or(TOP).saturating_mul(10),
        };
        Ok(needed.max(PLACES))
    }

    /// The heavy hitters that were counted before.
    fn saved(&self, file: &PathBuf) -> Result<Counts> {
        if self.weight.is_some() || self.places.is_some() || self.input.key.is_some() {
            bail!(
                "{}: this is a sketch, it has been counted: leave out --key, --weight and --places",
                file.display()
            );
        }
        Ok(Counts::open(file)?)
    }

    fn write(&self, found: &HeavyKey, heavy: &Heavy, out: &mut Output) -> Result<()> {
        let key = match (heavy.key_type(), (&*found.key).try_into()) {
            (KeyType::U64, Ok(bits)) => i64::from_le_bytes(bits).to_string().into_bytes(),
            _ => found.key.to_vec(),
        };
        if self.json {
            let object = json!({
                "key": String::from_utf8_lossy(&key),
                "at_most": found.count,
                "at_least": found.least,
                "certain": found.certain,
                "total": heavy.total(),
            });
            writeln!(out, "{object}")?;
        } else {
            out.write_all(&key)?;
            writeln!(out, "\t{}\t{}", found.count, found.least)?;
        }
        Ok(())
    }
}

/// Whether a file is one of ours; what cannot be opened is left to whoever reads it.
fn is_umbel(path: &PathBuf) -> bool {
    umbel::format::File::open(path).is_ok()
}
