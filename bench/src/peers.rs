//! The Bloom filters of others, each at its best setting for one per cent.

use std::hash::BuildHasher;

use fastbloom::BloomFilter;
use rapidhash::fast::RandomState;
use rapidhash::v3::rapidhash_v3;

use crate::candidate::{Candidate, Filter, Role, Single};
use crate::memory::Pages;

/// The rate asked for.
pub const RATE: f64 = 0.01;
/// The fewest whole bits a key at which sbbf keeps that rate.
const SBBF_BITS: usize = 11;

/// Every peer, empty, for `n` keys. With very many keys, fastbloom's own hash is left out (it only adds to the time
/// of the same accesses) and sbbf in huge pages comes in.
pub fn all(n: usize) -> Vec<Box<dyn Candidate>> {
    let mut peers: Vec<Box<dyn Candidate>> = vec![
        Box::new(Single { name: "sbbf-rs", role: Role::Peer, filter: Sbbf::new(n) }),
        Box::new(Single { name: "fastbloom+rapidhash", role: Role::Peer, filter: fast(n) }),
    ];
    if n <= 1_000_000 {
        let filter = BloomFilter::with_false_pos(RATE).expected_items(n);
        peers.push(Box::new(Single { name: "fastbloom", role: Role::Peer, filter }));
    } else {
        let filter = HugeSbbf::new(n);
        peers.push(Box::new(Single { name: "sbbf-rs, huge pages", role: Role::Other, filter }));
    }
    peers
}

fn fast(n: usize) -> BloomFilter<RandomState> {
    BloomFilter::with_false_pos(RATE).hasher(RandomState::new()).expected_items(n)
}

struct Sbbf(sbbf_rs_safe::Filter);

impl Sbbf {
    fn new(n: usize) -> Sbbf {
        Sbbf(sbbf_rs_safe::Filter::new(SBBF_BITS, n))
    }
}

impl Filter for Sbbf {
    #[inline(always)]
    fn insert(&mut self, key: &[u8]) {
        self.0.insert_hash(rapidhash_v3(key));
    }

    #[inline(always)]
    fn insert_u64(&mut self, key: u64) {
        self.insert(&key.to_le_bytes());
    }

    #[inline(always)]
    fn contains(&self, key: &[u8]) -> bool {
        self.0.contains_hash(rapidhash_v3(key))
    }

    #[inline(always)]
    fn contains_u64(&self, key: u64) -> bool {
        self.contains(&key.to_le_bytes())
    }

    fn reset(&mut self) {
        self.0.reset();
    }

    fn bytes(&self) -> usize {
        self.0.as_bytes().len()
    }
}

/// The same filter over memory in huge pages.
struct HugeSbbf {
    functions: sbbf_rs::FilterFn,
    memory: Pages,
    buckets: usize,
}

impl HugeSbbf {
    fn new(n: usize) -> HugeSbbf {
        let memory = Pages::new(SBBF_BITS * n / 8);
        let buckets = memory.len() / sbbf_rs::BUCKET_SIZE;
        HugeSbbf { functions: sbbf_rs::FilterFn::new(), memory, buckets }
    }
}

impl Filter for HugeSbbf {
    #[inline(always)]
    fn insert(&mut self, key: &[u8]) {
        let (memory, hash) = (self.memory.as_mut_ptr(), rapidhash_v3(key));
        // SAFETY: the memory is aligned to pages and holds `buckets` buckets.
        unsafe { self.functions.insert(memory, self.buckets, hash) };
    }

    #[inline(always)]
    fn insert_u64(&mut self, key: u64) {
        self.insert(&key.to_le_bytes());
    }

    #[inline(always)]
    fn contains(&self, key: &[u8]) -> bool {
        // SAFETY: as above.
        unsafe { self.functions.contains(self.memory.as_ptr(), self.buckets, rapidhash_v3(key)) }
    }

    #[inline(always)]
    fn contains_u64(&self, key: u64) -> bool {
        self.contains(&key.to_le_bytes())
    }

    fn reset(&mut self) {
        self.memory.clear();
    }

    fn bytes(&self) -> usize {
        self.memory.len()
    }
}

impl<S: BuildHasher> Filter for BloomFilter<S> {
    #[inline(always)]
    fn insert(&mut self, key: &[u8]) {
        BloomFilter::insert(self, key);
    }

    #[inline(always)]
    fn insert_u64(&mut self, key: u64) {
        BloomFilter::insert(self, &key);
    }

    #[inline(always)]
    fn contains(&self, key: &[u8]) -> bool {
        BloomFilter::contains(self, key)
    }

    #[inline(always)]
    fn contains_u64(&self, key: u64) -> bool {
        BloomFilter::contains(self, &key)
    }

    fn reset(&mut self) {
        self.clear();
    }

    fn bytes(&self) -> usize {
        self.num_bits() / 8
    }
}
