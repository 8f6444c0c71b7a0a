//! `umbel near build`: from numbers to a structure that knows what is near them.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, anyhow, bail};
use umbel::Metadata;
use umbel::format::Kind;
use umbel::near::{Near, Params};
use umbel_io::near::{self, Kept, Wish};
use umbel_io::{Driver, Look, Shape, Tally};

use super::distance::Distance;
use crate::input::{self, Grouping, Input};
use crate::output::Output;
use crate::progress::Progress;
use crate::{notice, opened, overlap, remembered};

const EXAMPLES: &str = "\
Examples:
  umbel near build values.txt --alpha 5 --beta 1 -p 0.01 -o v.umbel
  umbel near build prices.csv --key price --alpha 0.5 --beta 0.01 -o p.umbel
  umbel near build ns.txt --type int --alpha 5000000 --beta 1000 -o t.umbel
  umbel near build mon.txt --alpha 5 --beta 1 --growing -n 1000000 -o mon.umbel
  umbel near build tue.txt --like mon.umbel -o tue.umbel     can be merged";

/// Build what knows the numbers of files or stdin, and what is near them
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Files with numbers, also compressed; - or none is stdin
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

    #[command(flatten)]
    keeping: Keeping,

    #[command(flatten)]
    input: Input,
}

/// How numbers are kept
#[derive(clap::Args, Clone)]
#[command(next_help_heading = "Structure")]
struct Keeping {
    /// A filter that takes more numbers later and can be merged
    #[arg(long, conflicts_with = "exact")]
    growing: bool,

    /// With --growing: room for so many different numbers [default: those that are there]
    #[arg(short = 'n', value_name = "NUMBERS", requires = "growing")]
    n: Option<u64>,

    /// The exact list also where a filter is smaller: never wrong, and knows the nearest
    #[arg(long)]
    exact: bool,

    /// Take all parameters from this filter, for a merge
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with_all = ["alpha", "beta", "p", "number_type", "growing", "n", "exact", "seed"])]
    like: Option<PathBuf>,

    /// The seed of the hash, for a service that takes numbers from strangers
    #[arg(long, value_name = "SEED", default_value_t = 0, hide_default_value = true)]
    #[arg(hide_short_help = true)]
    seed: u64,
}

/// What is to be done with the numbers.
enum Task {
    /// They are gathered.
    Gather(Wish),
    /// They are added to this.
    Fill(Box<Near>),
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        let files = input::or_stdin(&self.files);
        input::check_stdin(files.iter().chain(&self.keeping.like))?;
        overlap::check(&self.output, files.iter().chain(&self.keeping.like))?;
        self.input.check_delimiter(self.input.key.is_some())?;
        // What cannot be done is said before the work, not behind it.
        let task = self.task()?;
        self.remember(&mut Metadata::default(), &Look::default())?;
        let mut out = Output::create(&self.output)?;
        let driver = self.driver(&task);
        let progress = Progress::watch(&driver.meter);
        let (mut built, tally) = match task {
            Task::Gather(wish) => near::build(&driver, &wish)?,
            Task::Fill(empty) => near::fill(&driver, *empty)?,
        };
        drop(progress);
        report(&built, &tally);
        self.remember(built.metadata_mut(), &tally.look)?;
        built.write_to(&mut out)?;
        out.commit()?;
        Ok(ExitCode::SUCCESS)
    }

    fn task(&self) -> Result<Task> {
        let Keeping { growing, n, exact, like, seed } = &self.keeping;
        if let Some(path) = like {
            return Ok(Task::Fill(Box::new(read_like(path)?)));
        }
        let (grid, p) = (self.distance.grid()?, self.distance.rate());
        let params = Params::new(grid, n.unwrap_or(1), p)?.with_seed(*seed);
        if *growing {
            let empty = Near::growing_with(params)?;
            if n.is_some() {
                return Ok(Task::Fill(Box::new(empty)));
            }
        }
        let kept = match (growing, exact) {
            (true, _) => Kept::Growing,
            (_, true) => Kept::Exactly,
            _ => Kept::Smallest,
        };
        Ok(Task::Gather(Wish { grid, p, seed: *seed, kept }))
    }

    fn driver(&self, task: &Task) -> Driver {
        let grid = match task {
            Task::Gather(wish) => wish.grid,
            Task::Fill(empty) => empty.params().grid(),
        };
        let shape = self.input.shape(&Grouping::default(), false);
        self.input.driver(&self.files, Shape { numbers: Some(grid), ..shape })
    }

    fn remember(&self, metadata: &mut Metadata, look: &Look) -> Result<()> {
        remembered::write(metadata, &self.input, &Grouping::default(), look, &self.meta)
    }
}

/// An empty filter like the one in a file.
fn read_like(path: &Path) -> Result<Near> {
    let file = opened::file(path)?;
    match file.kind() {
        Kind::Near => {
            let empty = file.into_near()?.empty_like();
            empty.map_err(|error| anyhow!("{}: {error}", path.display()))
        }
        other => bail!("{}: it holds {other}, no numbers", path.display()),
    }
}

/// Says what was not used, and what the filter cannot hold.
fn report(near: &Near, tally: &Tally) {
    notice::malformed(tally);
    if tally.rows == 0 {
        notice::warn("there are no numbers in the input; nothing is near anything");
    }
    near.overfull().into_iter().for_each(notice::warn);
}
