//! Which part of a record is the key, which the group and which the weight.

use std::fmt;

use umbel::near::Grid;

use crate::field::field;
use crate::{Error, Look, Result, Source, task};

/// A column, by its place (from 1) or by its name in the header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Column {
    /// The place, counted from 1.
    Number(usize),
    /// The name in the header.
    Name(String),
}

impl std::str::FromStr for Column {
    type Err = String;

    fn from_str(text: &str) -> Result<Column, String> {
        match text.parse() {
            Ok(0) => Err("columns are counted from 1".into()),
            Ok(number) => Ok(Column::Number(number)),
            Err(_) if text.is_empty() => Err("a column has a number or a name".into()),
            Err(_) => Ok(Column::Name(text.into())),
        }
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Column::Number(number) => write!(f, "{number}"),
            Column::Name(name) => f.write_str(name),
        }
    }
}

/// How records are to be read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shape {
    /// The column of the key; none takes the whole line.
    pub key: Option<Column>,
    /// The column of the group.
    pub by: Option<Column>,
    /// Whether groups are decimal numbers to be rounded half up.
    pub round: bool,
    /// The column of the weight, a whole number.
    pub weight: Option<Column>,
    /// What separates columns: by default a comma in `.csv` files and a tab elsewhere.
    pub delimiter: Option<u8>,
    /// Whether the first line is a header even where no column is named.
    pub header: bool,
    /// Whether keys are decimal integers, to be taken as numbers and not as text.
    pub integers: bool,
    /// The least and the greatest integer that is a key.
    pub interval: Option<(i64, i64)>,
    /// What keys are that are numbers with neighbours: values of this grid.
    pub numbers: Option<Grid>,
}

impl Shape {
    /// Whether the first line of each input is a header.
    pub fn has_header(&self) -> bool {
        let named = |column: &Option<Column>| matches!(column, Some(Column::Name(_)));
        self.header || named(&self.key) || named(&self.by) || named(&self.weight)
    }

    /// Says what is wrong with the columns of an input, as whoever reads it would; no more than its beginning is read.
    pub fn check(&self, source: &Source) -> Result<()> {
        task::check(source, self)
    }

    /// What to do with the records of one input, whose header is given if it has one.
    pub(crate) fn fields(&self, source: &Source, header: Option<&[u8]>) -> Result<Fields> {
        let delimiter = self.delimiter(source);
        let names: Vec<String> = header.map_or(Vec::new(), |header| names(header, delimiter));
        let place = |column: &Option<Column>| {
            let Some(column) = column else { return Ok(None) };
            let place = match column {
                // A row without it may still come before one that has it, unless the header has the number as a name.
                Column::Number(number) => Some(number - 1)
                    .filter(|&place| place < names.len() || !names.contains(&column.to_string())),
                Column::Name(name) => find(name, &names)
                    .map_err(|why| Error::Other(format!("{}: {why}", source.name())))?,
            };
            let no_column = || Error::NoColumn {
                name: source.name(),
                column: column.to_string(),
                found: with_place(column, &names),
            };
            place.map(Some).ok_or_else(no_column)
        };
        Ok(Fields {
            look: self.look(&names),
            key: place(&self.key)?,
            by: place(&self.by)?,
            weight: place(&self.weight)?,
            round: self.round,
            delimiter,
            quoted: self.quoted(source).is_some(),
            integers: self.integers,
            interval: self.interval,
            numbers: self.numbers,
        })
    }

    /// What an input calls the columns, whose names are given. A name counts where it leads back to its column: it is no number, and no
    /// other column has it.
    pub(crate) fn look<N: AsRef<str>>(&self, names: &[N]) -> Look {
        let name = |column: &Option<Column>| {
            let name = match column.as_ref()? {
                Column::Number(number) => names.get(number - 1)?.as_ref(),
                Column::Name(name) => name,
            };
            let leads_back = matches!(find(name, names), Ok(Some(_)));
            let is_name = matches!(name.parse(), Ok(Column::Name(_)));
            (leads_back && is_name).then(|| name.to_string())
        };
        Look { key: name(&self.key), by: name(&self.by), several: names.len() > 1, json: false }
    }

    /// The delimiter, where fields of this input may stand in quotes and records hold newlines.
    pub fn quoted(&self, source: &Source) -> Option<u8> {
        let columns = self.key.is_some() || self.by.is_some() || self.weight.is_some();
        Some(self.delimiter(source)).filter(|&delimiter| columns && is_quoted(delimiter))
    }

    fn delimiter(&self, source: &Source) -> u8 {
        self.delimiter.unwrap_or_else(|| usual_delimiter(source))
    }
}

/// A shape with its columns found in one input.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fields {
    pub(crate) look: Look,
    pub(crate) key: Option<usize>,
    pub(crate) by: Option<usize>,
    pub(crate) weight: Option<usize>,
    pub(crate) round: bool,
    pub(crate) delimiter: u8,
    pub(crate) quoted: bool,
    pub(crate) integers: bool,
    pub(crate) interval: Option<(i64, i64)>,
    pub(crate) numbers: Option<Grid>,
}

impl Fields {
    /// Whether fields are taken as they stand in the line.
    pub(crate) fn is_plain(&self) -> bool {
        !self.quoted && !self.integers && self.numbers.is_none() && self.weight.is_none()
    }

    /// Whether the key is simply the line.
    pub(crate) fn is_whole_line(&self) -> bool {
        let columns = self.key.is_some() || self.by.is_some() || self.weight.is_some();
        !columns && !self.integers && self.numbers.is_none()
    }
}

/// The place of a column, from 0, if there is one of this name; why it cannot be told if there are several.
pub(crate) fn find<N: AsRef<str>>(name: &str, names: &[N]) -> Result<Option<usize>, String> {
    let mut places = (0..names.len()).filter(|&place| names[place].as_ref() == name);
    match (places.next(), places.next()) {
        (Some(first), Some(second)) => Err(format!(
            "columns {} and {} are both called {name:?}: give the number of the one that is meant",
            first + 1,
            second + 1
        )),
        (first, _) => Ok(first),
    }
}

/// The names, and where the column stands that a number was meant to name.
pub(crate) fn with_place<N: AsRef<str>>(column: &Column, names: &[N]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    let column = column.to_string();
    let place = names.iter().position(|name| *name == column);
    let hint = place.map(|at| format!(" (numbers are places: {column:?} stands at {})", at + 1));
    names.join(", ") + &hint.unwrap_or_default()
}

/// Fields between commas or semicolons may stand in quotes; tabs and other separators have no such custom.
fn is_quoted(delimiter: u8) -> bool {
    matches!(delimiter, b',' | b';')
}

fn usual_delimiter(source: &Source) -> u8 {
    let name = source.name().to_ascii_lowercase();
    let bare = [".gz", ".zst", ".bz2", ".xz", ".lz4"].iter().find_map(|end| name.strip_suffix(end));
    if bare.unwrap_or(&name).ends_with(".csv") { b',' } else { b'\t' }
}

fn names(header: &[u8], delimiter: u8) -> Vec<String> {
    let mut names = Vec::new();
    let mut next = Some(0);
    let mut bytes = header.to_vec();
    while let Some(start) = next {
        let (name, after) = field(&mut bytes, start..header.len(), delimiter, is_quoted(delimiter));
        names.push(String::from_utf8_lossy(&bytes[name]).into_owned());
        next = after;
    }
    names
}
