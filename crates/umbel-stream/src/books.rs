//! What has been taken in, and what of it is on disk.

use std::collections::{BTreeMap, BTreeSet};

use crate::positions::Positions;

/// Everything that must agree with the sketch. Whoever changes the sketch holds the books.
#[derive(Default)]
pub(crate) struct Books {
    /// What is in the sketch.
    pub(crate) positions: Positions,
    /// Lines taken in by this process,
    pub(crate) trained: u64,
    /// lines that could not be: empty ones, and those over the limit.
    pub(crate) unused: u64,
    /// The names of trainers that are connected.
    connected: BTreeSet<String>,
    /// Lines of each trainer that are on disk.
    saved: BTreeMap<String, u64>,
    /// Counts the snapshots of this process.
    pub(crate) snapshots: u64,
    /// Who is to be told of snapshots: the last that each was told of.
    pub(crate) told: BTreeMap<u64, u64>,
}

/// The most names that are remembered: they stay for ever.
const MAX_TRAINERS: usize = 100_000;

impl Books {
    /// Goes on from a snapshot.
    pub(crate) fn new(positions: Positions) -> Books {
        Books { saved: positions.trainers.clone(), positions, ..Books::default() }
    }

    /// A trainer connects: the number of its lines that are on disk, and of those in the sketch. Refused with the reason.
    pub(crate) fn connect(&mut self, name: &str) -> Result<(u64, u64), String> {
        let known = self.positions.trainers.contains_key(name);
        if !known && self.positions.trainers.len() + self.connected.len() >= MAX_TRAINERS {
            return Err(format!("there are {MAX_TRAINERS} names already"));
        }
        if !self.connected.insert(name.into()) {
            return Err(format!("a trainer named {name} is connected already"));
        }
        let folded = self.positions.trainers.get(name).copied().unwrap_or(0);
        Ok((self.saved(name), folded))
    }

    /// Lines that this process has read.
    pub(crate) fn lines(&self) -> u64 {
        self.trained + self.unused
    }

    pub(crate) fn disconnect(&mut self, name: &str) {
        self.connected.remove(name);
    }

    /// Lines of a trainer that are on disk.
    pub(crate) fn saved(&self, name: &str) -> u64 {
        self.saved.get(name).copied().unwrap_or(0)
    }

    /// Whether everyone has been told of the last snapshot.
    pub(crate) fn are_all_told(&self) -> bool {
        self.told.values().all(|&told| told == self.snapshots)
    }

    /// These positions are on disk now.
    pub(crate) fn note_saved(&mut self, positions: Positions) {
        self.saved = positions.trainers;
        self.snapshots += 1;
    }
}
