//! The bands of one item, and memory that is used again for the next.

use crate::hash::xxh3;

/// The bands of one item: a hash for each. Found by [`Similar::bands`](super::Similar::bands), in any thread; then asked for or inserted.
#[derive(Debug, Clone, Default)]
pub struct Bands {
    pub(super) hashes: Vec<u64>,
    pub(super) scratch: Scratch,
}

impl Bands {
    /// The hashes, one a band. Two items share a band as often as their samples agree.
    pub fn as_slice(&self) -> &[u64] {
        &self.hashes
    }
}

/// What is needed on the way.
#[derive(Debug, Clone, Default)]
pub(super) struct Scratch {
    pub(super) vector: Vec<f64>,
    pub(super) products: Vec<f64>,
    pub(super) bytes: Vec<u8>,
    /// The elements of a text or a set.
    pub(super) elements: Vec<u64>,
}

impl Scratch {
    /// The elements of a set of tokens.
    pub(super) fn tokens(&mut self, tokens: &[&[u8]], seed: u64) {
        self.elements.clear();
        self.elements.extend(tokens.iter().map(|token| xxh3(token, seed)));
    }

    /// The elements of a text: its shingles of so many words.
    pub(super) fn text(&mut self, text: &[u8], shingle: usize, seed: u64) {
        let Scratch { bytes, elements, .. } = self;
        bytes.clear();
        elements.clear();
        // Where each word begins, in a text of words with one space between.
        let mut starts = Vec::new();
        for word in text.split(|&byte| !is_letter(byte)).filter(|word| !word.is_empty()) {
            if !bytes.is_empty() {
                bytes.push(b' ');
            }
            starts.push(bytes.len());
            bytes.extend(word.iter().map(u8::to_ascii_lowercase));
        }
        let end = |word: usize| starts.get(word).map_or(bytes.len(), |start| start - 1);
        let runs = (starts.len() + 1).saturating_sub(shingle).max(starts.len().min(1));
        elements.extend(
            starts[..runs]
                .iter()
                .enumerate()
                .map(|(word, &start)| xxh3(&bytes[start..end(word + shingle)], seed)),
        );
    }
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte > 127
}
