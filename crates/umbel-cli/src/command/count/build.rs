//! `umbel count build`: from keys to a sketch of their counts.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use umbel::Metadata;
use umbel_io::count::{self, Sketch};
use umbel_io::{Column, Driver, Shape, Tally};

use super::sketching::{Sketching, Wanted};
use crate::command::build::KeyTypeName;
use crate::input::{Grouping, Input};
use crate::output::Output;
use crate::progress::Progress;
use crate::table::grouped;
use crate::{notice, overlap, remembered};

const EXAMPLES: &str = "\
Examples:
  umbel count build access.log --key 1 -d ' ' --eps 0.0001 --delta 0.01 -o hits.umbel
  umbel count build sales.csv --key product --weight euros -o sales.umbel     sums instead of counts
  umbel count build flows.csv --key port --integers 0..65535 -o ports.umbel   for range and quantile
  umbel count build tue.log --like mon.umbel -o tue.umbel     can be merged with mon";

/// Count the keys of files or stdin into a sketch: estimates that are never too low
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Files with keys, also compressed; - or none is stdin
    files: Vec<PathBuf>,

    /// The file to write; one that stands there is replaced when the new one is whole
    #[arg(short = 'o', long, value_name = "FILE")]
    output: PathBuf,

    /// A text pair to keep in the file; may be repeated
    #[arg(long, value_name = "K=V")]
    meta: Vec<String>,

    #[command(flatten)]
    sketching: Sketching,

    /// The column of the weight, a whole number [default: each row counts 1]
    #[arg(long, value_name = "COL", help_heading = "Input")]
    weight: Option<Column>,

    /// What the keys are: int takes decimal text as 64-bit numbers
    #[arg(
        long = "type",
        value_enum,
        default_value_t,
        hide_default_value = true,
        help_heading = "Input"
    )]
    key_type: KeyTypeName,

    #[command(flatten)]
    input: Input,
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        let wanted = self.sketching.wanted(self.key_type == KeyTypeName::Int)?;
        let grouping = Grouping::default();
        remembered::write(&mut Metadata::default(), &self.input, &grouping, &self.meta)?;
        overlap::check(&self.output, &self.files)?;
        let mut out = Output::create(&self.output)?;
        let driver = self.driver(&wanted);
        let progress = Progress::watch(&driver.meter);
        let (mut sketch, tally) = build(&driver, wanted)?;
        drop(progress);
        notice::malformed(&tally);
        if tally.rows == 0 {
            notice::warn("there are no keys in the input; the sketch is empty");
        }
        remembered::write(sketch.metadata_mut(), &self.input, &grouping, &self.meta)?;
        sketch.write_to(&mut out)?;
        out.commit()?;
        Ok(ExitCode::SUCCESS)
    }

    fn driver(&self, wanted: &Wanted) -> Driver {
        let shape = self.input.shape(&Grouping::default(), wanted.holds_integers());
        self.input.driver(&self.files, Shape { weight: self.weight.clone(), ..shape })
    }
}

fn build(driver: &Driver, wanted: Wanted) -> Result<(Sketch, Tally)> {
    Ok(match wanted {
        Wanted::Plain(params) => {
            let (sketch, tally) = count::count(driver, params)?;
            (Sketch::Plain(sketch), tally)
        }
        Wanted::Conservative(params) => {
            let (sketch, tally) = count::count_conservative(driver, params)?;
            (Sketch::Conservative(sketch), tally)
        }
        Wanted::Ranges(params) => {
            let (ranges, outside, tally) = count::count_ranges(driver, params)?;
            let interval = format!("{}..{}", params.lo(), params.hi());
            if outside == tally.rows && outside > 0 {
                bail!("none of the {} keys lies in {interval}", grouped(outside));
            }
            if outside > 0 {
                let keys = if outside == 1 { "key was" } else { "keys were" };
                notice::warn(format!(
                    "{} {keys} not counted: outside {interval}",
                    grouped(outside)
                ));
            }
            (Sketch::Ranges(ranges), tally)
        }
    })
}
