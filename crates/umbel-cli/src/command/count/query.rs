//! `umbel count query`: what did each key come to?

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;
use umbel::KeyType;
use umbel_io::count;

use crate::input::{self, Grouping, Input};
use crate::output::Output;
use crate::progress::Progress;
use crate::{json, notice};

const EXAMPLES: &str = "\
Examples:
  umbel count query hits.umbel keys.txt              each key and its estimate
  umbel count query hits.umbel keys.txt --above 100  maybe more than 100 times
  umbel count query hits.umbel log.csv --key user --json
Exit code: 0 = a key was printed, 1 = none, 2 = an error.";

/// Print what each key came to: never too low
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The sketch
    sketch: PathBuf,

    /// Files with keys, also compressed; - or none is stdin
    files: Vec<PathBuf>,

    /// Ask the counts of this group
    #[arg(long, value_name = "NAME")]
    group: Option<String>,

    /// Print only keys whose estimate is above this; no key that really is above is left out
    #[arg(long, value_name = "COUNT", value_parser = input::whole)]
    above: Option<u64>,

    /// Print JSON, one object a line, with the bound of the error
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    input: Input,
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        self.input.check_delimiter(self.input.key.is_some())?;
        let counts = super::open(&self.sketch, self.group.as_deref())?;
        let integers = counts.key_type() == KeyType::U64;
        let driver =
            self.input.driver(&self.files, self.input.shape(&Grouping::default(), integers));
        let mut out = Output::stdout();
        let live = driver.is_live();
        let progress = Progress::beside_lines(&driver.meter);
        let bound = counts.bound();
        let (written, tally) = count::query(
            &driver,
            |keys, estimates| Ok(counts.estimate_batch(keys, estimates)?),
            |batch, row, estimate, lines| {
                let wanted = self.above.is_none_or(|above| estimate > above);
                if wanted {
                    let start = lines.len();
                    lines.extend_from_slice(&batch.key_text(row, integers));
                    self.write(start, estimate, bound, lines);
                }
                wanted
            },
            |lines| out.deliver(&lines, live),
        )?;
        drop(progress);
        out.commit()?;
        notice::malformed(&tally);
        Ok(ExitCode::from(u8::from(written == 0)))
    }

    /// Completes the line of the key that begins at `start`. Writing to memory does not fail.
    fn write(&self, start: usize, estimate: u64, bound: u64, lines: &mut Vec<u8>) {
        let _ = if self.json {
            let facts = json!({ "estimate": estimate, "bound": bound });
            let object = json::about(&lines[start..], facts);
            lines.truncate(start);
            writeln!(lines, "{object}")
        } else {
            writeln!(lines, "\t{estimate}")
        };
    }
}
