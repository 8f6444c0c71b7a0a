//! Group names as small numbers.

use std::collections::HashMap;
use std::ops::Range;

use crate::round::half_up;

/// No group.
pub(crate) const NONE: u32 = u32::MAX;
/// Slots for short texts; a power of two.
const SLOTS: usize = 1024;

/// Numbers the names of groups in the order of their coming.
#[derive(Debug)]
pub(crate) struct Interner {
    names: Vec<String>,
    ids: HashMap<String, u32>,
    /// Short texts as words, with their number: most tables have few groups, and rounding a text twice is a waste. A text
    /// stands in its slot or in one behind it, with none free between.
    short: Box<[(u64, u32); SLOTS]>,
    /// Slots in use: half of them at most.
    taken: usize,
}

impl Interner {
    pub(crate) fn new() -> Interner {
        Interner {
            names: Vec::new(),
            ids: HashMap::new(),
            short: Box::new([(0, NONE); SLOTS]),
            taken: 0,
        }
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    pub(crate) fn into_names(self) -> Vec<String> {
        self.names
    }

    /// The groups with short names that have been met.
    #[inline(always)]
    pub(crate) fn known(&self) -> Known<'_> {
        Known(&self.short)
    }

    /// The number of the group whose text stands at a place among these bytes, or why the text is none.
    pub(crate) fn id(
        &mut self,
        bytes: &[u8],
        place: Range<usize>,
        round: bool,
    ) -> Result<u32, &'static str> {
        let known = self.known().id(bytes, place.clone());
        if known != NONE {
            return Ok(known);
        }
        let id = self.look_up(&bytes[place.clone()], round)?;
        if let Some(word) = short(bytes, &place).filter(|_| self.taken < SLOTS / 2) {
            let slot = slot(&self.short, word);
            self.short[slot] = (word, id);
            self.taken += 1;
        }
        Ok(id)
    }

    fn look_up(&mut self, text: &[u8], round: bool) -> Result<u32, &'static str> {
        let name = if round {
            half_up(text).ok_or("the group is not a number")?
        } else {
            let name = std::str::from_utf8(text).map_err(|_| "the group is not UTF-8")?;
            if name.is_empty() {
                return Err("the group is empty");
            }
            name.into()
        };
        if let Some(&id) = self.ids.get(&name) {
            return Ok(id);
        }
        let id = u32::try_from(self.names.len()).ok().filter(|&id| id != NONE);
        let id = id.ok_or("there are more than 2^32 - 1 groups")?;
        self.names.push(name.clone());
        self.ids.insert(name, id);
        Ok(id)
    }
}

/// The groups that have been met and have short names.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a>(&'a [(u64, u32); SLOTS]);

impl Known<'_> {
    /// The number of the group whose text stands at a place among these bytes, if it is one of these; else [`NONE`].
    #[inline(always)]
    pub(crate) fn id(self, bytes: &[u8], place: Range<usize>) -> u32 {
        short(bytes, &place).map_or(NONE, |word| self.0[slot(self.0, word)].1)
    }
}

/// The slot of a short text, or the free one where it would stand.
#[inline(always)]
fn slot(slots: &[(u64, u32); SLOTS], word: u64) -> usize {
    let bits = SLOTS.trailing_zeros();
    let mut slot = (word.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - bits)) as usize;
    while slots[slot].0 != word && slots[slot].0 != 0 {
        slot = (slot + 1) % SLOTS;
    }
    slot
}

/// A text of up to seven bytes as a word that also tells their number, never 0.
#[inline(always)]
fn short(bytes: &[u8], place: &Range<usize>) -> Option<u64> {
    let len = place.len();
    if len == 0 || len > 7 {
        return None;
    }
    let word = match bytes.get(place.start..).and_then(<[u8]>::first_chunk) {
        Some(word) => u64::from_le_bytes(*word) & !(u64::MAX << (8 * len)),
        None => last(&bytes[place.clone()]),
    };
    Some(word | (len as u64) << 56)
}

/// The same bytes where no eight follow.
#[cold]
fn last(text: &[u8]) -> u64 {
    text.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_any_length_are_told_apart() {
        let texts =
            ["a", "ab", "ab\0", "abcdefg", "abcdefgh", "b", "ba", "\0", "\0\0", "é", "1.50"];
        // With other text behind it, with little, and with none.
        for behind in ["", "x", "other text", "\0\0\0\0\0\0\0\0"] {
            let mut interner = Interner::new();
            for turn in 0..2 {
                for (i, text) in texts.iter().enumerate() {
                    let bytes = format!("{text}{behind}").into_bytes();
                    let id = interner.id(&bytes, 0..text.len(), false);
                    assert_eq!(id, Ok(i as u32), "{text:?} before {behind:?}, {turn}");
                }
            }
            assert_eq!(interner.names(), texts);
            assert!(interner.id(behind.as_bytes(), 0..0, false).is_err());
        }
    }

    #[test]
    fn more_texts_than_slots_are_told_apart() {
        let mut interner = Interner::new();
        for _ in 0..2 {
            for i in 0..10_000 {
                let text = i.to_string();
                assert_eq!(interner.id(text.as_bytes(), 0..text.len(), false), Ok(i));
            }
        }
    }
}
