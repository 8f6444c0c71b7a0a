//! What takes part in a race.

use crate::keys::{Keys, each_chunk};

/// What a candidate stands for in the table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// umbel, many keys at a time.
    Batch,
    /// umbel, one key at a time.
    One,
    /// A Bloom filter as published: the ratio is taken to the best of these.
    Peer,
    /// Shown for comparison: peers with help, and structures that are no Bloom filters.
    Other,
    /// What memory allows.
    Limit,
}

/// A structure that takes keys and answers.
pub trait Candidate {
    fn name(&self) -> &'static str;
    fn role(&self) -> Role;
    /// Empties the structure; its memory stays touched.
    fn reset(&mut self);
    fn insert(&mut self, keys: Keys);
    /// How many of the keys are admitted.
    fn count(&self, keys: Keys) -> usize;
    /// Bytes of memory the answers come from.
    fn bytes(&self) -> usize;
}

/// A structure that takes one key at a time.
pub trait Filter {
    fn insert(&mut self, key: &[u8]);
    fn insert_u64(&mut self, key: u64);
    fn contains(&self, key: &[u8]) -> bool;
    fn contains_u64(&self, key: u64) -> bool;
    fn reset(&mut self);
    fn bytes(&self) -> usize;
}

/// A filter fed one key after the other.
pub struct Single<F> {
    pub name: &'static str,
    pub role: Role,
    pub filter: F,
}

impl<F: Filter> Candidate for Single<F> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn role(&self) -> Role {
        self.role
    }

    fn reset(&mut self) {
        self.filter.reset();
    }

    fn insert(&mut self, keys: Keys) {
        match keys {
            Keys::U64(keys) => keys.iter().for_each(|&key| self.filter.insert_u64(key)),
            Keys::Texts(texts) => {
                each_chunk(texts, |keys| keys.iter().for_each(|key| self.filter.insert(key)));
            }
        }
    }

    fn count(&self, keys: Keys) -> usize {
        let mut count = 0;
        match keys {
            Keys::U64(keys) => {
                for &key in keys {
                    count += usize::from(self.filter.contains_u64(key));
                }
            }
            Keys::Texts(texts) => each_chunk(texts, |keys| {
                for key in keys {
                    count += usize::from(self.filter.contains(key));
                }
            }),
        }
        count
    }

    fn bytes(&self) -> usize {
        self.filter.bytes()
    }
}
