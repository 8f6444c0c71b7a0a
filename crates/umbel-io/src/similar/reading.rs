//! From a row to an item: bit strings, vectors, texts or tokens, in lines, in columns or in a field of JSON lines.

use serde_json::Value;
use umbel::similar::Item;

const NO_JSON: &str = "the line is not a JSON object";
const NO_FIELD: &str = "the field of --text is missing";
const NO_TEXT: &str = "the field of --text is not a text";
const NO_TEXTS: &str = "the field of --text is neither a text nor a list of texts";
const NO_LIST: &str = "the field of --text is not a list of numbers";
const NO_BITS: &str = "it is not a string of 0 and 1 (--hex reads hexadecimal digits)";
const NO_HEX: &str = "it is not a string of hexadecimal digits";
const NO_NUMBER: &str = "it is not a vector of finite numbers";
const JSON: &str = "it is a JSON object: name the field with --text";
const NO_WORDS: &str = "there are no words in the text";
const NO_TOKENS: &str = "there are no tokens in the set";
const ZEROS: &str = "a vector of zeros has no direction";
const OTHER_LENGTH: &str = "it has another length than the others";

/// What stands in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// Zeros and ones, or hexadecimal digits.
    Bits {
        /// Whether each character stands for four bits.
        hex: bool,
    },
    /// Numbers, behind so many columns that are no part of the vector.
    Vector {
        /// Columns to leave out.
        skip: usize,
        /// Whether a vector of zeros is one.
        zeros: bool,
    },
    /// A text.
    Text,
    /// Tokens with blanks between, or a list of texts.
    Tokens,
}

/// How rows are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// What stands there.
    pub sort: Sort,
    /// The field of a JSON object, if each row is one.
    pub field: Option<String>,
}

/// An item that was read, in memory that is used again.
#[derive(Debug, Default)]
pub(super) struct Room {
    bytes: Vec<u8>,
    vector: Vec<f64>,
    /// Where each token ends in the bytes.
    ends: Vec<usize>,
    /// Bits of a string, or numbers of a vector.
    pub(super) length: usize,
}

impl Reading {
    /// Reads a row into the room; the reason if it cannot be used. `length` is that of all items, where it is known.
    pub(super) fn read(
        &self,
        row: &[u8],
        length: Option<usize>,
        room: &mut Room,
    ) -> Result<(), &'static str> {
        room.clear();
        match &self.field {
            None => self.sort.line(row, room),
            Some(field) => {
                let value: Value = serde_json::from_slice(row).map_err(|_| NO_JSON)?;
                let object = value.as_object().ok_or(NO_JSON)?;
                self.sort.value(object.get(field).ok_or(NO_FIELD)?, room)
            }
        }?;
        match length {
            Some(length) if length != room.length => Err(OTHER_LENGTH),
            _ => Ok(()),
        }
    }
}

impl Sort {
    fn line(self, text: &[u8], room: &mut Room) -> Result<(), &'static str> {
        match self {
            Sort::Bits { .. } | Sort::Vector { .. }
                if text.trim_ascii_start().starts_with(b"{") =>
            {
                Err(JSON)
            }
            Sort::Bits { hex } => room.bits(text, hex),
            Sort::Vector { skip, zeros } => {
                let text = std::str::from_utf8(text).map_err(|_| NO_NUMBER)?;
                room.numbers(behind(text, skip).ok_or(NO_NUMBER)?, zeros)
            }
            Sort::Text => room.text(text),
            Sort::Tokens => {
                room.tokens(text.split(u8::is_ascii_whitespace).filter(|token| !token.is_empty()))
            }
        }
    }

    fn value(self, value: &Value, room: &mut Room) -> Result<(), &'static str> {
        match (self, value) {
            (Sort::Vector { zeros, .. }, Value::Array(list)) => {
                room.vector(list.iter().map(Value::as_f64), zeros)
            }
            (Sort::Vector { .. }, _) => Err(NO_LIST),
            (Sort::Tokens, Value::Array(list)) => {
                let texts = list.iter().map(Value::as_str).collect::<Option<Vec<_>>>();
                room.tokens(texts.ok_or(NO_TEXTS)?.into_iter().map(str::as_bytes))
            }
            (Sort::Tokens, Value::String(text)) => self.line(text.as_bytes(), room),
            (Sort::Tokens, _) => Err(NO_TEXTS),
            (_, Value::String(text)) => self.line(text.as_bytes(), room),
            _ => Err(NO_TEXT),
        }
    }
}

/// What may stand between columns: the first of them that there is.
const SEPARATORS: [char; 4] = [',', ';', '\t', ' '];

fn separator(text: &str) -> char {
    SEPARATORS.into_iter().find(|&separator| text.contains(separator)).unwrap_or(' ')
}

/// What stands behind so many columns.
fn behind(text: &str, columns: usize) -> Option<&str> {
    text.splitn(columns + 1, separator(text)).nth(columns)
}

impl Room {
    fn clear(&mut self) {
        self.bytes.clear();
        self.vector.clear();
        self.ends.clear();
        self.length = 0;
    }

    fn bits(&mut self, text: &[u8], hex: bool) -> Result<(), &'static str> {
        let (radix, bits, wrong) = if hex { (16, 4, NO_HEX) } else { (2, 1, NO_BITS) };
        for &character in text {
            let digit = char::from(character).to_digit(radix).ok_or(wrong)? as u8;
            if self.length.is_multiple_of(8) {
                self.bytes.push(0);
            }
            if let Some(last) = self.bytes.last_mut() {
                *last |= digit << (8 - bits - self.length % 8);
            }
            self.length += bits;
        }
        if text.is_empty() { Err(wrong) } else { Ok(()) }
    }

    /// Blanks may be many; an empty column is no number. Brackets may stand around all.
    fn numbers(&mut self, text: &str, zeros: bool) -> Result<(), &'static str> {
        let text = text.trim_matches(['[', ']', ' ', '\t']);
        match separator(text) {
            ' ' => self.vector(text.split_ascii_whitespace().map(|x| x.parse().ok()), zeros),
            separator => self.vector(text.split(separator).map(|x| x.trim().parse().ok()), zeros),
        }
    }

    fn vector(
        &mut self,
        numbers: impl Iterator<Item = Option<f64>>,
        zeros: bool,
    ) -> Result<(), &'static str> {
        for number in numbers {
            self.vector.push(number.filter(|number| number.is_finite()).ok_or(NO_NUMBER)?);
        }
        self.length = self.vector.len();
        match self.vector.iter().all(|&x| x == 0.0) {
            true if self.vector.is_empty() => Err(NO_NUMBER),
            true if !zeros => Err(ZEROS),
            _ => Ok(()),
        }
    }

    fn text(&mut self, text: &[u8]) -> Result<(), &'static str> {
        let has_word = text.iter().any(|&byte| byte.is_ascii_alphanumeric() || byte > 127);
        self.bytes.extend_from_slice(text);
        if has_word { Ok(()) } else { Err(NO_WORDS) }
    }

    fn tokens<'t>(&mut self, tokens: impl Iterator<Item = &'t [u8]>) -> Result<(), &'static str> {
        for token in tokens {
            self.bytes.extend_from_slice(token);
            self.ends.push(self.bytes.len());
        }
        if self.ends.is_empty() { Err(NO_TOKENS) } else { Ok(()) }
    }

    /// The bits that the item takes where it is stored as it is.
    pub(super) fn size(&self, sort: Sort) -> u64 {
        match sort {
            Sort::Bits { .. } => self.length as u64,
            Sort::Vector { .. } => 32 * self.length as u64,
            Sort::Text | Sort::Tokens => 8 * self.bytes.len() as u64,
        }
    }

    /// Hands out the item that was read.
    pub(super) fn with<T>(&self, sort: Sort, take: impl FnOnce(Item<'_>) -> T) -> T {
        match sort {
            Sort::Bits { .. } => take(Item::Bits(&self.bytes)),
            Sort::Vector { .. } => take(Item::Vector(&self.vector)),
            Sort::Text => take(Item::Text(&self.bytes)),
            Sort::Tokens => {
                let mut start = 0;
                let token = |&end: &usize| &self.bytes[std::mem::replace(&mut start, end)..end];
                take(Item::Tokens(&self.ends.iter().map(token).collect::<Vec<_>>()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(sort: Sort, field: Option<&str>, row: &str) -> Result<String, &'static str> {
        let reading = Reading { sort, field: field.map(Into::into) };
        let mut room = Room::default();
        reading.read(row.as_bytes(), None, &mut room)?;
        Ok(room.with(sort, |item| format!("{item:?} {}", room.length)))
    }

    #[test]
    fn rows_are_read_as_they_are_meant() {
        let (binary, hex) = (Sort::Bits { hex: false }, Sort::Bits { hex: true });
        assert_eq!(read(binary, None, "10000001101").unwrap(), "Bits([129, 160]) 11");
        assert_eq!(read(hex, None, "81aF1").unwrap(), "Bits([129, 175, 16]) 20");
        assert_eq!(read(binary, None, "102"), Err(NO_BITS));
        assert_eq!(read(hex, None, "8g"), Err(NO_HEX));
        let vector = Sort::Vector { skip: 0, zeros: false };
        for row in ["1,-2.5,3e2", "1 -2.5  3e2 ", "[1, -2.5, 3e2]", "1;-2.5;3e2", "1\t-2.5\t300"] {
            assert_eq!(read(vector, None, row).unwrap(), "Vector([1.0, -2.5, 300.0]) 3", "{row}");
        }
        let behind = Sort::Vector { skip: 2, zeros: true };
        for row in ["id,,0,0", "an id,7,0 0", "id\ta b\t0\t0", "id 7 [0 0]"] {
            assert_eq!(read(behind, None, row).unwrap(), "Vector([0.0, 0.0]) 2", "{row}");
        }
        assert_eq!(read(behind, None, "id,7"), Err(NO_NUMBER));
        assert_eq!(read(vector, None, "0,0"), Err(ZEROS));
        for row in ["", "1,x", "1,nan", "1,inf", "1,1e999", "[]"] {
            assert_eq!(read(vector, None, row), Err(NO_NUMBER), "{row}");
        }
        // A number that is missing does not make a shorter vector.
        for row in ["1,,3", ",1,2", "1,2,", "1, ,3", "1;;3", "1\t\t3", "[1,,3]", "1,2 3", "1;2,5"] {
            assert_eq!(read(vector, None, row), Err(NO_NUMBER), "{row}");
        }
        for sort in [vector, binary, hex] {
            assert_eq!(read(sort, None, " {\"v\": [1, 2]}"), Err(JSON));
        }
        assert_eq!(
            read(Sort::Tokens, None, " a bc\ta").unwrap(),
            "Tokens([[97], [98, 99], [97]]) 0"
        );
        assert_eq!(read(Sort::Tokens, None, "  "), Err(NO_TOKENS));
        assert_eq!(read(Sort::Text, None, " .,"), Err(NO_WORDS));
        assert_eq!(read(Sort::Text, None, "ü").unwrap(), "Text([195, 188]) 0");
    }

    #[test]
    fn fields_of_json_lines_are_read() {
        let vector = Sort::Vector { skip: 0, zeros: false };
        let row = r#"{"id": 1, "v": [1, 2.5], "t": "a\u00fc", "w": ["x y", "z"]}"#;
        assert_eq!(read(vector, Some("v"), row).unwrap(), "Vector([1.0, 2.5]) 2");
        assert_eq!(read(Sort::Text, Some("t"), row).unwrap(), "Text([97, 195, 188]) 0");
        assert_eq!(
            read(Sort::Tokens, Some("w"), row).unwrap(),
            "Tokens([[120, 32, 121], [122]]) 0"
        );
        assert_eq!(read(Sort::Tokens, Some("t"), row).unwrap(), "Tokens([[97, 195, 188]]) 0");
        assert_eq!(read(vector, Some("t"), row), Err(NO_LIST));
        assert_eq!(read(vector, Some("w"), row), Err(NO_NUMBER));
        assert_eq!(read(Sort::Text, Some("v"), row), Err(NO_TEXT));
        assert_eq!(read(Sort::Tokens, Some("id"), row), Err(NO_TEXTS));
        assert_eq!(read(Sort::Tokens, Some("v"), row), Err(NO_TEXTS));
        assert_eq!(read(Sort::Text, Some("none"), row), Err(NO_FIELD));
        assert_eq!(read(Sort::Text, Some("t"), "{\"t\": "), Err(NO_JSON));
        assert_eq!(read(Sort::Text, Some("t"), "[1]"), Err(NO_JSON));
    }
}
