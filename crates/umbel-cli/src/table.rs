//! Tables for people.

use std::borrow::Cow;
use std::fmt::Write;

use umbel_io::visible;

/// Rows of cells, set in columns: the first to the left, the others to the right.
#[derive(Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these headings.
    pub fn new<const N: usize>(headings: [&str; N]) -> Table {
        Table { rows: vec![headings.map(String::from).to_vec()] }
    }

    /// Adds a row.
    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        let mut cells: Vec<String> = cells.iter().map(|cell| visible(cell).into_owned()).collect();
        if let Some(name) = cells.first_mut() {
            *name = cut(name).into_owned();
        }
        self.rows.push(cells);
    }

    /// The table as text.
    pub fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows
                .iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut text = String::new();
        for row in &self.rows {
            for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                // Writing to a string does not fail.
                let _ = match column {
                    0 => write!(text, "{cell:<width$}"),
                    _ => write!(text, "  {cell:>width$}"),
                };
            }
            text.truncate(text.trim_end().len());
            text.push('\n');
        }
        text
    }
}

/// The longest name that a table shows whole.
const LONGEST: usize = 40;

/// A name as tables show it: of a long one the beginning.
pub fn cut(name: &str) -> Cow<'_, str> {
    match name.char_indices().nth(LONGEST - 1) {
        Some((at, _)) if name[at..].chars().nth(1).is_some() => format!("{}…", &name[..at]).into(),
        _ => name.into(),
    }
}

/// A whole number with thin groups: 1 254 184.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// A rate with three significant digits: 1.00 %, 0.0123 %.
pub fn percent(rate: f64) -> String {
    let percent = 100.0 * rate;
    if percent == 0.0 || percent >= 99.95 {
        return format!("{percent:.0} %");
    }
    let decimals = |value: f64| (2 - value.log10().floor() as i32).max(0) as usize;
    // Rounding may carry into another digit: 0.9999 is 1.00, not 1.000.
    let rounded: f64 = format!("{percent:.*}", decimals(percent)).parse().unwrap_or(percent);
    match decimals(rounded) {
        many if many > 9 => format!("{percent:.2e} %"),
        few => format!("{rounded:.few$} %"),
    }
}

/// A size in bytes for people: 1.2 MiB.
pub fn size(bytes: u64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} bytes") } else { format!("{value:.1} {}", units[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_254_184), "1 254 184");
        assert_eq!(percent(0.01), "1.00 %");
        assert_eq!(percent(0.000_123_4), "0.0123 %");
        assert_eq!(percent(0.009_999_9), "1.00 %");
        assert_eq!(percent(0.0), "0 %");
        assert_eq!(percent(1.0), "100 %");
        assert_eq!(size(400), "400 bytes");
        assert_eq!(size(1_261_504), "1.2 MiB");
    }
    #[test]
    fn long_names_are_cut() {
        let mut table = Table::new(["group", "n"]);
        table.row(["ü".repeat(40), "1".into()]);
        table.row(["ü".repeat(41), "2".into()]);
        let (whole, cut) = ("ü".repeat(40), "ü".repeat(39));
        assert_eq!(table.render(), format!("{:<40}  n\n{whole}  1\n{cut}…  2\n", "group"));
    }
}
