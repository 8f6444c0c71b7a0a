//! The places of the kept keys: found by key, and the one with the least count always at hand.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;

use crate::hash::xxh3;

/// A kept key.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) key: Arc<[u8]>,
    /// What the key came to, and perhaps `error` less.
    pub(crate) count: u64,
    pub(crate) error: u64,
}

/// A fixed number of places. The numbers stand in a heap, the least first, and each knows the slot of its key.
#[derive(Clone)]
pub(super) struct Places {
    slots: HashMap<Arc<[u8]>, usize, Seeded>,
    kept: Vec<Kept>,
    heap: Vec<Node>,
    capacity: u32,
}

#[derive(Clone)]
struct Kept {
    key: Arc<[u8]>,
    error: u64,
    /// The place in the heap.
    at: usize,
}

#[derive(Clone, Copy)]
struct Node {
    count: u64,
    /// Decides between equal counts. It depends on nothing but the key, so that a summary goes on in the same way after it was
    /// saved and opened.
    tie: u64,
    slot: usize,
}

impl Places {
    pub(super) fn new(capacity: u32) -> Places {
        Places {
            slots: HashMap::with_hasher(Seeded(RandomState::new().hash_one(0))),
            kept: Vec::new(),
            heap: Vec::new(),
            capacity,
        }
    }

    pub(super) fn capacity(&self) -> u32 {
        self.capacity
    }

    pub(super) fn len(&self) -> usize {
        self.kept.len()
    }

    /// The most that a key which is not here can have come to.
    pub(super) fn missed(&self) -> u64 {
        match self.heap.first() {
            Some(least) if self.len() == self.capacity as usize => least.count,
            _ => 0,
        }
    }

    pub(super) fn get(&self, key: &[u8]) -> Option<Place> {
        self.slots.get(key).map(|&slot| self.place(slot))
    }

    /// The kept keys, by descending count, then by their bytes.
    pub(super) fn sorted(&self) -> Vec<Place> {
        let mut places: Vec<_> = (0..self.kept.len()).map(|slot| self.place(slot)).collect();
        places.sort_unstable_by(|a, b| b.count.cmp(&a.count).then_with(|| a.key.cmp(&b.key)));
        places
    }

    fn place(&self, slot: usize) -> Place {
        let Kept { key, error, at } = &self.kept[slot];
        Place { key: Arc::clone(key), count: self.heap[*at].count, error: *error }
    }

    /// Counts a key up; a new one takes the place of the least when there is none free.
    pub(super) fn add(&mut self, key: &[u8], weight: u64) {
        if let Some(&slot) = self.slots.get(key) {
            let at = self.kept[slot].at;
            self.heap[at].count = self.heap[at].count.saturating_add(weight);
            self.sink(at);
        } else if self.len() < self.capacity as usize {
            self.push(Place { key: key.into(), count: weight, error: 0 });
        } else {
            self.replace_least(key.into(), weight);
        }
    }

    /// Puts a new key in a free place.
    pub(super) fn push(&mut self, Place { key, count, error }: Place) {
        let (slot, at) = (self.kept.len(), self.heap.len());
        self.heap.push(Node { count, tie: xxh3(&key, 0), slot });
        self.slots.insert(Arc::clone(&key), slot);
        self.kept.push(Kept { key, error, at });
        self.rise(at);
    }

    fn replace_least(&mut self, key: Arc<[u8]>, weight: u64) {
        let Node { count, slot, .. } = self.heap[0];
        self.slots.remove(&self.kept[slot].key);
        self.slots.insert(Arc::clone(&key), slot);
        self.heap[0] = Node { count: count.saturating_add(weight), tie: xxh3(&key, 0), slot };
        self.kept[slot] = Kept { key, error: count, at: 0 };
        self.sink(0);
    }

    fn rise(&mut self, mut at: usize) {
        while at > 0 && self.is_less(at, (at - 1) / 2) {
            self.swap(at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
    }

    fn sink(&mut self, mut at: usize) {
        loop {
            let (left, right) = (2 * at + 1, 2 * at + 2);
            if left >= self.heap.len() {
                return;
            }
            let right_is_less = right < self.heap.len() && self.is_less(right, left);
            let child = if right_is_less { right } else { left };
            if !self.is_less(child, at) {
                return;
            }
            self.swap(child, at);
            at = child;
        }
    }

    fn is_less(&self, a: usize, b: usize) -> bool {
        let [a, b] = [a, b].map(|at| &self.heap[at]);
        let keys = || self.kept[a.slot].key < self.kept[b.slot].key;
        (a.count, a.tie) < (b.count, b.tie) || ((a.count, a.tie) == (b.count, b.tie) && keys())
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.heap.swap(a, b);
        self.kept[self.heap[a].slot].at = a;
        self.kept[self.heap[b].slot].at = b;
    }
}

/// XXH3 with a seed that nobody knows: nothing of it is kept, and nobody can prepare keys that fall into one place.
#[derive(Clone)]
struct Seeded(u64);

impl BuildHasher for Seeded {
    type Hasher = Seeded;

    fn build_hasher(&self) -> Seeded {
        self.clone()
    }
}

impl Hasher for Seeded {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3(bytes, self.0);
    }

    /// The length that comes before the bytes; they tell it themselves.
    fn write_usize(&mut self, _length: usize) {}

    fn finish(&self) -> u64 {
        self.0
    }
}
