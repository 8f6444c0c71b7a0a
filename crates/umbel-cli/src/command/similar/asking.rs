//! The arguments that say what items are, how rows hold them, and what is promised.

use anyhow::{Result, bail};
use clap::ValueEnum;
use umbel::Metadata;
use umbel::similar::{Promise, Space};
use umbel_io::Look;
use umbel_io::similar::{Reading, Sort};

use crate::notice;

/// Words of a shingle where none are given.
const SHINGLE: u32 = 5;
/// What the file remembers of how rows hold items.
const TEXT: &str = "umbel.text";
const HEX: &str = "umbel.hex";
const SKIP: &str = "umbel.skip";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Metric {
    /// Texts or sets: 1 - common / all
    Jaccard,
    /// Vectors: 1 - cos of their angle
    Cosine,
    /// Vectors: the length of their difference
    Euclid,
    /// Bit strings: the share of bits that differ
    Hamming,
}

/// What is close and what is far
#[derive(clap::Args, Clone, Default)]
#[command(next_help_heading = "Distance")]
pub struct Distance {
    /// The distance; of equal items it is 0
    #[arg(long, value_enum)]
    metric: Option<Metric>,

    /// Items up to this distance are close
    #[arg(long, value_name = "DISTANCE", allow_negative_numbers = true)]
    close: Option<f64>,

    /// Items from this distance on are far
    ///
    /// Between the two either answer is right.
    #[arg(long, value_name = "DISTANCE", allow_negative_numbers = true)]
    far: Option<f64>,

    /// The share of wrong "close" answers where all stored items are far [default: 0.01]
    #[arg(long = "fp", value_name = "RATE")]
    false_positives: Option<f64>,

    /// The share of close items missed [default: 0.01]
    #[arg(long = "fn", value_name = "RATE")]
    false_negatives: Option<f64>,

    /// Numbers of a vector, or bits of a string [default: those of the first row]
    #[arg(long, value_name = "LENGTH", value_parser = clap::value_parser!(u32).range(1..))]
    #[arg(hide_short_help = true)]
    pub dim: Option<u32>,

    /// Words of a shingle; 1 compares sets of words [default: 5]
    #[arg(long, value_name = "WORDS", value_parser = clap::value_parser!(u32).range(1..))]
    #[arg(hide_short_help = true)]
    shingle: Option<u32>,

    /// Rows are sets of tokens with blanks between, taken as they are, and no texts
    #[arg(long, conflicts_with = "shingle")]
    #[arg(hide_short_help = true)]
    tokens: bool,
}

impl Distance {
    pub fn metric(&self) -> Result<Metric> {
        let Some(metric) = self.metric else {
            bail!("say what is compared: --metric jaccard, cosine, euclid or hamming")
        };
        if metric != Metric::Jaccard && (self.tokens || self.shingle.is_some()) {
            bail!("--shingle and --tokens go with --metric jaccard");
        }
        if metric == Metric::Jaccard && self.dim.is_some() {
            bail!("--dim goes with vectors and bit strings: texts and sets have any length");
        }
        Ok(metric)
    }

    pub fn promise(&self) -> Result<Promise> {
        let (Some(close), Some(far)) = (self.close, self.far) else {
            bail!("say what is close and what is far: --close DISTANCE --far DISTANCE")
        };
        let usual = Promise::new(close, far);
        Ok(Promise {
            false_positives: self.false_positives.unwrap_or(usual.false_positives),
            false_negatives: self.false_negatives.unwrap_or(usual.false_negatives),
            ..usual
        })
    }

    /// The space of items of this length; texts and sets have none.
    pub fn space(&self, length: u32) -> Result<Space> {
        Ok(match self.metric()? {
            Metric::Jaccard if self.tokens => Space::Sets,
            Metric::Jaccard => Space::Texts { shingle: self.shingle.unwrap_or(SHINGLE) },
            Metric::Cosine => Space::Cosine { dimension: length },
            Metric::Euclid => Space::Euclid { dimension: length },
            Metric::Hamming => Space::Hamming { bits: length },
        })
    }
}

/// How rows hold items
#[derive(clap::Args, Clone, Default)]
#[command(next_help_heading = "Input")]
pub struct Rows {
    /// Rows are JSON objects: the field with the text, the set or the vector
    #[arg(long, visible_alias = "field", value_name = "FIELD", conflicts_with_all = ["key", "delimiter"])]
    pub text: Option<String>,

    /// Bit strings are written in hexadecimal digits
    #[arg(long)]
    #[arg(hide_short_help = true)]
    hex: bool,

    /// Columns before the vector that are no part of it
    #[arg(long, value_name = "COLUMNS")]
    #[arg(hide_short_help = true)]
    skip: Option<usize>,
}

impl Rows {
    /// How rows of this space are read.
    pub fn reading(&self, space: Space) -> Result<Reading> {
        let vectors = matches!(space, Space::Cosine { .. } | Space::Euclid { .. });
        let strings = matches!(space, Space::Hamming { .. });
        if self.hex && !strings {
            bail!("--hex goes with --metric hamming");
        }
        if self.skip.is_some() && (!vectors || self.text.is_some()) {
            bail!("--skip goes with vectors in columns");
        }
        let sort = match space {
            Space::Hamming { .. } => Sort::Bits { hex: self.hex },
            Space::Cosine { .. } => Sort::Vector { skip: self.skip.unwrap_or(0), zeros: false },
            Space::Euclid { .. } => Sort::Vector { skip: self.skip.unwrap_or(0), zeros: true },
            Space::Sets => Sort::Tokens,
            _ => Sort::Text,
        };
        Ok(Reading { sort, field: self.text.clone() })
    }

    /// Says so where JSON objects were compared as they stand, with the names of their fields, which is seldom meant.
    pub fn warn_of_json(&self, has_key: bool, look: &Look) {
        if look.json && self.text.is_none() && !has_key {
            notice::warn(
                "the lines seem to be JSON objects and were compared as they stand: --text FIELD compares a field of theirs",
            );
        }
    }

    pub fn remember(&self, metadata: &mut Metadata) {
        if let Some(field) = &self.text {
            metadata.set(TEXT, field);
        }
        if self.hex {
            metadata.set(HEX, "yes");
        }
        if let Some(skip) = self.skip {
            metadata.set(SKIP, skip.to_string());
        }
    }

    /// Fills in what was not said from what the filter remembers.
    pub fn recall(&mut self, metadata: &Metadata, has_key: bool) {
        if self.text.is_none() && !has_key {
            self.text = metadata.get(TEXT).map(Into::into);
        }
        self.hex |= metadata.get(HEX).is_some();
        if self.skip.is_none() && self.text.is_none() {
            self.skip = metadata.get(SKIP).and_then(|skip| skip.parse().ok());
        }
    }
}
