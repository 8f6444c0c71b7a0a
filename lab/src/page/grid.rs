//! Tables.

use super::text::{escape, inline};

/// A table; cells may hold code between backticks.
#[derive(Debug, Clone)]
pub struct Grid {
    pub title: String,
    pub heading: Vec<String>,
    pub lines: Vec<Vec<String>>,
}

impl Grid {
    pub fn new(title: &str, heading: &[&str]) -> Grid {
        let heading = heading.iter().map(|&cell| cell.to_owned()).collect();
        Grid { title: title.into(), heading, lines: Vec::new() }
    }

    pub fn push(&mut self, line: Vec<String>) {
        self.lines.push(line);
    }

    /// A box of its own, which scrolls where the table is wider than the page.
    pub fn html(&self) -> String {
        let lines = |line: &Vec<String>| format!("<tr>{}</tr>\n", self.cells("td", line));
        format!(
            "<h4>{title}</h4><div class=\"box\" tabindex=\"0\" role=\"region\" aria-label=\"{label}\"><table><thead><tr>{heading}</tr></thead><tbody>\n{lines}</tbody></table></div>\n",
            label = escape(&self.title),
            title = inline(&self.title),
            heading = self.cells("th", &self.heading),
            lines = self.lines.iter().map(lines).collect::<String>()
        )
    }

    fn cells(&self, tag: &str, line: &[String]) -> String {
        let cell = |(column, cell): (usize, &String)| {
            let class = if self.is_numeric(column) { " class=\"number\"" } else { "" };
            format!("<{tag}{class}>{}</{tag}>", inline(cell))
        };
        line.iter().enumerate().map(cell).collect()
    }

    /// Columns of numbers stand to the right.
    fn is_numeric(&self, column: usize) -> bool {
        self.lines.iter().filter_map(|line| line.get(column)).all(|cell| is_number(cell))
    }
}

/// Whether a cell is a number, perhaps with a unit, or empty.
fn is_number(cell: &str) -> bool {
    let begins = cell.starts_with(|c: char| c.is_ascii_digit() || "-–<≤≥".contains(c));
    cell.is_empty() || begins && cell.chars().filter(|c| c.is_alphabetic()).count() <= 4
}
