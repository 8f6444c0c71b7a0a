//! The table, and below it what every candidate reached.

use std::fmt;

use crate::table::Table;

/// Whether a requirement is met.
#[derive(Clone, Copy)]
pub enum Verdict {
    /// Nothing was asked.
    None,
    Yes,
    No,
    /// Above what was asked, but by less than three standard deviations of the measurement.
    Noise,
}

impl Verdict {
    pub fn of(reached: bool) -> Verdict {
        if reached { Verdict::Yes } else { Verdict::No }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::None => "",
            Verdict::Yes => "yes",
            Verdict::No => "NO",
            Verdict::Noise => "within noise",
        })
    }
}

/// One row; cells that do not apply stay empty.
#[derive(Default)]
pub struct Row {
    pub work: String,
    pub ours: String,
    pub peer: String,
    /// How many times better than the peer.
    pub ratio: Option<f64>,
    pub limit: String,
    /// How many times the limit.
    pub over: Option<f64>,
    pub bits: Option<f64>,
    pub rate: Option<f64>,
    pub must: String,
    pub verdict: Option<Verdict>,
}

pub struct Report {
    rows: Table,
    /// A table for each size: what every candidate reached.
    candidates: Vec<Table>,
}

impl Report {
    pub fn new() -> Report {
        Report {
            rows: Table::new(&[
                "work",
                "ours",
                "best peer",
                "ratio",
                "limit",
                "× limit",
                "bits/key",
                "false pos. %",
                "must reach",
                "reached",
            ]),
            candidates: Vec::new(),
        }
    }

    /// Adds a row.
    pub fn row(&mut self, row: Row) {
        eprintln!("{}: {} against {}", row.work, row.ours, row.peer);
        let number = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:.2}"));
        self.rows.push(vec![
            row.work,
            row.ours,
            row.peer,
            number(row.ratio),
            row.limit,
            number(row.over),
            number(row.bits),
            percent(row.rate),
            row.must,
            row.verdict.unwrap_or(Verdict::None).to_string(),
        ]);
    }

    /// Adds a table of what every candidate reached.
    pub fn candidates(&mut self, table: Table) {
        self.candidates.push(table);
    }
}

pub fn percent(rate: Option<f64>) -> String {
    rate.map_or(String::new(), |rate| format!("{:.4}", 100.0 * rate))
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.rows)?;
        self.candidates.iter().try_for_each(|table| write!(f, "\n{table}"))
    }
}
