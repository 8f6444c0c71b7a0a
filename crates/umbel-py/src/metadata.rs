//! Text pairs as a dict.

use std::collections::BTreeMap;

use umbel::Metadata;

/// A copy of the pairs.
pub fn to_map(metadata: &Metadata) -> BTreeMap<String, String> {
    metadata.iter().map(|(key, value)| (key.into(), value.into())).collect()
}

/// The pairs of a dict.
pub fn from_map(pairs: BTreeMap<String, String>) -> Metadata {
    let mut metadata = Metadata::default();
    pairs.into_iter().for_each(|(key, value)| metadata.set(key, value));
    metadata
}
