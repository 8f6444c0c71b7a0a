//! Text pairs that travel with a structure.

use std::fmt;

/// User metadata: text keys with text values, in order of the keys. Meant for a few pairs: setting one takes as long as
/// reading all.
///
/// When structures are merged, the pairs on which both agree are kept, so that the result does not depend on the
/// order of merging.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Metadata {
    /// Key, value, key, value, one behind the other: a file of nothing but tiny texts takes no more memory than its length.
    texts: String,
    /// Their lengths, seven bits a byte, the low ones first; all bytes of a length but its last have the upper bit set.
    lengths: Vec<u8>,
}

impl Metadata {
    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.iter().find(|&(found, _)| found == key).map(|(_, value)| value)
    }

    /// Sets the value of `key`.
    pub fn set(&mut self, key: impl AsRef<str>, value: impl AsRef<str>) {
        let (key, value) = (key.as_ref(), value.as_ref());
        let mut changed = Metadata::default();
        let mut pairs = self.iter().peekable();
        while let Some((key, value)) = pairs.next_if(|&(before, _)| before < key) {
            changed.push(key, value);
        }
        changed.push(key, value);
        pairs.next_if(|&(same, _)| same == key);
        pairs.for_each(|(key, value)| changed.push(key, value));
        *self = changed;
    }

    /// All pairs, in ascending order of the keys' bytes.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        Pairs { texts: &self.texts, lengths: &self.lengths, left: self.len() }
    }

    /// The number of pairs: each has two lengths, and each length one last byte.
    fn len(&self) -> usize {
        self.lengths.iter().filter(|&&byte| byte < MORE).count() / 2
    }

    /// Adds a pair whose key comes behind all others.
    pub(crate) fn push(&mut self, key: &str, value: &str) {
        for text in [key, value] {
            self.texts.push_str(text);
            let mut len = text.len();
            while len >= usize::from(MORE) {
                self.lengths.push(len as u8 | MORE);
                len >>= 7;
            }
            self.lengths.push(len as u8);
        }
    }

    /// Keeps the pairs that `other` has too.
    pub(crate) fn keep_common(&mut self, other: &Metadata) {
        let mut common = Metadata::default();
        let mut theirs = other.iter().peekable();
        for (key, value) in self.iter() {
            while theirs.next_if(|&(before, _)| before < key).is_some() {}
            if theirs.peek() == Some(&(key, value)) {
                common.push(key, value);
            }
        }
        *self = common;
    }
}

impl fmt::Debug for Metadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// The bit of a length's byte that says that another follows.
const MORE: u8 = 0x80;

struct Pairs<'a> {
    texts: &'a str,
    lengths: &'a [u8],
    left: usize,
}

impl<'a> Pairs<'a> {
    fn text(&mut self) -> &'a str {
        let mut len = 0;
        let mut shift = 0;
        while let Some((&byte, rest)) = self.lengths.split_first() {
            self.lengths = rest;
            len |= usize::from(byte & !MORE) << shift;
            shift += 7;
            if byte < MORE {
                break;
            }
        }
        let (text, rest) = self.texts.split_at(len);
        self.texts = rest;
        text
    }
}

impl<'a> Iterator for Pairs<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<(&'a str, &'a str)> {
        self.left = self.left.checked_sub(1)?;
        Some((self.text(), self.text()))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Pairs<'_> {}

#[cfg(test)]
mod tests {
    use super::Metadata;
    use std::collections::BTreeMap;

    /// Set in any order, with texts around the lengths that take another byte: the same as a map.
    #[test]
    fn it_is_a_map() {
        let mut metadata = Metadata::default();
        let mut map = BTreeMap::new();
        for step in 0..600_usize {
            let key = (step * 7919 % 101).to_string();
            let value = "é".repeat([0, 1, 63, 64, 127, 8191, 8192][step % 7]);
            metadata.set(&key, &value);
            map.insert(key, value);
            let pairs = map.iter().map(|(key, value)| (key.as_str(), value.as_str()));
            assert!(metadata.iter().eq(pairs) && metadata.iter().len() == map.len());
        }
        assert!(map.iter().all(|(key, value)| metadata.get(key) == Some(value)));
        assert_eq!(metadata.get("absent"), None);
        assert_eq!(metadata.get(""), None);
    }

    #[test]
    fn common_pairs_are_kept() {
        let of = |pairs: &[(&str, &str)]| {
            let mut metadata = Metadata::default();
            pairs.iter().for_each(|(key, value)| metadata.set(key, value));
            metadata
        };
        let mut ours = of(&[("a", "1"), ("b", "2"), ("c", ""), ("e", "5")]);
        ours.keep_common(&of(&[("0", "1"), ("b", "2"), ("c", "3"), ("d", "4"), ("e", "5")]));
        assert_eq!(ours, of(&[("b", "2"), ("e", "5")]));
        assert_eq!(format!("{ours:?}"), r#"{"b": "2", "e": "5"}"#);
        ours.keep_common(&Metadata::default());
        assert_eq!(ours, Metadata::default());
    }
}
