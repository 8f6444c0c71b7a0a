//! Drawing without putting back: exact numbers of each kind, in random order.

use super::random::Random;

pub struct Urn {
    left: Vec<u64>,
    total: u64,
}

impl Urn {
    /// With so many of each kind.
    pub fn new(counts: &[u64]) -> Urn {
        Urn { left: counts.to_vec(), total: counts.iter().sum() }
    }

    /// The kind of the next one; nothing when the urn is empty.
    pub fn draw(&mut self, random: &mut Random) -> Option<usize> {
        self.total.checked_sub(1).map(|rest| {
            let mut ticket = random.below(self.total);
            self.total = rest;
            let mut kind = 0;
            while ticket >= self.left[kind] {
                ticket -= self.left[kind];
                kind += 1;
            }
            self.left[kind] -= 1;
            kind
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_comes_as_often_as_it_was_put_in() {
        let mut urn = Urn::new(&[5, 0, 1, 94]);
        let mut random = Random::new(1);
        let mut drawn = [0; 4];
        while let Some(kind) = urn.draw(&mut random) {
            drawn[kind] += 1;
        }
        assert_eq!(drawn, [5, 0, 1, 94]);
    }
}
