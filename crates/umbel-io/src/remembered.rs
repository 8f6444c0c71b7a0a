//! What a filter remembers of how it was built: key, by and round, by header name where there is one; never a path or a
//! delimiter.

use umbel::Metadata;

use crate::{Column, Look, Shape};

const KEY: &str = "umbel.key";
const BY: &str = "umbel.by";
const ROUND: &str = "umbel.round";
/// Columns given by number, below a header that has to be passed over.
const HEADER: &str = "umbel.header";
/// Names that begin so are ours.
pub const PREFIX: &str = "umbel.";

/// Puts the columns, by the names that the inputs have for them, into the metadata.
pub fn write(metadata: &mut Metadata, shape: &Shape, look: &Look) {
    let mut named = false;
    for (place, column, name) in [(KEY, &shape.key, &look.key), (BY, &shape.by, &look.by)] {
        let Some(column) = column else { continue };
        named |= name.is_some() || matches!(column, Column::Name(_));
        metadata.set(place, name.clone().unwrap_or_else(|| column.to_string()));
    }
    if shape.round {
        metadata.set(ROUND, "half-up");
    }
    // Whoever looks for a name reads a header in any case.
    if shape.header && !named {
        metadata.set(HEADER, "yes");
    }
}

/// Fills in what was not said from what the filter remembers.
pub fn read(metadata: &Metadata, shape: &mut Shape) {
    let column = |name: &str| metadata.get(name).and_then(|text| text.parse().ok());
    if shape.key.is_none() || shape.by.is_none() {
        shape.header |= metadata.get(HEADER).is_some();
    }
    if shape.key.is_none() {
        shape.key = column(KEY);
    }
    let by = column(BY);
    if shape.by.is_none() || shape.by == by {
        shape.by = by;
        shape.round |= metadata.get(ROUND).is_some();
    }
}

/// The column that the key stood in when the filter was built.
pub fn key(metadata: &Metadata) -> Option<&str> {
    metadata.get(KEY)
}
