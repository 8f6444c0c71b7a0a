//! What is neither text nor anything that is read here, and would pass for lines of text: keys would be missed, and nobody would know.

use std::fmt;
use std::path::Path;

use crate::source::Magic;

const DECOMPRESS: &str = "decompress it first";
const OR_SPARK: &str = "decompress it first, or on Spark read it as a DataFrame";
const TABLE: &str =
    "write its columns as text or Parquet first, or on Spark read it as a DataFrame";

const ZIP: (&str, &str) = ("a ZIP archive", DECOMPRESS);
const AVRO: (&str, &str) = ("an Avro file", TABLE);

/// What bytes without a magic that is known are, by the endings of names: what it is, and what to do. Several of these have no magic at all.
const NAMED: [(&str, (&str, &str)); 10] = [
    ("deflate", ("DEFLATE data", OR_SPARK)),
    ("snappy", ("Snappy data", OR_SPARK)),
    ("lzo", ("LZO data", OR_SPARK)),
    ("lz4", ("lz4 as Hadoop frames it", OR_SPARK)),
    ("zip", ZIP),
    ("orc", ("an ORC file", TABLE)),
    ("avro", AVRO),
    ("7z", ("a 7z archive", DECOMPRESS)),
    ("z", ("what compress writes", DECOMPRESS)),
    ("br", ("Brotli data", DECOMPRESS)),
];

/// Something that is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unread {
    what: &'static str,
    advice: &'static str,
    by_name: bool,
}

impl Unread {
    /// What an input is that begins with this magic, or has bytes without one under this name.
    pub(crate) fn of(magic: Option<Magic>, name: &Path) -> Option<Unread> {
        let ((what, advice), by_name) = match magic {
            Some(Magic::Zip) => (ZIP, false),
            Some(Magic::Avro) => (AVRO, false),
            Some(_) => return None,
            None => (named(name)?, true),
        };
        Some(Unread { what, advice, by_name })
    }
}

fn named(name: &Path) -> Option<(&'static str, &'static str)> {
    let ending = name.extension()?.to_str()?;
    let known = NAMED.iter().find(|(known, _)| ending.eq_ignore_ascii_case(known));
    known.map(|&(_, found)| found)
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unread { what, advice, by_name } = self;
        match by_name {
            false => write!(f, "this is {what}, which is not read: {advice}"),
            true => write!(
                f,
                "by its name this is {what}, which is not read: {advice}; a text needs another name"
            ),
        }
    }
}
