//! Structures that are no Bloom filters, for comparison.

use std::collections::HashSet;

use rapidhash::fast::RandomState;
use rapidhash::v3::rapidhash_v3;
use xorf::{BinaryFuse8, Filter as _};

use crate::candidate::{Candidate, Filter, Role, Single};
use crate::keys::{Keys, Kind, TEXT, each_chunk};

/// A binary fuse filter, and a set where it is not too large.
pub fn all(n: usize, kind: Kind) -> Vec<Box<dyn Candidate>> {
    let mut others: Vec<Box<dyn Candidate>> = vec![Box::new(Fuse { filter: None })];
    if kind == Kind::U64 || n <= 1_000_000 {
        let filter = Set::new(n, kind);
        others.push(Box::new(Single { name: "HashSet+rapidhash", role: Role::Other, filter }));
    }
    others
}

/// An exact set, of one kind of keys or the other.
struct Set {
    numbers: HashSet<u64, RandomState>,
    texts: HashSet<[u8; TEXT], RandomState>,
}

impl Set {
    fn new(n: usize, kind: Kind) -> Set {
        let (numbers, texts) = if kind == Kind::U64 { (n, 0) } else { (0, n) };
        Set {
            numbers: HashSet::with_capacity_and_hasher(numbers, RandomState::new()),
            texts: HashSet::with_capacity_and_hasher(texts, RandomState::new()),
        }
    }
}

impl Filter for Set {
    #[inline(always)]
    fn insert(&mut self, key: &[u8]) {
        self.texts.insert(*key.first_chunk().expect("texts are this long"));
    }

    #[inline(always)]
    fn insert_u64(&mut self, key: u64) {
        self.numbers.insert(key);
    }

    #[inline(always)]
    fn contains(&self, key: &[u8]) -> bool {
        self.texts.contains(key)
    }

    #[inline(always)]
    fn contains_u64(&self, key: u64) -> bool {
        self.numbers.contains(&key)
    }

    fn reset(&mut self) {
        self.numbers.clear();
        self.texts.clear();
    }

    /// Seven of eight buckets may be used; each has a byte of its own beside the key.
    fn bytes(&self) -> usize {
        (self.numbers.capacity() * 9 + self.texts.capacity() * (TEXT + 1)) / 7 * 8
    }
}

/// A binary fuse filter: static, so that inserting is building.
struct Fuse {
    filter: Option<BinaryFuse8>,
}

impl Candidate for Fuse {
    fn name(&self) -> &'static str {
        "xorf BinaryFuse8"
    }

    fn role(&self) -> Role {
        Role::Other
    }

    fn reset(&mut self) {
        self.filter = None;
    }

    fn insert(&mut self, keys: Keys) {
        let built = match keys {
            Keys::U64(keys) => BinaryFuse8::try_from(keys),
            Keys::Texts(texts) => {
                let mut hashes = Vec::with_capacity(keys.len());
                each_chunk(texts, |keys| hashes.extend(keys.iter().map(|key| rapidhash_v3(key))));
                BinaryFuse8::try_from(&hashes)
            }
        };
        self.filter = Some(built.expect("distinct keys can be built from"));
    }

    fn count(&self, keys: Keys) -> usize {
        let Some(filter) = &self.filter else { return 0 };
        let mut count = 0;
        match keys {
            Keys::U64(keys) => {
                for key in keys {
                    count += usize::from(filter.contains(key));
                }
            }
            Keys::Texts(texts) => each_chunk(texts, |keys| {
                for key in keys {
                    count += usize::from(filter.contains(&rapidhash_v3(key)));
                }
            }),
        }
        count
    }

    fn bytes(&self) -> usize {
        self.filter.as_ref().map_or(0, |filter| filter.fingerprints.len())
    }
}
