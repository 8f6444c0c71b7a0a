//! Data, made by `umbel gen` and kept below target/lab: a seed gives the same bytes for ever.

use std::fs;
use std::path::PathBuf;

use anyhow::Result;

use crate::lab::Lab;

impl Lab {
    /// The file of this name, made by `umbel gen` with these arguments unless it is there.
    pub fn data(&self, name: &str, arguments: &[&str]) -> Result<PathBuf> {
        let path = self.work().join(name);
        if !path.exists() {
            let mut all = vec!["gen"];
            all.extend_from_slice(arguments);
            all.extend(["-o", name]);
            self.output("umbel", &all)?;
        }
        Ok(path)
    }

    /// So many pronounceable words of 30 letters.
    pub fn strings(&self, n: u64) -> Result<PathBuf> {
        self.data(&format!("strings-{n}.txt"), &["strings", "-n", &n.to_string()])
    }

    /// The table of ratings with the published number of titles in each group.
    pub fn ratings(&self) -> Result<PathBuf> {
        self.data("ratings.tsv", &["ratings"])
    }
}

/// The lines of a file.
pub struct Lines(Vec<u8>);

impl Lines {
    pub fn read(path: &PathBuf) -> Result<Lines> {
        Ok(Lines(fs::read(path)?))
    }

    pub fn keys(&self) -> Vec<&[u8]> {
        self.0.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).collect()
    }
}
