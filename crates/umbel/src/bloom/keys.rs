//! Keys in batches.

use std::ops::Range;

use crate::{Error, Result};

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

/// Where a key stands in a text: from `start` on, before `end`. It reaches the first 4 GiB: longer texts are handed over in pieces. Made
/// from a range with `Span::try_from`, it refuses places that it does not reach, which `as u32` would cut short.
///
/// ```
/// use umbel::{Bloom, Keys, Span};
///
/// let text = b"10.0.0.1 GET\n10.0.0.2 GET\n";
/// let addresses = [Span::try_from(0..8)?, Span::try_from(13..21)?];
/// let mut seen = Bloom::new(1000, 0.01)?;
/// seen.insert_batch(Keys::Spans(text, &addresses))?;
/// assert!(seen.contains(b"10.0.0.2"));
/// # Ok::<(), umbel::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
// Vectors take eight of them as eight 64-bit words, the start in the lower half.
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

impl TryFrom<Range<usize>> for Span {
    type Error = Error;

    fn try_from(place: Range<usize>) -> Result<Span> {
        match (u32::try_from(place.start), u32::try_from(place.end)) {
            (Ok(start), Ok(end)) => Ok(Span { start, end }),
            _ => Err(Error::Range(format!(
                "a key from byte {} to byte {} of its text: the place of a key reaches the first 4 GiB; hand longer texts over in pieces",
                place.start, place.end
            ))),
        }
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
