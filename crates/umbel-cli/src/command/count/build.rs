//! `umbel count build`: from keys to a sketch of their counts.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use umbel::{CountMin, CountMinParams, KeyType};
use umbel_io::{Column, count};

use super::sketching::Sketching;
use crate::command::build::KeyTypeName;
use crate::input::{Grouping, Input};
use crate::output::Output;
use crate::progress::Progress;
use crate::{notice, remembered};

const EXAMPLES: &str = "\
Examples:
  umbel count build access.log --key 1 -d ' ' --eps 0.0001 --delta 0.01 -o hits.umbel
  umbel count build sales.csv --key product --weight euros -o sales.umbel     sums instead of counts
  umbel count build tue.log --like mon.umbel -o tue.umbel     can be merged and compared with mon";

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

    /// Take all parameters from this sketch, so that the two can be merged
    #[arg(long, value_name = "FILE", conflicts_with_all = ["eps", "delta", "width", "depth", "seed", "key_type"])]
    #[arg(help_heading = "Sketch")]
    like: Option<PathBuf>,

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

    #[command(flatten)]
    grouping: Grouping,
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        let params = self.params()?;
        let integers = params.key_type() == KeyType::U64;
        remembered::write(
            &mut umbel::Metadata::default(),
            &self.input,
            &self.grouping,
            &self.meta,
        )?;
        let mut out = Output::create(&self.output)?;
        let shape = umbel_io::Shape {
            weight: self.weight.clone(),
            ..self.input.shape(&self.grouping, integers)
        };
        let driver = self.input.driver(&self.files, shape);
        let progress = Progress::watch(&driver.meter);
        let (mut sketch, tally) = count::count(&driver, params)?;
        drop(progress);
        notice::malformed(&tally);
        if tally.rows == 0 {
            notice::warn("there are no keys in the input; the sketch is empty");
        }
        remembered::write(sketch.metadata_mut(), &self.input, &self.grouping, &self.meta)?;
        sketch.write_to(&mut out)?;
        out.commit()?;
        Ok(ExitCode::SUCCESS)
    }

    fn params(&self) -> Result<CountMinParams> {
        match &self.like {
            Some(path) => Ok(*CountMin::open_unverified(path)?.params()),
            None => self.sketching.params(self.key_type == KeyTypeName::Int),
        }
    }
}
