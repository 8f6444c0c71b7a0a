//! Text pairs that travel with a structure.

use std::collections::BTreeMap;

/// User metadata: text keys with text values, in order of the keys.
///
/// When structures are merged, the pairs on which both agree are kept, so that the result does not depend on the
/// order of merging.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metadata(BTreeMap<String, String>);

impl Metadata {
    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// Sets the value of `key`.
    pub fn set(&mut self, key: impl Into<String>, value: impl Into<String>) {
        self.0.insert(key.into(), value.into());
    }

    /// All pairs, in ascending order of the keys' bytes.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// Keeps the pairs that `other` has too.
    pub(crate) fn keep_common(&mut self, other: &Metadata) {
        self.0.retain(|key, value| other.get(key) == Some(value));
    }
}
