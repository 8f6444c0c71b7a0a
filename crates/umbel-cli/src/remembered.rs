//! What a filter remembers of how it was built, and the pairs that the user gives it.

use anyhow::{Result, bail};
use umbel::Metadata;
use umbel_io::Look;
pub use umbel_io::remembered::key;
use umbel_io::remembered::{self, PREFIX};

use crate::input::{Grouping, Input};

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
            Some((key, _)) if is_twice(key, pairs) => bail!("--meta {key}: it is given twice"),
            Some((key, value)) if !key.is_empty() => metadata.set(key, value),
            _ => bail!("--meta {pair}: a pair has the form KEY=VALUE"),
        }
    }
    remembered::write(metadata, &input.shape(grouping, false), look);
    Ok(())
}

fn is_twice(key: &str, pairs: &[String]) -> bool {
    let keys = pairs.iter().filter_map(|pair| Some(pair.split_once('=')?.0));
    keys.filter(|other| *other == key).count() > 1
}

/// Fills in what was not said from what the filter remembers.
pub fn read(metadata: &Metadata, input: &mut Input, grouping: &mut Grouping) {
    let mut shape = input.shape(grouping, false);
    remembered::read(metadata, &mut shape);
    (input.key, input.header) = (shape.key, shape.header);
    (grouping.by, grouping.round) = (shape.by, shape.round);
}
