//! Many keys at once: hash a chunk, ask memory for its lines, then test or set.

use super::{Bloom, KeyType, Keys, classic};
use crate::hash::{Strategy, xxh3};
use crate::simd::{self, Window};
use crate::sizing::Layout;
use crate::{Error, Result};

/// Keys hashed before the first is looked up: enough to hide the start of a chunk, few enough to stay in the
/// nearest cache. A multiple of 64, so that chunks begin on a word of answers.
const CHUNK: usize = 1024;
const CHUNK_WORDS: usize = CHUNK / 64;

impl Bloom {
    /// Adds many keys.
    pub fn insert_batch(&mut self, keys: Keys<'_>) -> Result<()> {
        self.insert_chunks(keys, |_| ())
    }

    /// Adds many keys, in order; bit i % 64 of `new[i / 64]` says whether key i was certainly new when its turn
    /// came. `new` has one word for each 64 keys.
    pub fn insert_mask(&mut self, keys: Keys<'_>, new: &mut [u64]) -> Result<()> {
        check_answers(keys.len(), keys.len().div_ceil(64), new.len())?;
        let mut rest = new;
        self.insert_chunks(keys, |words| {
            let (now, later) = std::mem::take(&mut rest).split_at_mut(words.len());
            now.copy_from_slice(words);
            rest = later;
        })
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
        if let Keys::Bytes(keys) = keys {
            return self.contains_each(keys.len(), |i| keys[i], found);
        }
        check_answers(keys.len(), keys.len().div_ceil(64), found.len())?;
        self.check_keys(keys)?;
        let &Strategy::Xxh3 { seed } = self.params.strategy() else {
            each_key(keys, found, |key| self.contains(key));
            return Ok(());
        };
        let mut buffer = [0; CHUNK];
        let mut rest = keys;
        for words in found.chunks_mut(CHUNK_WORDS) {
            let (now, later) = rest.split(CHUNK);
            rest = later;
            self.contains_hashes(self.hashes(now, seed, &mut buffer), later.words(), words);
        }
        Ok(())
    }

    /// Looks up `len` keys wherever they stand: `key(i)` is the i-th, and bit i % 64 of `found[i / 64]` its answer. `found` has one
    /// word for each 64 keys.
    pub fn contains_each<'k>(
        &self,
        len: usize,
        key: impl Fn(usize) -> &'k [u8],
        found: &mut [u64],
    ) -> Result<()> {
        check_answers(len, len.div_ceil(64), found.len())?;
        if self.params.key_type() == KeyType::U64 && (0..len).any(|i| key(i).len() != 8) {
            self.check_key_type(KeyType::Bytes)?;
        }
        match (self.params.strategy(), self.params.sizing().layout()) {
            (&Strategy::Xxh3 { seed }, Layout::Blocked) => {
                simd::contains_keys(self.level, &self.bits, seed, len, key, found);
            }
            (&Strategy::Xxh3 { seed }, Layout::Classic) => {
                let mut buffer = [0; CHUNK];
                for (words, start) in found.chunks_mut(CHUNK_WORDS).zip((0..len).step_by(CHUNK)) {
                    let hashes = &mut buffer[..CHUNK.min(len - start)];
                    hashes.iter_mut().zip(start..).for_each(|(hash, i)| *hash = xxh3(key(i), seed));
                    self.contains_hashes(hashes, &[], words);
                }
            }
            (Strategy::Seeded { .. }, _) => {
                found.fill(0);
                (0..len)
                    .for_each(|i| found[i / 64] |= u64::from(self.contains(key(i))) << (i % 64));
            }
        }
        Ok(())
    }

    /// The hashes of a chunk of keys: those given, or worked out into `buffer`.
    fn hashes<'b>(&self, keys: Keys<'b>, seed: u64, buffer: &'b mut [u64; CHUNK]) -> &'b [u64] {
        let hashes = &mut buffer[..keys.len()];
        match keys {
            Keys::Bytes(keys) => {
                hashes.iter_mut().zip(keys).for_each(|(hash, key)| *hash = xxh3(key, seed));
            }
            Keys::U64(keys) => simd::hash_batch(self.level, keys, seed, hashes),
            Keys::Hashes(keys) => return keys,
        }
        hashes
    }

    fn contains_hashes(&self, hashes: &[u64], next: &[u64], found: &mut [u64]) {
        let sizing = self.params.sizing();
        match sizing.layout() {
            Layout::Blocked => simd::contains_batch(self.level, &self.bits, hashes, next, found),
            Layout::Classic => {
                let (m, k) = (sizing.bits(), sizing.probes());
                classic::contains_batch(&self.bits, m, k, hashes, found);
            }
        }
    }

    fn insert_hashes(&mut self, hashes: &[u64], next: &[u64], new: &mut [u64]) {
        let sizing = self.params.sizing();
        let lines = self.bits.lines_mut();
        match sizing.layout() {
            Layout::Blocked => {
                let window = Window { first: 0, total: lines.len() };
                simd::insert_batch(self.level, lines, window, hashes, next, new);
            }
            Layout::Classic => {
                classic::insert_batch(lines, sizing.bits(), sizing.probes(), hashes, new);
            }
        }
    }

    /// Adds the keys chunk by chunk and hands each chunk's answers to `done`.
    fn insert_chunks(&mut self, keys: Keys<'_>, mut done: impl FnMut(&[u64])) -> Result<()> {
        self.check_keys(keys)?;
        let seed = match self.params.strategy() {
            &Strategy::Xxh3 { seed } => Some(seed),
            Strategy::Seeded { .. } => None,
        };
        let (mut buffer, mut words) = ([0; CHUNK], [0; CHUNK_WORDS]);
        let mut rest = keys;
        while !rest.is_empty() {
            let (now, later) = rest.split(CHUNK);
            rest = later;
            let words = &mut words[..now.len().div_ceil(64)];
            if let Some(seed) = seed {
                let hashes = self.hashes(now, seed, &mut buffer);
                self.insert_hashes(hashes, later.words(), words);
                self.count_inserts(now.len() as u64);
            } else {
                each_key(now, words, |key| self.insert(key));
            }
            done(words);
        }
        Ok(())
    }

    /// Refuses hashes where the strategy needs the keys, and text where the keys are integers: an integer has eight bytes.
    fn check_keys(&self, keys: Keys<'_>) -> Result<()> {
        match keys {
            Keys::Hashes(_) => self.check_hashes(),
            Keys::Bytes(keys) if self.params.key_type() == KeyType::U64 => {
                if keys.iter().all(|key| key.len() == 8) {
                    Ok(())
                } else {
                    self.check_key_type(KeyType::Bytes)
                }
            }
            Keys::Bytes(_) | Keys::U64(_) => Ok(()),
        }
    }
}

/// One answer a key, for strategies that hash a key more than once; `check_keys` has refused hashes.
fn each_key(keys: Keys<'_>, answers: &mut [u64], mut answer: impl FnMut(&[u8]) -> bool) {
    answers.fill(0);
    let mut note = |i: usize, yes: bool| answers[i / 64] |= u64::from(yes) << (i % 64);
    match keys {
        Keys::Bytes(keys) => keys.iter().enumerate().for_each(|(i, key)| note(i, answer(key))),
        Keys::U64(keys) | Keys::Hashes(keys) => {
            keys.iter().enumerate().for_each(|(i, key)| note(i, answer(&key.to_le_bytes())));
        }
    }
}

fn check_answers(keys: usize, needed: usize, given: usize) -> Result<()> {
    if needed == given { Ok(()) } else { Err(Error::Answers { keys, needed, given }) }
}
