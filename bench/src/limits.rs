//! What memory allows: independent random lines, worked out beforehand and asked for in time, in as much memory as
//! our filter has. `count` reads lines, `insert` reads, changes and writes them whole.

use std::hint::black_box;

use crate::candidate::{Candidate, Role};
use crate::keys::{Keys, scramble};
use crate::memory::{Line, Pages, prefetch};

pub struct Lines<const AHEAD: usize> {
    memory: Pages,
    places: Vec<u32>,
}

impl<const AHEAD: usize> Lines<AHEAD> {
    /// As many lines as `bytes` have, and an order in which to visit them for `keys` keys.
    pub fn new(bytes: usize, keys: usize) -> Self {
        let memory = Pages::new(bytes);
        let lines = memory.lines().len() as u128;
        let place = |i: u64| ((u128::from(scramble(i)) * lines) >> 64) as u32;
        Lines { memory, places: (0..(keys + AHEAD) as u64).map(place).collect() }
    }
}

impl<const AHEAD: usize> Candidate for Lines<AHEAD> {
    fn name(&self) -> &'static str {
        if AHEAD == 16 { "limit, 16 lines ahead" } else { "limit, 32 lines ahead" }
    }

    fn role(&self) -> Role {
        Role::Limit
    }

    fn reset(&mut self) {
        self.memory.clear();
    }

    fn insert(&mut self, keys: Keys) {
        let lines = self.memory.lines_mut();
        let (now, ahead) = (&self.places[..keys.len()], &self.places[AHEAD..]);
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the machine has AVX-512.
            return unsafe { change_avx512(lines, now, ahead) };
        }
        change(lines, now, ahead);
    }

    fn count(&self, keys: Keys) -> usize {
        let lines = self.memory.lines();
        let (now, ahead) = (&self.places[..keys.len()], &self.places[AHEAD..]);
        let mut seen = 0;
        for (&place, &next) in now.iter().zip(ahead) {
            prefetch(&lines[next as usize]);
            seen |= lines[place as usize][0];
        }
        black_box(seen);
        keys.len()
    }

    fn bytes(&self) -> usize {
        self.memory.len()
    }
}

#[inline(always)]
fn change(lines: &mut [Line], now: &[u32], ahead: &[u32]) {
    for (&place, &next) in now.iter().zip(ahead) {
        prefetch(&lines[next as usize]);
        lines[place as usize].iter_mut().for_each(|word| *word |= 1);
    }
    black_box(lines);
}

/// The same, a whole line at a time.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn change_avx512(lines: &mut [Line], now: &[u32], ahead: &[u32]) {
    change(lines, now, ahead);
}
