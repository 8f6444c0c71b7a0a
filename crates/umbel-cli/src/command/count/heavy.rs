//! `umbel count heavy`: which keys come most often?

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use serde_json::json;
use umbel::format::MAGIC;
use umbel::heavy::HeavyKey;
use umbel::{Counts, Heavy, KeyType};
use umbel_io::{Column, Shape, count};

use crate::input::{Grouping, Input};
use crate::output::Output;
use crate::progress::Progress;
use crate::table::grouped;
use crate::{json, notice};

const EXAMPLES: &str = "\
Examples:
  umbel count heavy access.log --key 1 -d ' ' --top 20       the twenty first
  umbel count heavy access.log --key 1 -d ' ' --share 0.001  above a share
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
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    top: Option<u32>,

    /// Print every key above this share of the total weight, and those that may be
    #[arg(long, value_name = "SHARE")]
    share: Option<f64>,

    /// Keys kept while counting: counts are too high by at most the total divided by this [default: 1000, or more
    /// where --top or --share need it]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    places: Option<u32>,

    /// Print those of this group, from a sketch
    #[arg(long, value_name = "NAME")]
    group: Option<String>,

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
        let counts = match self.sketch()? {
            Some(file) => self.saved(file)?,
            None => self.count()?,
        };
        let Some(heavy) = counts.heavy() else {
            bail!(
                "{}: it holds {} without heavy hitters: build it with --heavy",
                self.files[0].display(),
                counts.kind()
            )
        };
        let keys = match self.share {
            Some(share) => above(heavy, share)?,
            None => top(heavy, self.top.unwrap_or(TOP.min(heavy.places()))),
        };
        let mut out = Output::stdout();
        keys.iter().try_for_each(|key| self.write(key, heavy, &mut out))?;
        out.commit()?;
        Ok(ExitCode::from(u8::from(keys.is_empty())))
    }

    /// The sketch that is asked, where the input is one.
    fn sketch(&self) -> Result<Option<&Path>> {
        let Some(sketch) = self.files.iter().find(|file| is_umbel(file)) else { return Ok(None) };
        if self.files.len() > 1 {
            bail!(
                "{}: this is a sketch, and can only be asked alone: umbel merge makes one of several",
                sketch.display()
            );
        }
        Ok(Some(sketch))
    }

    /// Counts the keys of the input.
    fn count(&self) -> Result<Counts> {
        if self.group.is_some() {
            bail!("--group asks a sketch of groups: build one with umbel count build --by --heavy");
        }
        self.input.check_delimiter(self.input.key.is_some() || self.weight.is_some())?;
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
        if let (Some(places), Some(top)) = (self.places, self.top)
            && top > places
        {
            bail!("--top {top} needs as many places: --places {places} are too few");
        }
        let needed = match self.share {
            // Half the share for the error: who is printed is above half of what was asked.
            Some(share) => Heavy::for_share(share)?.places().saturating_mul(2),
            None => self.top.unwrap_or(TOP).saturating_mul(10),
        };
        Ok(self.places.unwrap_or(needed.max(PLACES)))
    }

    /// The heavy hitters that were counted before.
    fn saved(&self, file: &Path) -> Result<Counts> {
        let of_input = [("--weight", self.weight.is_some()), ("--places", self.places.is_some())];
        let given = of_input.into_iter().find(|(_, given)| *given).map(|(name, _)| name);
        if let Some(option) = given.or(self.input.given()) {
            bail!("{}: this is a sketch, it has been counted: leave out {option}", file.display());
        }
        super::open(file, self.group.as_deref())
    }

    fn write(&self, found: &HeavyKey, heavy: &Heavy, out: &mut Output) -> Result<()> {
        let key = match (heavy.key_type(), (&*found.key).try_into()) {
            (KeyType::U64, Ok(bits)) => i64::from_le_bytes(bits).to_string().into_bytes(),
            _ => found.key.to_vec(),
        };
        if self.json {
            let facts = json!({
                "at_most": found.count,
                "at_least": found.least,
                "certain": found.certain,
                "total": heavy.total(),
            });
            writeln!(out, "{}", json::about(&key, facts))?;
        } else {
            out.write_all(&key)?;
            writeln!(out, "\t{}\t{}", found.count, found.least)?;
        }
        Ok(())
    }
}

/// The keys with the highest counts. Where more are asked for than are kept, that is said.
fn top(heavy: &Heavy, count: u32) -> Vec<HeavyKey> {
    let (keys, places) = (heavy.top(count as usize), heavy.places());
    if places < count && keys.len() == places as usize {
        let (places, count) = (grouped(places.into()), grouped(count.into()));
        notice::warn(format!("{places} keys are kept, fewer than the {count} asked for"));
    }
    keys
}

/// The keys above a share. Where some may be missing, that is said.
fn above(heavy: &Heavy, share: f64) -> Result<Vec<HeavyKey>> {
    let above = heavy.above(share)?;
    if !above.complete {
        notice::warn(format!(
            "keys above this share may be missing: {} places tell those above {}",
            grouped(heavy.places().into()),
            grouped(heavy.missed()),
        ));
    }
    Ok(above.keys)
}

/// Whether a file is one of ours, whole or damaged. Of a pipe nothing must be read here: it could not be read again.
fn is_umbel(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    let is_file = fs::metadata(path).is_ok_and(|found| found.is_file());
    is_file
        && fs::File::open(path).is_ok_and(|mut file| file.read_exact(&mut start).is_ok())
        && start == MAGIC
}
