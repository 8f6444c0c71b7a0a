//! Group names as small numbers.

use std::collections::HashMap;

use crate::round::half_up;

/// Slots for short texts that were seen lately; a power of two.
const SLOTS: usize = 1024;

/// Numbers the names of groups in the order of their coming.
#[derive(Debug)]
pub(crate) struct Interner {
    names: Vec<String>,
    ids: HashMap<String, u32>,
    /// Short texts as words, with their number: most tables have few groups, and rounding a text twice is a waste.
    recent: Vec<(u64, u32)>,
}

impl Interner {
    pub(crate) fn new() -> Interner {
        Interner { names: Vec::new(), ids: HashMap::new(), recent: vec![(0, 0); SLOTS] }
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    pub(crate) fn into_names(self) -> Vec<String> {
        self.names
    }

    /// The number of a group, or why the text is none.
    #[inline]
    pub(crate) fn id(&mut self, text: &[u8], round: bool) -> Result<u32, &'static str> {
        let Some(word) = short(text) else { return self.look_up(text, round) };
        let slot = word.wrapping_mul(0x9E37_79B9_7F4A_7C15) as usize >> 54 & (SLOTS - 1);
        if self.recent[slot].0 == word {
            return Ok(self.recent[slot].1);
        }
        let id = self.look_up(text, round)?;
        self.recent[slot] = (word, id);
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
        let id = u32::try_from(self.names.len()).map_err(|_| "there are more than 2^32 groups")?;
        self.names.push(name.clone());
        self.ids.insert(name, id);
        Ok(id)
    }
}

/// Up to seven bytes as a word that also tells their number, never 0.
#[inline(always)]
fn short(text: &[u8]) -> Option<u64> {
    let word = match *text {
        [a] => u64::from_le_bytes([a, 0, 0, 0, 0, 0, 0, 1]),
        [a, b] => u64::from_le_bytes([a, b, 0, 0, 0, 0, 0, 2]),
        [a, b, c] => u64::from_le_bytes([a, b, c, 0, 0, 0, 0, 3]),
        [a, b, c, d] => u64::from_le_bytes([a, b, c, d, 0, 0, 0, 4]),
        [a, b, c, d, e] => u64::from_le_bytes([a, b, c, d, e, 0, 0, 5]),
        [a, b, c, d, e, f] => u64::from_le_bytes([a, b, c, d, e, f, 0, 6]),
        [a, b, c, d, e, f, g] => u64::from_le_bytes([a, b, c, d, e, f, g, 7]),
        _ => return None,
    };
    Some(word)
}
