//! Many keys at once, in both layouts.

use super::{Bloom, KeyType, Keys, classic};
use crate::hash::{Strategy, xxh3, xxh3_u64};
use crate::{Error, Result};

/// Keys of the classic layout that are hashed before the first is looked up, and answers that are unpacked together: few
/// enough to stay in the nearest cache. A multiple of 64, so that chunks begin on a word of answers.
const CHUNK: usize = 1024;
const CHUNK_WORDS: usize = CHUNK / 64;

impl Bloom {
    /// Adds many keys.
    pub fn insert_batch(&mut self, keys: Keys<'_>) -> Result<()> {
        self.check_keys(keys)?;
        self.count_inserts(keys.len() as u64);
        match self.blocked {
            Some(blocked) => blocked.insert_batch(&mut self.bits, keys),
            None => self.insert_chunks(keys, |_| ()),
        }
        Ok(())
    }

    /// Adds many keys, in order; bit i % 64 of `new[i / 64]` says whether key i was certainly new when its turn
    /// came. `new` has one word for each 64 keys.
    pub fn insert_mask(&mut self, keys: Keys<'_>, new: &mut [u64]) -> Result<()> {
        check_answers(keys.len(), keys.len().div_ceil(64), new.len())?;
        self.check_keys(keys)?;
        self.count_inserts(keys.len() as u64);
        match self.blocked {
            Some(blocked) => blocked.insert_mask(&mut self.bits, keys, new),
            None => {
                let mut rest = new.chunks_mut(CHUNK_WORDS);
                self.insert_chunks(keys, |words| {
                    rest.next().into_iter().for_each(|new| new.copy_from_slice(words));
                });
            }
        }
        Ok(())
    }

    /// Looks up many keys; one answer each.
    pub fn contains_batch(&self, keys: Keys<'_>, answers: &mut [bool]) -> Result<()> {
        check_answers(keys.len(), keys.len(), answers.len())?;
        let mut words = [0; CHUNK_WORDS];
        let mut rest = keys;
        for answers in answers.chunks_mut(CHUNK) {
            let (now, later) = rest.split(CHUNK);
            rest = later;
            let words = &mut words[..answers.len().div_ceil(64)];
            self.contains_mask(now, words)?;
            for (answers, word) in answers.chunks_mut(64).zip(words) {
                for (i, answer) in answers.iter_mut().enumerate() {
                    *answer = *word >> i & 1 == 1;
                }
            }
        }
        Ok(())
    }

    /// Looks up many keys; bit i % 64 of `found[i / 64]` is the answer for key i. `found` has one word for each 64
    /// keys.
    pub fn contains_mask(&self, keys: Keys<'_>, found: &mut [u64]) -> Result<()> {
        check_answers(keys.len(), keys.len().div_ceil(64), found.len())?;
        self.check_keys(keys)?;
        match self.blocked {
            Some(blocked) => blocked.contains_mask(&self.bits, keys, found),
            None => self.contains_chunks(keys, found),
        }
        Ok(())
    }

    /// The classic layout, chunk by chunk.
    fn contains_chunks(&self, keys: Keys<'_>, found: &mut [u64]) {
        let (m, k) = (self.params.sizing().bits(), self.params.sizing().probes());
        let mut rest = keys;
        for words in found.chunks_mut(CHUNK_WORDS) {
            let (now, later) = rest.split(CHUNK);
            rest = later;
            match self.params.strategy() {
                &Strategy::Xxh3 { seed } => {
                    let hashes = &mut [0; CHUNK];
                    classic::contains_batch(&self.bits, m, k, hash(now, seed, hashes), words);
                }
                Strategy::Seeded { .. } => each_key(now, words, |key| self.contains_classic(key)),
            }
        }
    }

    /// The classic layout, chunk by chunk: hands each chunk's answers to `done`.
    fn insert_chunks(&mut self, keys: Keys<'_>, mut done: impl FnMut(&[u64])) {
        let (m, k) = (self.params.sizing().bits(), self.params.sizing().probes());
        let (mut words, mut rest) = ([0; CHUNK_WORDS], keys);
        while !rest.is_empty() {
            let (now, later) = rest.split(CHUNK);
            rest = later;
            let words = &mut words[..now.len().div_ceil(64)];
            match self.params.strategy() {
                &Strategy::Xxh3 { seed } => {
                    let hashes = &mut [0; CHUNK];
                    let lines = self.bits.lines_mut();
                    classic::insert_batch(lines, m, k, hash(now, seed, hashes), words);
                }
                Strategy::Seeded { .. } => each_key(now, words, |key| self.insert_classic(key)),
            }
            done(words);
        }
    }

    /// Refuses hashes where the strategy needs the keys, and text where the keys are integers: an integer has eight bytes.
    pub(crate) fn check_keys(&self, keys: Keys<'_>) -> Result<()> {
        match keys {
            Keys::Hashes(_) => self.check_hashes(),
            _ if self.params.key_type() == KeyType::U64 && keys.hold_text() => {
                self.check_key_type(KeyType::Bytes)
            }
            _ => Ok(()),
        }
    }
}

/// The hashes of a chunk of keys: those given, or worked out into `hashes`.
fn hash<'a>(keys: Keys<'a>, seed: u64, hashes: &'a mut [u64; CHUNK]) -> &'a [u64] {
    let hashes = &mut hashes[..keys.len()];
    match keys {
        Keys::Bytes(keys) => {
            hashes.iter_mut().zip(keys).for_each(|(hash, key)| *hash = xxh3(key, seed));
        }
        Keys::Spans(text, spans) => {
            let keys = spans.iter().map(|span| span.of(text));
            hashes.iter_mut().zip(keys).for_each(|(hash, key)| *hash = xxh3(key, seed));
        }
        Keys::U64(keys) => {
            hashes.iter_mut().zip(keys).for_each(|(hash, &key)| *hash = xxh3_u64(key, seed));
        }
        Keys::Hashes(keys) => return keys,
    }
    hashes
}

/// One answer a key, for strategies that hash a key more than once; `check_keys` has refused hashes.
fn each_key(keys: Keys<'_>, answers: &mut [u64], mut answer: impl FnMut(&[u8]) -> bool) {
    answers.fill(0);
    let mut note = |i: usize, yes: bool| answers[i / 64] |= u64::from(yes) << (i % 64);
    match keys {
        Keys::Bytes(keys) => keys.iter().enumerate().for_each(|(i, key)| note(i, answer(key))),
        Keys::Spans(text, spans) => {
            spans.iter().enumerate().for_each(|(i, span)| note(i, answer(span.of(text))));
        }
        Keys::U64(keys) | Keys::Hashes(keys) => {
            keys.iter().enumerate().for_each(|(i, key)| note(i, answer(&key.to_le_bytes())));
        }
    }
}

pub(super) fn check_answers(keys: usize, needed: usize, given: usize) -> Result<()> {
    if needed == given { Ok(()) } else { Err(Error::Answers { keys, needed, given }) }
}
