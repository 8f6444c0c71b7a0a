//! The arguments that say what to read, shared by the subcommands.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail};
use umbel_io::{Column, Driver, Meter, Shape, Source};
use umbel_job::Location;

/// More would do nothing but take memory, of which screening promises a bound.
const MOST_THREADS: usize = 128;

/// Which part of a line is the key
#[derive(clap::Args, Clone, Default)]
#[command(next_help_heading = "Input")]
pub struct Input {
    /// The key's column: a number from 1, or a name in the header [default: the whole line]
    #[arg(long, value_name = "COL")]
    pub key: Option<Column>,

    /// Column separator [default: comma in .csv, else tab]
    #[arg(short = 'd', long, value_name = "CHAR", value_parser = delimiter)]
    pub delimiter: Option<u8>,

    /// The first line is a header even though columns are given by number
    #[arg(long)]
    #[arg(hide_short_help = true)]
    pub header: bool,

    /// Stop at the first row that cannot be used, instead of counting them
    #[arg(long)]
    #[arg(hide_short_help = true)]
    pub strict: bool,

    /// How many threads work, 128 at most [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    #[arg(hide_short_help = true)]
    pub threads: Option<u16>,
}

/// One result for each group
#[derive(clap::Args, Clone, Default)]
#[command(next_help_heading = "Groups")]
pub struct Grouping {
    /// The group's column: one result for each of its values
    #[arg(long, value_name = "COL")]
    pub by: Option<Column>,

    /// Groups are decimal numbers, rounded half up (2.5 is 3)
    #[arg(long)]
    pub round: bool,
}

impl Grouping {
    /// Refuses rounding where there is no group.
    pub fn check(&self) -> Result<()> {
        if self.round && self.by.is_none() {
            bail!("--round rounds the group: name its column with --by");
        }
        Ok(())
    }
}

impl Input {
    /// The first of these options that was given.
    pub fn given(&self) -> Option<&'static str> {
        let options = [
            ("--key", self.key.is_some()),
            ("-d", self.delimiter.is_some()),
            ("--header", self.header),
            ("--strict", self.strict),
            ("--threads", self.threads.is_some()),
        ];
        options.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }

    /// Refuses a delimiter where there are no columns.
    pub fn check_delimiter(&self, has_columns: bool) -> Result<()> {
        if self.delimiter.is_some() && !has_columns {
            bail!(
                "-d separates columns, but the key is the whole line: name its column with --key"
            );
        }
        Ok(())
    }

    /// The number of threads to work with.
    pub fn threads(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(cores, usize::from).min(MOST_THREADS)
    }

    /// How records are read.
    pub fn shape(&self, grouping: &Grouping, integers: bool) -> Shape {
        Shape {
            key: self.key.clone(),
            by: grouping.by.clone(),
            weight: None,
            interval: None,
            numbers: None,
            round: grouping.round,
            delimiter: self.delimiter,
            header: self.header,
            integers,
        }
    }

    /// A driver over these files, or stdin when there are none.
    pub fn driver(&self, files: &[PathBuf], shape: Shape) -> Driver {
        Driver {
            sources: or_stdin(files).into_iter().map(source).collect(),
            shape,
            threads: self.threads(),
            strict: self.strict,
            meter: Arc::new(Meter::default()),
        }
    }
}

/// An input: a file on this machine or on HDFS, or stdin.
fn source(path: PathBuf) -> Source {
    Location::parse(&path).source()
}

/// Refuses to read stdin more than once: whoever comes second would find it empty.
pub fn check_stdin<'p>(paths: impl IntoIterator<Item = &'p PathBuf>) -> Result<()> {
    match paths.into_iter().filter(|path| path.as_os_str() == "-").count() {
        0 | 1 => Ok(()),
        _ => bail!("stdin can be read only once: give one of the inputs as a file"),
    }
}

/// The files, or stdin where there are none.
pub fn or_stdin(files: &[PathBuf]) -> Vec<PathBuf> {
    match files {
        [] => vec!["-".into()],
        files => files.to_vec(),
    }
}

/// One character, or an escape such as \t.
fn delimiter(text: &str) -> std::result::Result<u8, String> {
    match text.as_bytes() {
        b"\n" | b"\r" | b"\"" => Err("a line end or a quote cannot separate columns".into()),
        [byte] => Ok(*byte),
        b"\\t" | b"tab" => Ok(b'\t'),
        b"\\0" => Ok(0),
        _ => Err("a delimiter is a single byte, such as ',' or '\\t'".into()),
    }
}

/// A whole number, also written as 1e6.
pub fn whole(text: &str) -> std::result::Result<u64, String> {
    // Up to 2^53 every whole number is a float.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let float = text.parse().ok().filter(|number: &f64| *number >= 0.0 && number.fract() == 0.0);
    match (text.parse(), float) {
        (Ok(number), _) => Ok(number),
        (_, Some(float)) if float > EXACT => Err("this number is too large".into()),
        (_, Some(float)) if text.contains(['e', 'E']) => Ok(float as u64),
        _ => Err("a whole number is needed, such as 1000000 or 1e6".into()),
    }
}

/// A whole number from 1 on.
pub fn positive(text: &str) -> std::result::Result<u64, String> {
    match whole(text)? {
        0 => Err("at least 1 is needed".into()),
        number => Ok(number),
    }
}

/// A rate; whether it is one that can be had is for others to say.
pub fn rate(text: &str) -> std::result::Result<f64, String> {
    text.parse().map_err(|_| "a number is needed, such as 0.01, which is 1 %".into())
}

/// A number of bytes: 500M, 2G, 1024.
pub fn bytes(text: &str) -> std::result::Result<u64, String> {
    let wrong = || format!("{text:?} is not a size such as 512M or 2G");
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text[digits.len()..]
        .to_ascii_uppercase()
        .trim_end_matches("IB")
        .trim_end_matches('B')
    {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return Err(wrong()),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    number.checked_mul(1 << shift).ok_or_else(wrong)
}
