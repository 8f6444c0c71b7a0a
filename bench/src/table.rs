//! Tables in plain text.

use std::fmt;

/// Lines of cells under a heading, every column as wide as its widest cell.
pub struct Table {
    lines: Vec<Vec<String>>,
}

impl Table {
    pub fn new(heading: &[&str]) -> Table {
        Table { lines: vec![heading.iter().map(|&cell| cell.to_owned()).collect()] }
    }

    pub fn push(&mut self, cells: Vec<String>) {
        self.lines.push(cells);
    }

    fn widths(&self) -> Vec<usize> {
        let width = |column| {
            let cells = self.lines.iter().filter_map(|line| line.get(column));
            cells.map(|cell: &String| cell.chars().count()).max().unwrap_or(0)
        };
        (0..self.lines[0].len()).map(width).collect()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        for (i, line) in self.lines.iter().enumerate() {
            for (cell, &width) in line.iter().zip(&widths) {
                write!(f, "| {cell:width$} ")?;
            }
            writeln!(f, "|")?;
            if i == 0 {
                let rule: Vec<String> = widths.iter().map(|&width| "-".repeat(width + 2)).collect();
                writeln!(f, "|{}|", rule.join("|"))?;
            }
        }
        Ok(())
    }
}
