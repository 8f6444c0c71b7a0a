//! Keys in batches.

/// A batch of keys: bytes, bytes of one text, integers, or hashes worked out before.
#[derive(Debug, Clone, Copy)]
pub enum Keys<'a> {
    /// Keys as bytes.
    Bytes(&'a [&'a [u8]]),
    /// Keys as bytes that stand in one text, such as a block of lines: the text, and where; no slices need be made. One that does not
    /// lie within the text is a panic, as it is when slices are made.
    Spans(&'a [u8], &'a [Span]),
    /// Keys as 64-bit integers: the same keys as their eight little-endian bytes.
    U64(&'a [u64]),
    /// XXH3-64 hashes of keys, with the filter's seed; for filters with the xxh3 strategy.
    Hashes(&'a [u64]),
}

/// Where a key stands in a text: from `start` on, before `end`. It reaches the first 4 GiB: longer texts are handed over in pieces.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Span {
    /// The place of its first byte.
    pub start: u32,
    /// The place behind its last byte.
    pub end: u32,
}

impl Span {
    /// Its bytes; panics when they are not in the text.
    #[inline(always)]
    pub fn of(self, text: &[u8]) -> &[u8] {
        &text[self.start as usize..self.end as usize]
    }

    /// How many bytes.
    #[inline(always)]
    pub fn len(self) -> usize {
        self.end.wrapping_sub(self.start) as usize
    }

    /// Whether there are none.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}

impl<'a> Keys<'a> {
    /// How many keys.
    pub fn len(&self) -> usize {
        match self {
            Keys::Bytes(keys) => keys.len(),
            Keys::Spans(_, spans) => spans.len(),
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
            Keys::Spans(text, spans) => {
                (Keys::Spans(text, &spans[..at]), Keys::Spans(text, &spans[at..]))
            }
            Keys::U64(keys) => (Keys::U64(&keys[..at]), Keys::U64(&keys[at..])),
            Keys::Hashes(keys) => (Keys::Hashes(&keys[..at]), Keys::Hashes(&keys[at..])),
        }
    }

    /// Whether a key is text that is no integer: not of eight bytes.
    pub(crate) fn hold_text(&self) -> bool {
        match self {
            Keys::Bytes(keys) => keys.iter().any(|key| key.len() != 8),
            Keys::Spans(_, spans) => spans.iter().any(|span| span.len() != 8),
            Keys::U64(_) | Keys::Hashes(_) => false,
        }
    }
}
