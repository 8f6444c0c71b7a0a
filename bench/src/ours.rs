//! umbel in the race.

use umbel::Bloom;

use crate::candidate::{Candidate, Filter, Role, Single};
use crate::keys::{Keys, each_chunk};
use crate::peers::RATE;

/// Keys looked up in one call.
const TOGETHER: usize = 16 << 10;

pub struct Ours {
    bloom: Bloom,
    empty: Bloom,
}

impl Ours {
    fn new(n: usize) -> Ours {
        let empty = Bloom::new(n as u64, RATE).expect("a filter of this size can be had");
        Ours { bloom: empty.clone(), empty }
    }

    pub fn one_at_a_time(n: usize) -> Single<Ours> {
        Single { name: "umbel", role: Role::One, filter: Ours::new(n) }
    }
}

impl Filter for Ours {
    #[inline(always)]
    fn insert(&mut self, key: &[u8]) {
        self.bloom.insert(key);
    }

    #[inline(always)]
    fn insert_u64(&mut self, key: u64) {
        self.bloom.insert_u64(key);
    }

    #[inline(always)]
    fn contains(&self, key: &[u8]) -> bool {
        self.bloom.contains(key)
    }

    #[inline(always)]
    fn contains_u64(&self, key: u64) -> bool {
        self.bloom.contains_u64(key)
    }

    fn reset(&mut self) {
        self.bloom = self.empty.clone();
    }

    fn bytes(&self) -> usize {
        self.bloom.sizing().bits() as usize / 8
    }
}

/// Many keys a call.
pub struct Batch(Ours);

impl Batch {
    pub fn new(n: usize) -> Batch {
        Batch(Ours::new(n))
    }
}

impl Candidate for Batch {
    fn name(&self) -> &'static str {
        "umbel batch"
    }

    fn role(&self) -> Role {
        Role::Batch
    }

    fn reset(&mut self) {
        self.0.reset();
    }

    fn insert(&mut self, keys: Keys) {
        let bloom = &mut self.0.bloom;
        let mut insert = |keys: umbel::Keys| bloom.insert_batch(keys).expect("xxh3 takes all keys");
        match keys {
            Keys::U64(keys) => insert(umbel::Keys::U64(keys)),
            Keys::Texts(texts) => each_chunk(texts, |keys| insert(umbel::Keys::Bytes(keys))),
        }
    }

    fn count(&self, keys: Keys) -> usize {
        let mut found = [0; TOGETHER / 64];
        let mut total = 0;
        let mut count = |keys: umbel::Keys| {
            let found = &mut found[..keys.len().div_ceil(64)];
            self.0.bloom.contains_mask(keys, found).expect("there is a word for each 64 keys");
            total += found.iter().map(|word| word.count_ones() as usize).sum::<usize>();
        };
        match keys {
            Keys::U64(keys) => {
                keys.chunks(TOGETHER).for_each(|keys| count(umbel::Keys::U64(keys)));
            }
            Keys::Texts(texts) => each_chunk(texts, |keys| count(umbel::Keys::Bytes(keys))),
        }
        total
    }

    fn bytes(&self) -> usize {
        self.0.bytes()
    }
}
