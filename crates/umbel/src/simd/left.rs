//! Which of 512 neighbouring cells are left after a line of bits, turned, has been laid over them: one vector where there is one,
//! else word by word.

use crate::memory::Line;

/// Work that needs [`Left`], written once for all ways to do it. `run` must be inlined, to be compiled for each of them.
pub(crate) trait Work {
    type Output;

    fn run<L: Left>(self) -> Self::Output;
}

/// Cells of a block, a bit each.
pub(crate) trait Left {
    /// Those from one to another, both included.
    fn between(first: usize, last: usize) -> Self;

    /// Keeps those whose bits are set in a line that was turned by `turn` mod 512; says whether any are left.
    fn keep(&mut self, line: &Line, turn: u64) -> bool;
}

/// Does the work in the best way this machine has.
#[inline(always)]
pub(crate) fn run<W: Work>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if vector::is_available() {
        // SAFETY: the instructions are there.
        return unsafe { vector::run(work) };
    }
    word_by_word(work)
}

/// Apart, so that it does not stand in the way of the other.
#[inline(never)]
fn word_by_word<W: Work>(work: W) -> W::Output {
    work.run::<Words>()
}

/// Only the words that hold cells of the question are looked at.
pub(crate) struct Words {
    words: [u64; 8],
    first: usize,
    last: usize,
}

impl Left for Words {
    #[inline(always)]
    fn between(first: usize, last: usize) -> Words {
        let mut words = [u64::MAX; 8];
        words[first / 64] &= u64::MAX << (first % 64);
        words[last / 64] &= u64::MAX >> (63 - last % 64);
        Words { words, first: first / 64, last: last / 64 }
    }

    #[inline(always)]
    fn keep(&mut self, line: &Line, turn: u64) -> bool {
        let mut any = 0;
        for (at, word) in (self.first..).zip(&mut self.words[self.first..=self.last]) {
            *word &= line.0[(at + (turn >> 6) as usize) % 8].rotate_right(turn as u32);
            any |= *word;
        }
        any != 0
    }
}

#[cfg(target_arch = "x86_64")]
mod vector {
    use std::arch::x86_64::*;

    use super::{Left, Work};
    use crate::memory::Line;

    #[inline(always)]
    pub(super) fn is_available() -> bool {
        std::is_x86_feature_detected!("avx512f") && std::is_x86_feature_detected!("bmi2")
    }

    #[target_feature(enable = "avx512f,bmi2")]
    pub(super) fn run<W: Work>(work: W) -> W::Output {
        work.run::<Vector>()
    }

    /// All eight words.
    pub(super) struct Vector(__m512i);

    impl Left for Vector {
        #[inline(always)]
        fn between(first: usize, last: usize) -> Vector {
            // SAFETY: only `run` names this type, and its caller has seen that the instructions are there.
            Vector(unsafe { _mm512_andnot_si512(from(last + 1), from(first)) })
        }

        #[inline(always)]
        fn keep(&mut self, line: &Line, turn: u64) -> bool {
            // SAFETY: the instructions are there, as above.
            unsafe { keep(&mut self.0, line, turn) }
        }
    }

    /// All cells from this one on.
    #[target_feature(enable = "avx512f,bmi2")]
    #[inline]
    fn from(first: usize) -> __m512i {
        let words = _mm512_setr_epi64(0, 64, 128, 192, 256, 320, 384, 448);
        let places = _mm512_sub_epi64(_mm512_set1_epi64(first as i64), words);
        // A shift by 64 or more leaves nothing.
        _mm512_sllv_epi64(_mm512_set1_epi64(-1), _mm512_max_epi64(places, _mm512_setzero_si512()))
    }

    #[target_feature(enable = "avx512f,bmi2")]
    #[inline]
    fn keep(left: &mut __m512i, line: &Line, turn: u64) -> bool {
        // SAFETY: a line is 64 aligned bytes.
        let words = unsafe { _mm512_load_si512(line.0.as_ptr().cast()) };
        // Permuting takes the places modulo 8 by itself, and rotating modulo 64.
        let places = _mm512_add_epi64(
            _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7),
            _mm512_set1_epi64((turn >> 6) as i64),
        );
        let turned = _mm512_permutexvar_epi64(places, words);
        let turned = _mm512_rorv_epi64(turned, _mm512_set1_epi64(turn as i64));
        *left = _mm512_and_si512(*left, turned);
        _mm512_test_epi64_mask(*left, *left) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;

    /// What is left after each of three lines.
    struct Kept<'a>(usize, usize, &'a [(Line, u64)]);

    impl Work for Kept<'_> {
        type Output = Vec<bool>;

        #[inline(always)]
        fn run<L: Left>(self) -> Vec<bool> {
            let mut left = L::between(self.0, self.1);
            self.2.iter().map(|(line, turn)| left.keep(line, *turn)).collect()
        }
    }

    /// Bit by bit.
    fn model(first: usize, last: usize, lines: &[(Line, u64)]) -> Vec<bool> {
        let has = |cell: usize, (line, turn): &(Line, u64)| {
            let word = line.0[(cell / 64 + (turn >> 6) as usize) % 8];
            word >> ((cell as u64 + turn) % 64) & 1 == 1
        };
        let left = |lines: &[(Line, u64)]| {
            (first..=last).any(|cell| lines.iter().all(|line| has(cell, line)))
        };
        (1..=lines.len()).map(|count| left(&lines[..count])).collect()
    }

    #[test]
    fn both_ways_agree_with_bits() {
        let mut x = 1;
        let mut random = || {
            x = mix(x ^ 0x9E37_79B9_7F4A_7C15);
            x
        };
        for round in 0..3000 {
            // Full, half full and nearly empty lines, so that cells are left for long.
            let lines: Vec<(Line, u64)> = (0..3)
                .map(|_| {
                    let words = std::array::from_fn(|_| match round % 3 {
                        0 => random() | random(),
                        1 => random(),
                        _ => random() & random() & random(),
                    });
                    (Line(words), random())
                })
                .collect();
            let ends = [random() % 512, random() % 512, round % 64 * 8, 511];
            for (first, last) in ends.iter().flat_map(|&a| ends.map(|b| (a.min(b), a.max(b)))) {
                let (first, last) = (first as usize, last as usize);
                let wanted = model(first, last, &lines);
                assert_eq!(Kept(first, last, &lines).run::<Words>(), wanted, "{first} to {last}");
                assert_eq!(run(Kept(first, last, &lines)), wanted, "{first} to {last}");
            }
        }
    }
}
