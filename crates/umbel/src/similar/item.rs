//! What is stored and asked for.

/// An item, of the sort that its filter holds.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Item<'a> {
    /// A bit string, eight positions in a byte, the first one highest: as hexadecimal digits are read.
    Bits(&'a [u8]),
    /// A vector of doubles, all finite; for the cosine not all 0.
    Vector(&'a [f64]),
    /// A vector of singles; the same as that of the doubles they equal.
    Floats(&'a [f32]),
    /// A text with at least one word. What counts as a word is frozen: runs of ASCII letters, digits and bytes above 127, in small letters.
    Text(&'a [u8]),
    /// A set of tokens, at least one; their order and their number do not matter.
    Tokens(&'a [&'a [u8]]),
}

impl Item<'_> {
    /// What messages call it.
    pub(super) fn sort(&self) -> &'static str {
        match self {
            Item::Bits(_) => "bit strings",
            Item::Vector(_) | Item::Floats(_) => "vectors",
            Item::Text(_) => "texts",
            Item::Tokens(_) => "sets of tokens",
        }
    }
}

impl<'a> From<&'a [f64]> for Item<'a> {
    fn from(vector: &'a [f64]) -> Item<'a> {
        Item::Vector(vector)
    }
}

impl<'a, const N: usize> From<&'a [f64; N]> for Item<'a> {
    fn from(vector: &'a [f64; N]) -> Item<'a> {
        Item::Vector(vector)
    }
}

impl<'a> From<&'a [f32]> for Item<'a> {
    fn from(vector: &'a [f32]) -> Item<'a> {
        Item::Floats(vector)
    }
}

impl<'a> From<&'a str> for Item<'a> {
    fn from(text: &'a str) -> Item<'a> {
        Item::Text(text.as_bytes())
    }
}
