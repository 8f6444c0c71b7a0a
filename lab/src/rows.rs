//! Rows of measurements: written as they come, read back to be shown.

use std::fmt::Display;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::experiment::Experiment;
use crate::lab::Lab;
use crate::spread::Spread;

/// Rows under the names of their columns.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    columns: Vec<String>,
    lines: Vec<Vec<String>>,
}

impl Rows {
    /// Reads a file of these columns; one that is not there has no rows.
    pub fn read(path: &Path, columns: &[&str]) -> Result<Rows> {
        let columns: Vec<String> = columns.iter().map(|&column| column.to_owned()).collect();
        if !path.exists() {
            return Ok(Rows { columns, lines: Vec::new() });
        }
        let name = || path.display().to_string();
        let mut reader = csv::Reader::from_path(path).with_context(name)?;
        let found: Vec<String> = reader.headers()?.iter().map(str::to_owned).collect();
        ensure!(found == columns, "{} has other columns: remove it, or say AGAIN=1", name());
        let line = |record: csv::StringRecord| record.iter().map(str::to_owned).collect();
        let lines = reader.records().map(|record| Ok(line(record?))).collect::<Result<_>>();
        Ok(Rows { columns, lines: lines.with_context(name)? })
    }

    #[cfg(test)]
    pub fn of(columns: &[&str], lines: &[&[&str]]) -> Rows {
        let texts = |cells: &[&str]| cells.iter().map(|&cell| cell.to_owned()).collect();
        Rows { columns: texts(columns), lines: lines.iter().map(|line| texts(line)).collect() }
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub fn lines(&self) -> impl Iterator<Item = &Vec<String>> {
        self.lines.iter()
    }

    /// The rows that have this in a column.
    pub fn with(&self, column: &str, value: &str) -> Rows {
        let at = self.place(column);
        let lines = self.lines.iter().filter(|line| line[at] == value).cloned().collect();
        Rows { columns: self.columns.clone(), lines }
    }

    /// What stands in a column.
    pub fn texts(&self, column: &str) -> Vec<String> {
        let at = self.place(column);
        self.lines.iter().map(|line| line[at].clone()).collect()
    }

    /// What stands in a column, each once, in the order of the rows.
    pub fn different(&self, column: &str) -> Vec<String> {
        let mut different = Vec::new();
        for text in self.texts(column) {
            if !different.contains(&text) {
                different.push(text);
            }
        }
        different
    }

    /// A column of numbers; cells that hold none are left out.
    pub fn numbers(&self, column: &str) -> Vec<f64> {
        self.texts(column).iter().filter_map(|text| text.parse().ok()).collect()
    }

    /// The first number of a column.
    pub fn number(&self, column: &str) -> Option<f64> {
        self.numbers(column).first().copied()
    }

    /// What the numbers of a column come to.
    pub fn spread(&self, column: &str) -> Option<Spread> {
        Spread::of(self.numbers(column))
    }

    fn place(&self, column: &str) -> usize {
        let place = self.columns.iter().position(|name| name == column);
        place.unwrap_or_else(|| panic!("there is no column {column} in {:?}", self.columns))
    }
}

/// The rows of an experiment while it is being measured.
pub struct Book {
    id: &'static str,
    path: PathBuf,
    columns: usize,
    key: usize,
    rows: Rows,
}

impl Book {
    /// Opens what was measured before, to go on.
    pub fn open(experiment: &Experiment, lab: &Lab) -> Result<Book> {
        let path = experiment.path(lab);
        let rows = Rows::read(&path, experiment.columns)?;
        if rows.is_empty() {
            fs::write(&path, experiment.columns.join(",") + "\n")?;
        }
        let columns = experiment.columns.len();
        Ok(Book { id: experiment.id, path, columns, key: experiment.key, rows })
    }

    /// Whether a case has been measured.
    pub fn has(&self, key: &[&str]) -> bool {
        self.rows.lines().any(|line| line.iter().zip(key).all(|(a, b)| a == b))
    }

    /// One case: measured, unless its rows are there. `measure` gives the cells to the right of the key, a list for each row.
    pub fn case(
        &mut self,
        key: &[&str],
        measure: impl FnOnce() -> Result<Vec<Vec<String>>>,
    ) -> Result<()> {
        assert_eq!(key.len(), self.key, "the key has a cell for each of its columns");
        if self.has(key) {
            return Ok(());
        }
        eprintln!("{}    {}", self.id, key.join(", "));
        let measured = measure()?;
        let mut out = csv::Writer::from_writer(Vec::new());
        for cells in &measured {
            let line = key.iter().copied().chain(cells.iter().map(String::as_str));
            let line: Vec<&str> = line.collect();
            assert_eq!(line.len(), self.columns, "a cell for each column: {line:?}");
            out.write_record(&line)?;
            self.rows.lines.push(line.iter().map(|&cell| cell.to_owned()).collect());
        }
        self.append(&out.into_inner()?)
    }

    /// All at once, so that a case that was broken off has left nothing.
    fn append(&self, bytes: &[u8]) -> Result<()> {
        let mut file: File = OpenOptions::new().append(true).open(&self.path)?;
        Ok(file.write_all(bytes)?)
    }
}

impl Experiment {
    /// The file of its rows.
    pub fn path(&self, lab: &Lab) -> PathBuf {
        lab.results().join(format!("{}.csv", self.id))
    }

    /// Its rows as they stand.
    pub fn rows(&self, lab: &Lab) -> Result<Rows> {
        Rows::read(&self.path(lab), self.columns)
    }
}

/// Cells of anything that can be printed.
pub fn cells(cells: &[&dyn Display]) -> Vec<String> {
    cells.iter().map(|cell| cell.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book(path: &Path) -> Book {
        let columns = ["size", "repetition", "ms"];
        let rows = Rows::read(path, &columns).expect("rows");
        if rows.is_empty() {
            fs::write(path, columns.join(",") + "\n").expect("a file");
        }
        Book { id: "t1", path: path.into(), columns: columns.len(), key: 1, rows }
    }

    fn two() -> Result<Vec<Vec<String>>> {
        Ok(vec![cells(&[&1, &0.5]), cells(&[&2, &1.5])])
    }

    /// A run that was stopped goes on where it was: what is there is not measured again, what was broken off has left nothing.
    #[test]
    fn cases_are_measured_once_and_whole() {
        let path = std::env::temp_dir().join(format!("umbel-lab-{}.csv", std::process::id()));
        _ = fs::remove_file(&path);
        let mut first = book(&path);
        first.case(&["10, quoted"], two).expect("measured");
        assert!(first.case(&["20"], || anyhow::bail!("stopped")).is_err());
        first.case(&["10, quoted"], || panic!("measured twice in one run")).expect("kept");
        let mut second = book(&path);
        second.case(&["10, quoted"], || panic!("measured twice")).expect("kept");
        assert!(!second.has(&["20"]));
        second.case(&["20"], two).expect("measured");
        let rows = Rows::read(&path, &["size", "repetition", "ms"]).expect("rows");
        fs::remove_file(&path).expect("the file");
        assert_eq!(rows.different("size"), ["10, quoted", "20"]);
        assert_eq!(rows.with("size", "20").numbers("ms"), [0.5, 1.5]);
        assert!(Rows::read(Path::new("/nowhere"), &["a"]).expect("no rows").is_empty());
    }
}
