//! The rows of the table, a file for each kind of work.

mod counting;
mod hashes;
mod opening;
mod report;
mod sharing;
mod space;
mod speed;

pub use report::{Report, Row, Verdict, percent};

/// What to run.
#[derive(Default)]
pub struct Plan {
    /// 10 M keys instead of 100 M.
    pub quick: bool,
    /// Parts of the names of the rows that are wanted; none means all.
    pub words: Vec<String>,
}

impl Plan {
    /// Whether a row of this name is wanted.
    pub fn wants(&self, name: &str) -> bool {
        self.words.is_empty() || self.words.iter().any(|word| name.contains(word.as_str()))
    }

    /// The number of keys of the large rows, and its name.
    pub fn many(&self) -> (usize, &'static str) {
        if self.quick { (10_000_000, "10 M") } else { (100_000_000, "100 M") }
    }
}

/// Runs what is wanted.
pub fn run(plan: &Plan) -> Report {
    let mut report = Report::new();
    speed::run(plan, &mut report);
    space::run(plan, &mut report);
    opening::run(plan, &mut report);
    sharing::run(plan, &mut report);
    hashes::run(plan, &mut report);
    counting::run(plan, &mut report);
    report
}
