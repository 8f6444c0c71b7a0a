//! Keys in batches.

/// A batch of keys: bytes, integers, or hashes worked out before.
#[derive(Debug, Clone, Copy)]
pub enum Keys<'a> {
    /// Keys as bytes.
    Bytes(&'a [&'a [u8]]),
    /// Keys as 64-bit integers: the same keys as their eight little-endian bytes.
    U64(&'a [u64]),
    /// XXH3-64 hashes of keys, with the filter's seed; for filters with the xxh3 strategy.
    Hashes(&'a [u64]),
}

impl<'a> Keys<'a> {
    /// How many keys.
    pub fn len(&self) -> usize {
        match self {
            Keys::Bytes(keys) => keys.len(),
            Keys::U64(keys) | Keys::Hashes(keys) => keys.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// At most `len` keys from the front, and the rest.
    pub(super) fn split(self, len: usize) -> (Keys<'a>, Keys<'a>) {
        let at = len.min(self.len());
        match self {
            Keys::Bytes(keys) => (Keys::Bytes(&keys[..at]), Keys::Bytes(&keys[at..])),
            Keys::U64(keys) => (Keys::U64(&keys[..at]), Keys::U64(&keys[at..])),
            Keys::Hashes(keys) => (Keys::Hashes(&keys[..at]), Keys::Hashes(&keys[at..])),
        }
    }
}
