//! Where the lab stands: its folders, and how much is to be done.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The folders and the size of a run.
pub struct Lab {
    /// A small version of everything.
    pub quick: bool,
    /// Measure also what is finished.
    pub again: bool,
    root: PathBuf,
}

impl Lab {
    pub fn new() -> Result<Lab> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("lab/ is in a folder")?;
        Ok(Lab { quick: false, again: false, root: root.to_owned() })
    }

    /// Makes the folders.
    pub fn prepare(&self) -> Result<()> {
        fs::create_dir_all(self.results())?;
        Ok(fs::create_dir_all(self.work())?)
    }

    /// The project.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where rows and page go. Those of a quick run never stand in for the others.
    pub fn results(&self) -> PathBuf {
        self.root.join(if self.quick { "target/lab-quick" } else { "docs/results" })
    }

    /// Where data is made.
    pub fn work(&self) -> PathBuf {
        self.root.join("target/lab")
    }

    /// How often each measurement is repeated.
    pub fn repetitions(&self) -> usize {
        if self.quick { 3 } else { 10 }
    }

    /// The full amount, or that of a quick run.
    pub fn amount<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }

    /// The command that makes the figures of an experiment.
    pub fn command(&self, id: &str) -> String {
        format!("make lab ONLY={id}{}", if self.quick { " QUICK=1" } else { "" })
    }
}
