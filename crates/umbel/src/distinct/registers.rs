//! 2^14 registers. Each holds the greatest rank among the hashes that fell to it; a rank of r comes once in 2^r hashes.
//!
//! The upper 14 bits of a hash choose the register; the rank is the place of the first 1 in the other 50, counted from 1,
//! or 51 when there is none.

/// Upper bits of a hash that choose its register.
pub(super) const INDEX_BITS: u32 = 14;
/// The number of registers.
pub(super) const COUNT: usize = 1 << INDEX_BITS;
/// The rank of a hash whose other bits are all 0.
pub(super) const MAX_RANK: u8 = (64 - INDEX_BITS + 1) as u8;
/// More registers in use than this are kept dense.
pub(super) const MAX_SPARSE: usize = 1024;

/// Bits of an [`Entry`] below its index.
const RANK_BITS: u32 = 8;

/// A register in use: its index above its rank, so that sorting groups registers and puts their greatest rank last.
pub(super) type Entry = u32;

/// Which registers hold which rank. Few are kept as a list, because a table may have a million small groups.
#[derive(Debug, Clone)]
pub(super) enum Registers {
    /// In the order of arrival, a register perhaps several times: tidied when the room is used up.
    Sparse(Vec<Entry>),
    /// All of them.
    Dense(Box<[u8; COUNT]>),
}

impl Default for Registers {
    fn default() -> Self {
        Registers::Sparse(Vec::new())
    }
}

impl PartialEq for Registers {
    fn eq(&self, other: &Registers) -> bool {
        match (self, other) {
            (Registers::Dense(ours), Registers::Dense(theirs)) => ours == theirs,
            _ => self.entries() == other.entries(),
        }
    }
}

impl Eq for Registers {}

impl Registers {
    /// Raises the register of each hash to the rank of that hash.
    #[inline]
    pub(super) fn insert(&mut self, hashes: &[u64]) {
        match self {
            Registers::Dense(ranks) => insert_dense(ranks, hashes),
            Registers::Sparse(_) => self.insert_sparse(hashes),
        }
    }

    fn insert_sparse(&mut self, hashes: &[u64]) {
        for (i, &hash) in hashes.iter().enumerate() {
            let Registers::Sparse(list) = self else { return self.insert(&hashes[i..]) };
            list.push(entry(index(hash), rank(hash)));
            if list.len() == list.capacity() {
                self.make_room();
            }
        }
    }

    /// Tidies a full list; then it has room to double, or is a list no longer.
    fn make_room(&mut self) {
        let Registers::Sparse(list) = self else { return };
        tidy(list);
        if list.len() > MAX_SPARSE {
            *self = Registers::Dense(dense(list));
        } else {
            list.reserve_exact(list.len().max(4));
        }
    }

    /// Raises each register to the rank that `other` has in it.
    pub(super) fn merge(&mut self, other: &Registers) {
        match (&mut *self, other) {
            (Registers::Dense(ours), Registers::Dense(theirs)) => {
                ours.iter_mut().zip(theirs.iter()).for_each(|(a, b)| *a = (*a).max(*b));
            }
            (Registers::Dense(ours), Registers::Sparse(theirs)) => raise(ours, theirs),
            (Registers::Sparse(ours), Registers::Dense(theirs)) => {
                let mut merged = theirs.clone();
                raise(&mut merged, ours);
                *self = Registers::Dense(merged);
            }
            (Registers::Sparse(ours), Registers::Sparse(theirs)) => {
                ours.extend(theirs);
                self.make_room();
            }
        }
    }

    /// The registers in use, by index, each once.
    pub(super) fn entries(&self) -> Vec<Entry> {
        match self {
            Registers::Sparse(list) => {
                let mut list = list.clone();
                tidy(&mut list);
                list
            }
            Registers::Dense(ranks) => {
                let used = ranks.iter().enumerate().filter(|(_, rank)| **rank > 0);
                used.map(|(index, rank)| entry(index, *rank)).collect()
            }
        }
    }

    /// The registers with these entries, each index once.
    pub(super) fn from_entries(entries: Vec<Entry>) -> Registers {
        match entries.len() {
            ..=MAX_SPARSE => Registers::Sparse(entries),
            _ => Registers::Dense(dense(&entries)),
        }
    }

    /// How many registers hold each rank.
    pub(super) fn histogram(&self) -> [u32; MAX_RANK as usize + 1] {
        let mut counts = [0; MAX_RANK as usize + 1];
        match self {
            Registers::Dense(ranks) => ranks.iter().for_each(|rank| counts[*rank as usize] += 1),
            Registers::Sparse(_) => {
                let entries = self.entries();
                counts[0] = (COUNT - entries.len()) as u32;
                entries.iter().for_each(|&entry| counts[entry_rank(entry) as usize] += 1);
            }
        }
        counts
    }
}

/// The hot loop. There is no branch in it: among the first hundred thousand keys a register rises too often to be foreseen.
#[inline]
fn insert_dense(ranks: &mut [u8; COUNT], hashes: &[u64]) {
    for &hash in hashes {
        let register = &mut ranks[index(hash)];
        *register = (*register).max(rank(hash));
    }
}

#[inline(always)]
fn index(hash: u64) -> usize {
    (hash >> (64 - INDEX_BITS)) as usize
}

/// The 1 below the 50 bits ends the count where they are all 0.
#[inline(always)]
fn rank(hash: u64) -> u8 {
    ((hash << INDEX_BITS) | (1 << (INDEX_BITS - 1))).leading_zeros() as u8 + 1
}

pub(super) fn entry(index: usize, rank: u8) -> Entry {
    (index as u32) << RANK_BITS | u32::from(rank)
}

pub(super) fn entry_index(entry: Entry) -> usize {
    (entry >> RANK_BITS) as usize
}

pub(super) fn entry_rank(entry: Entry) -> u8 {
    entry as u8
}

/// Sorts, and keeps the greatest rank of each register.
fn tidy(list: &mut Vec<Entry>) {
    list.sort_unstable_by(|a, b| b.cmp(a));
    list.dedup_by_key(|entry| entry_index(*entry));
    list.reverse();
}

fn dense(list: &[Entry]) -> Box<[u8; COUNT]> {
    let mut ranks = Box::new([0; COUNT]);
    raise(&mut ranks, list);
    ranks
}

fn raise(ranks: &mut [u8; COUNT], list: &[Entry]) {
    for &entry in list {
        let register = &mut ranks[entry_index(entry)];
        *register = (*register).max(entry_rank(entry));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rank_is_the_place_of_the_first_one() {
        assert_eq!((index(u64::MAX), rank(u64::MAX)), (COUNT - 1, 1));
        assert_eq!((index(1 << 50), rank(1 << 50)), (1, MAX_RANK));
        assert_eq!((index(1), rank(1)), (0, 50));
        assert_eq!((index(1 << 49), rank(1 << 49)), (0, 1));
    }

    #[test]
    fn sparse_counts_what_dense_counts() {
        let hashes: Vec<u64> = (0..3000).map(|x: u64| crate::hash::xxh3_u64(x % 900, 0)).collect();
        let (mut sparse, mut dense) =
            (Registers::default(), Registers::Dense(Box::new([0; COUNT])));
        for &hash in &hashes {
            sparse.insert(&[hash]);
            dense.insert(&[hash]);
            assert_eq!(sparse.histogram(), dense.histogram());
        }
        assert!(matches!(sparse, Registers::Sparse(_)));
        assert_eq!(sparse, dense);
    }

    #[test]
    fn many_registers_are_kept_dense() {
        let mut registers = Registers::default();
        for hash in (0..5000).map(|x| crate::hash::xxh3_u64(x, 0)) {
            registers.insert(&[hash]);
        }
        assert!(matches!(registers, Registers::Dense(_)));
    }
}
