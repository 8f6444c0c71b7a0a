//! Which experiments were begun and ended, when, of which commit, on which machine: `runs.csv`.

use std::fs::{self, OpenOptions};
use std::path::PathBuf;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;

use crate::lab::Lab;
use crate::machine;
use crate::rows::Rows;

const COLUMNS: [&str; 6] = ["id", "event", "time", "commit", "machine", "command"];

pub struct Journal<'a> {
    lab: &'a Lab,
}

impl<'a> Journal<'a> {
    pub fn new(lab: &'a Lab) -> Journal<'a> {
        Journal { lab }
    }

    fn path(&self) -> PathBuf {
        self.lab.results().join("runs.csv")
    }

    /// Whether the last that was noted of an experiment is its end.
    pub fn is_finished(&self, id: &str) -> Result<bool> {
        let events = self.of(id)?.texts("event");
        Ok(events.last().is_some_and(|event| event == "finished"))
    }

    /// What was noted of an experiment since its rows were begun.
    pub fn of(&self, id: &str) -> Result<Rows> {
        Ok(Rows::read(&self.path(), &COLUMNS)?.with("id", id))
    }

    pub fn note(&self, id: &str, event: &str) -> Result<()> {
        let path = self.path();
        let new = !path.exists();
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        let mut out = csv::Writer::from_writer(file);
        if new {
            out.write_record(COLUMNS)?;
        }
        let (time, commit) = (utc(), self.commit());
        let (machine, command) = (machine::describe(), self.lab.command(id));
        out.write_record([id, event, &time, &commit, &machine, &command])?;
        Ok(out.flush()?)
    }

    /// Forgets an experiment that is begun anew.
    pub fn forget(&self, id: &str) -> Result<()> {
        let rows = Rows::read(&self.path(), &COLUMNS)?;
        let mut out = csv::Writer::from_writer(Vec::new());
        out.write_record(COLUMNS)?;
        for row in rows.lines().filter(|row| row[0] != id) {
            out.write_record(row)?;
        }
        Ok(fs::write(self.path(), out.into_inner()?)?)
    }

    /// The commit, and whether the code was changed since. Results are no code.
    fn commit(&self) -> String {
        let git = |arguments: &[&str]| {
            let done = Command::new("git").args(arguments).current_dir(self.lab.root()).output();
            done.map_or(String::new(), |done| String::from_utf8_lossy(&done.stdout).trim().into())
        };
        let changed = git(&["status", "--porcelain", "--", ".", ":!docs"]);
        let mark = if changed.is_empty() { "" } else { " with changes" };
        format!("{}{mark}", git(&["rev-parse", "--short=10", "HEAD"]))
    }
}

/// The time now, to the minute.
fn utc() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let (days, minutes) = (seconds / 86_400, seconds % 86_400 / 60);
    let (year, month, day) = date(days as i64);
    format!("{year}-{month:02}-{day:02} {:02}:{:02} UTC", minutes / 60, minutes % 60)
}

/// The date so many days after the first of January 1970. Years begin in March, so that the leap day is their last.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), (1970, 1, 1));
        assert_eq!(date(59), (1970, 3, 1));
        assert_eq!(date(11_016), (2000, 2, 29));
        assert_eq!(date(20_454), (2026, 1, 1));
    }
}
