//! `umbel similar build`: from items to a filter that knows what is like them.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use umbel::Metadata;
use umbel::format::Kind;
use umbel::similar::{Params, Promise, Similar};
use umbel_io::similar::{self, Census, Reading};
use umbel_io::{Driver, Look, Tally};

use super::asking::{Distance, Metric, Rows};
use crate::input::{self, Grouping, Input};
use crate::output::Output;
use crate::progress::Progress;
use crate::{notice, opened, overlap, remembered};

const EXAMPLES: &str = "\
Examples:
  umbel similar build d.jsonl --text body --metric jaccard \\
    --close 0.2 --far 0.95 -o d.umbel
  umbel similar build v.csv --metric cosine --close 0.02 --far 0.9 -o v.umbel
  umbel similar build p.csv --skip 1 --metric euclid --close 1 --far 9 -o p
  umbel similar build h.txt --hex --metric hamming --close .05 --far .5 -o h
  umbel similar build new.jsonl --like d.umbel -o new.umbel      can be merged
Of close items a share of at most --fn is missed, of far ones at most --fp is taken for close. \
A filter is refused where storing the items would take less.";

/// Build a filter of items from files or stdin: texts, sets, vectors, bit strings
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Files with items, also compressed; - or none is stdin
    files: Vec<PathBuf>,

    /// The file to write, replaced only by a whole one
    #[arg(short = 'o', long, value_name = "FILE")]
    output: PathBuf,

    /// A text pair to keep in the file; may be repeated
    #[arg(long, value_name = "K=V")]
    #[arg(hide_short_help = true)]
    meta: Vec<String>,

    #[command(flatten)]
    distance: Distance,

    /// Room for so many items [default: counted]
    #[arg(short = 'n', value_name = "ITEMS", help_heading = "Filter")]
    n: Option<u64>,

    /// Build it also where storing the items would take less
    #[arg(long, help_heading = "Filter")]
    #[arg(hide_short_help = true)]
    force: bool,

    /// Take all parameters from this filter, for a merge
    #[arg(long, value_name = "FILE", help_heading = "Filter")]
    #[arg(conflicts_with_all = ["metric", "close", "far", "false_positives", "false_negatives", "dim", "shingle", "tokens", "n", "force", "seed"])]
    like: Option<PathBuf>,

    /// The seed of the samples, for a service that takes items from strangers
    #[arg(
        long,
        value_name = "SEED",
        default_value_t = 0,
        hide_default_value = true,
        help_heading = "Filter"
    )]
    #[arg(hide_short_help = true)]
    seed: u64,

    #[command(flatten)]
    rows: Rows,

    #[command(flatten)]
    input: Input,
}

impl Args {
    pub fn run(mut self) -> Result<ExitCode> {
        let files = input::or_stdin(&self.files);
        input::check_stdin(files.iter().chain(&self.like))?;
        overlap::check(&self.output, files.iter().chain(&self.like))?;
        self.input.check_delimiter(self.input.key.is_some())?;
        self.remember(&mut Metadata::default(), &Look::default())?;
        let like = self.like.as_deref().map(read_like).transpose()?;
        if let Some(like) = &like {
            let given = self.input.key.is_some() || self.rows.text.is_some();
            self.rows.recall(like.metadata(), self.input.key.is_some());
            if !given {
                remembered::read(like.metadata(), &mut self.input, &mut Grouping::default());
            }
        }
        let (reading, promise) = match &like {
            Some(like) => (self.rows.reading(like.params().space())?, None),
            None => (self.rows.reading(self.distance.space(1)?)?, Some(self.distance.promise()?)),
        };
        let mut out = Output::create(&self.output)?;
        let driver = self.input.driver(&self.files, self.input.shape(&Grouping::default(), false));
        let progress = Progress::watch(&driver.meter);
        let params = match (&like, &promise) {
            (Some(like), _) => *like.params(),
            (None, Some(promise)) => self.params(&driver, &reading, promise)?,
            (None, None) => bail!("say what is close and what is far"),
        };
        let mut filter = Similar::new(params)?;
        let tally = similar::insert(&driver, &reading, &mut filter)?;
        drop(progress);
        report(&filter, &tally, self.n.is_some() || self.like.is_some());
        self.rows.warn_of_json(self.input.key.is_some(), &tally.look);
        self.remember(filter.metadata_mut(), &tally.look)?;
        filter.write_to(&mut out)?;
        out.commit()?;
        Ok(ExitCode::SUCCESS)
    }

    /// The parameters; what is not given is counted first.
    fn params(&self, driver: &Driver, reading: &Reading, promise: &Promise) -> Result<Params> {
        let needs_length = self.distance.metric()? != Metric::Jaccard;
        let known = self.n.is_some() && (self.distance.dim.is_some() || !needs_length);
        let census = match known {
            true => None,
            false => {
                let missing = if needs_length { "-n and --dim" } else { "-n" };
                similar::check_twice(driver, missing)?;
                let (census, tally) = similar::census(driver, reading)?;
                if census.items == 0 {
                    notice::malformed(&tally);
                    bail!(
                        "there are no items in the input: nothing to size a filter by; give -n{}",
                        if needs_length { " and --dim" } else { "" }
                    );
                }
                Some(census)
            }
        };
        let length = match (self.distance.dim, &census) {
            (Some(dim), _) => dim,
            (None, Some(census)) => u32::try_from(census.length).unwrap_or(u32::MAX),
            (None, None) => 0,
        };
        let n = self.n.or(census.as_ref().map(|census| census.items)).unwrap_or(1);
        let params = Params::at_any_cost(self.distance.space(length)?, n, promise)?;
        self.check_worth(&params, census.as_ref())?;
        Ok(params.with_seed(self.seed))
    }

    /// Refuses a filter that is dearer than its items.
    fn check_worth(&self, params: &Params, census: Option<&Census>) -> Result<()> {
        let known = params.space().item_bits().map(|bits| bits as f64);
        let Some(bits) = known.or(census.map(|census| census.item_bits)) else { return Ok(()) };
        match params.check_worth(bits) {
            Err(error) if self.force => notice::warn(error),
            Err(error) => bail!("{error}; --force builds it all the same"),
            Ok(()) => {}
        }
        Ok(())
    }

    fn remember(&self, metadata: &mut Metadata, look: &Look) -> Result<()> {
        self.rows.remember(metadata);
        remembered::write(metadata, &self.input, &Grouping::default(), look, &self.meta)
    }
}

/// The filter to be like.
fn read_like(path: &Path) -> Result<Similar> {
    let file = opened::file(path)?;
    match file.kind() {
        Kind::Similar => Ok(file.into_similar()?),
        other => bail!("{}: it holds {other}, no items to compare", path.display()),
    }
}

/// Says what was not used, and what the filter cannot hold.
fn report(filter: &Similar, tally: &Tally, is_sized: bool) {
    notice::malformed(tally);
    if tally.rows == 0 && !is_sized {
        notice::warn("there are no items in the input; nothing is similar to anything");
    }
    filter.overfull().into_iter().for_each(notice::warn);
}
