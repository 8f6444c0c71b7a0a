//! `umbel similar query`: which items are close to a stored one?

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use umbel::similar::Similar;
use umbel_io::screen::{Summary, Wanted};
use umbel_io::similar::{self, Reading};

use super::asking::Rows;
use crate::input::{self, Grouping, Input};
use crate::output::Output;
use crate::progress::Progress;
use crate::{notice, opened, output, overlap, remembered};

const EXAMPLES: &str = "\
Examples:
  umbel similar query docs.umbel new.jsonl             close to a stored one
  umbel similar query docs.umbel new.jsonl -v          lines that are not
  umbel similar query vec.umbel vectors.csv -c         only how many are
  umbel similar query docs.umbel new.jsonl --dedup     nothing like them before
  umbel similar query docs.umbel new.jsonl --dedup -o all.umbel    keeps them
Both answers may be wrong, as rarely as the filter was built for: umbel info shows it.
Exit code: 0 = a line was selected, 1 = none, 2 = an error.";

/// Print the lines whose item is close to a stored one
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// What umbel similar build wrote
    stored: PathBuf,

    /// Files with items, also compressed; - or none is stdin
    files: Vec<PathBuf>,

    /// Select the lines whose item is not close to a stored one instead; with --dedup those that were seen before
    #[arg(short = 'v', long)]
    invert: bool,

    /// Print only the number of selected lines
    #[arg(short = 'c', long)]
    count: bool,

    /// Select the first of each: an item that is not close to a stored one is stored at once
    #[arg(long)]
    dedup: bool,

    /// With --dedup: write the filter with the new items to this file
    #[arg(short = 'o', long, value_name = "FILE", requires = "dedup")]
    output: Option<PathBuf>,

    #[command(flatten)]
    rows: Rows,

    #[command(flatten)]
    input: Input,
}

impl Args {
    pub fn run(mut self) -> Result<ExitCode> {
        let files = input::or_stdin(&self.files);
        input::check_stdin(files.iter().chain([&self.stored]))?;
        if !self.count {
            overlap::check(&PathBuf::from("-"), files.iter().chain([&self.stored]))?;
        }
        let printed = if self.count { "the number" } else { "what is selected" };
        overlap::check_alone("-o", self.output.as_ref(), printed)?;
        if let Some(output) = &self.output {
            overlap::check(output, &files)?;
        }
        self.input.check_delimiter(self.input.key.is_some())?;
        let mut stored = opened::items(&self.stored, &self.files, self.input.threads())?;
        self.recall(&stored);
        let reading = self.rows.reading(stored.params().space())?;
        let grown = self.output.as_deref().map(Output::create).transpose()?;
        let summary = self.select(&reading, &mut stored)?;
        notice::malformed(&summary.tally);
        self.rows.warn_of_json(self.input.key.is_some(), &summary.tally.look);
        let selected = if self.selects_close() { summary.admitted } else { summary.rejected() };
        if self.count {
            output::print(format!("{selected}\n"))?;
        }
        if self.dedup {
            stored.overfull().into_iter().for_each(notice::warn);
        }
        if let Some(mut grown) = grown {
            stored.write_to(&mut grown)?;
            grown.commit()?;
        }
        Ok(ExitCode::from(u8::from(selected == 0)))
    }

    /// Whether lines are selected that are close to something.
    fn selects_close(&self) -> bool {
        self.dedup == self.invert
    }

    /// What was not said is read as it was when the filter was built.
    fn recall(&mut self, stored: &Similar) {
        let metadata = stored.metadata();
        let given = self.input.key.is_some() || self.rows.text.is_some();
        self.rows.recall(metadata, self.input.key.is_some());
        if !given {
            remembered::read(metadata, &mut self.input, &mut Grouping::default());
        }
    }

    fn select(&self, reading: &Reading, stored: &mut Similar) -> Result<Summary> {
        let mut out = (!self.count).then(Output::stdout);
        let close = self.selects_close();
        let wanted = Wanted { admitted: !self.count && close, rejected: !self.count && !close };
        let driver = self.input.driver(&self.files, self.input.shape(&Grouping::default(), false));
        let watch = if self.count { Progress::watch } else { Progress::beside_lines };
        let (progress, live) = (watch(&driver.meter), driver.is_live());
        let beside = self.output.is_some();
        let deliver = |lines: &[u8]| Output::deliver_beside(&mut out, beside, lines, live);
        let summary = match self.dedup {
            true => similar::dedup(&driver, reading, stored, wanted, deliver)?,
            false => similar::query(&driver, reading, stored, wanted, deliver)?,
        };
        drop(progress);
        out.map_or(Ok(()), Output::commit)?;
        Ok(summary)
    }
}
