//! What an experiment is.

use std::fs;
use std::time::Instant;

use anyhow::{Context, Result};

use crate::journal::Journal;
use crate::lab::Lab;
use crate::page::Section;
use crate::rows::{Book, Rows};

/// One experiment: how its rows are measured, and how they are shown.
pub struct Experiment {
    /// The short name: on the command line, of the file of rows, of the section.
    pub id: &'static str,
    pub title: &'static str,
    /// The columns of its rows.
    pub columns: &'static [&'static str],
    /// How many of the columns, from the left, tell cases apart. A case is measured whole or not at all.
    pub key: usize,
    /// Whether it needs Hadoop or Spark; such experiments are left out of quick runs.
    pub engines: bool,
    pub measure: fn(&Lab, &mut Book) -> Result<()>,
    pub show: fn(&Rows) -> Section,
}

impl Experiment {
    /// Measures what has not been measured.
    pub fn run(&self, lab: &Lab) -> Result<()> {
        if lab.quick && self.engines {
            eprintln!(
                "{}  {}: skipped under QUICK, it needs Hadoop and Spark",
                self.id, self.title
            );
            return Ok(());
        }
        let journal = Journal::new(lab);
        if lab.again {
            _ = fs::remove_file(self.path(lab));
            journal.forget(self.id)?;
        } else if journal.is_finished(self.id)? {
            eprintln!("{}  {}: finished before, AGAIN=1 measures it again", self.id, self.title);
            return Ok(());
        }
        eprintln!("{}  {}", self.id, self.title);
        journal.note(self.id, "started")?;
        let start = Instant::now();
        let mut book = Book::open(self, lab)?;
        (self.measure)(lab, &mut book).with_context(|| format!("experiment {}", self.id))?;
        journal.note(self.id, "finished")?;
        eprintln!("{}  {:.1} s", self.id, start.elapsed().as_secs_f64());
        Ok(())
    }
}
