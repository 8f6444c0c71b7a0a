//! What a filter remembers of how it was built: key, by and round, by header name where there is one; never a path or a
//! delimiter.

use anyhow::{Result, bail};
use umbel::Metadata;
use umbel_io::{Column, Look};

use crate::input::{Grouping, Input};

const KEY: &str = "umbel.key";
const BY: &str = "umbel.by";
const ROUND: &str = "umbel.round";
/// Columns given by number, below a header that has to be passed over.
const HEADER: &str = "umbel.header";
/// Names that begin so are ours.
const PREFIX: &str = "umbel.";

/// Puts the columns, by the names that the inputs have for them, and the user's own pairs (K=V) into the metadata.
pub fn write(
    metadata: &mut Metadata,
    input: &Input,
    grouping: &Grouping,
    look: &Look,
    pairs: &[String],
) -> Result<()> {
    for pair in pairs {
        match pair.split_once('=') {
            Some((key, _)) if key.starts_with(PREFIX) => {
                bail!("--meta {pair}: names that begin with {PREFIX} are umbel's own")
            }
            Some((key, value)) if !key.is_empty() => metadata.set(key, value),
            _ => bail!("--meta {pair}: a pair has the form KEY=VALUE"),
        }
    }
    let mut named = false;
    for (place, column, name) in [(KEY, &input.key, &look.key), (BY, &grouping.by, &look.by)] {
        let Some(column) = column else { continue };
        named |= name.is_some() || matches!(column, Column::Name(_));
        metadata.set(place, name.clone().unwrap_or_else(|| column.to_string()));
    }
    if grouping.round {
        metadata.set(ROUND, "half-up");
    }
    // Whoever looks for a name reads a header in any case.
    if input.header && !named {
        metadata.set(HEADER, "yes");
    }
    Ok(())
}

/// Fills in what was not said from what the filter remembers.
pub fn read(metadata: &Metadata, input: &mut Input, grouping: &mut Grouping) {
    let column = |name: &str| metadata.get(name).and_then(|text| text.parse().ok());
    if input.key.is_none() || grouping.by.is_none() {
        input.header |= metadata.get(HEADER).is_some();
    }
    if input.key.is_none() {
        input.key = column(KEY);
    }
    if grouping.by.is_none() {
        grouping.by = column(BY);
        grouping.round |= metadata.get(ROUND).is_some();
    }
}

/// The column that the key stood in when the filter was built.
pub fn key(metadata: &Metadata) -> Option<&str> {
    metadata.get(KEY)
}
