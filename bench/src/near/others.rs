//! Other ways to search: exact ones, and a Bloom filter that is asked for cell after cell.

use std::collections::{BTreeSet, HashSet};

use umbel::{Bloom, Params, Sizing};

use super::{Candidate, RATE};

/// The ways that do not depend on alpha.
pub fn exact(values: &[i64]) -> Vec<Box<dyn Candidate>> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    vec![
        Box::new(Sorted(sorted)),
        Box::new(Tree(values.iter().copied().collect())),
        Box::new(Hashed(values.iter().copied().collect())),
        Box::new(Scan(values.to_vec())),
    ]
}

/// A Bloom filter with a probe for each cell, as small as one for plain lookups, and as large as the question needs.
pub fn probing(values: &[i64], ratio: u64) -> Vec<Box<dyn Candidate>> {
    let cells = 2 * ratio + 1;
    let whole = -((-RATE).ln_1p() / cells as f64).exp_m1();
    let filter = |name, rate| -> Box<dyn Candidate> {
        let sizing = Sizing::classic(values.len() as u64, rate).expect("a size");
        let mut filter = Bloom::with(Params::new(sizing)).expect("memory");
        values.iter().for_each(|&y| _ = filter.insert_u64(y as u64));
        Box::new(Probing { name, filter })
    };
    vec![
        filter("a probe a cell, a plain filter", RATE),
        filter("a probe a cell, sized for all", whole),
    ]
}

struct Probing {
    name: &'static str,
    filter: Bloom,
}

impl Candidate for Probing {
    fn name(&self) -> &'static str {
        self.name
    }

    fn bytes(&self) -> usize {
        self.filter.sizing().bytes() as usize
    }

    fn count(&self, questions: &[i64], alpha: u64) -> usize {
        let alpha = alpha as i64;
        let has = |x: i64| self.filter.contains_u64(x as u64);
        // From both ends inwards.
        let near = |x: &&i64| (1..=alpha).rev().any(|d| has(**x - d) || has(**x + d)) || has(**x);
        questions.iter().filter(near).count()
    }
}

struct Sorted(Vec<i64>);

impl Candidate for Sorted {
    fn name(&self) -> &'static str {
        "sorted Vec"
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.0[..])
    }

    fn count(&self, questions: &[i64], alpha: u64) -> usize {
        let alpha = alpha as i64;
        let near = |x: &&i64| {
            let at = self.0.partition_point(|&y| y < **x - alpha);
            self.0.get(at).is_some_and(|&y| y <= **x + alpha)
        };
        questions.iter().filter(near).count()
    }
}

struct Tree(BTreeSet<i64>);

impl Candidate for Tree {
    fn name(&self) -> &'static str {
        "BTreeSet"
    }

    /// Nodes of 11 keys, two bytes of lengths and a pointer, 70 % full; one in seven has 12 children too.
    fn bytes(&self) -> usize {
        let nodes = self.0.len() as f64 / (11.0 * 0.7);
        (nodes * (11.0 * 8.0 + 16.0 + 12.0 * 8.0 / 7.0)) as usize
    }

    fn count(&self, questions: &[i64], alpha: u64) -> usize {
        let alpha = alpha as i64;
        let near = |x: &&i64| self.0.range(**x - alpha..=**x + alpha).next().is_some();
        questions.iter().filter(near).count()
    }
}

/// The cells in a hash set, each asked for.
struct Hashed(HashSet<i64>);

impl Candidate for Hashed {
    fn name(&self) -> &'static str {
        "HashSet of cells"
    }

    /// A power of two of places, at most 7/8 of them taken: the value and a byte each.
    fn bytes(&self) -> usize {
        (self.0.capacity() * 8 / 7).next_power_of_two() * 9
    }

    fn count(&self, questions: &[i64], alpha: u64) -> usize {
        let alpha = alpha as i64;
        let near = |x: &&i64| (**x - alpha..=**x + alpha).any(|cell| self.0.contains(&cell));
        questions.iter().filter(near).count()
    }
}

struct Scan(Vec<i64>);

impl Candidate for Scan {
    fn name(&self) -> &'static str {
        "linear scan"
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.0[..])
    }

    fn count(&self, questions: &[i64], alpha: u64) -> usize {
        let near = |x: &&i64| self.0.iter().any(|y| y.abs_diff(**x) <= alpha);
        questions.iter().filter(near).count()
    }
}
