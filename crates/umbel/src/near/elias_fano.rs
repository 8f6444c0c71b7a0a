//! A sorted list of numbers in about log₂(top/count) + 3 bits each, asked where it lies: also in a mapped file.
//!
//! A number's lower l bits are stored as they are. Its upper bits name a bucket, and the buckets stand one behind the
//! other in the upper bits: a 0, then a 1 for each number of the bucket, and so on; a last 0 ends them. So the numbers
//! before a bucket are counted by finding its 0:
//!
//! ```text
//! starts[b / 64]  numbers before every 64th bucket: its 0 stands at bit starts[b / 64] + b
//! place(b)        from there, the 0 that b mod 64 others precede: nearly always within the next 128 bits
//! numbers of b    as many as 1s follow that 0, the first of them at place(b) - b
//! ```
//!
//! Where numbers crowd, a 0 may be far off: `ranks` holds the 1s before every 2048th upper bit, for a binary search.
//!
//! Reference: S. Vigna, Quasi-succinct indices, 2013.

use super::view::View;
use crate::memory::{LINE_BYTES, Memory};
use crate::simd::select::{Select, Sums};
use crate::{Error, Result};

/// Buckets for each start.
pub(super) const GROUP: u64 = 64;
/// Upper bits for each rank.
pub(super) const SPAN: u64 = 2048;

/// The size of a list: how many numbers, and the greatest there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    count: u64,
    top: u64,
    low_bits: u32,
}

impl Shape {
    pub(super) fn new(count: u64, top: u64) -> Shape {
        let share = top.checked_div(count).unwrap_or(0);
        Shape { count, top, low_bits: share.checked_ilog2().unwrap_or(0) }
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn top(&self) -> u64 {
        self.top
    }

    pub(super) fn low_bits(&self) -> u32 {
        self.low_bits
    }

    /// B: at most 2 count + 1, for lists that pass the check.
    pub(super) fn buckets(&self) -> u64 {
        (self.top >> self.low_bits).saturating_add(1)
    }

    /// As many starts: also the 0 behind the last bucket may be sought.
    pub(super) fn groups(&self) -> u64 {
        self.buckets() / GROUP + 1
    }

    /// A 1 for each number, a 0 for each bucket, a 0 at the end.
    pub(super) fn upper_bits(&self) -> u64 {
        self.count + self.buckets() + 1
    }

    /// Lines of the starts, the ranks, the upper and the lower bits.
    fn lines(&self) -> [u64; 4] {
        if self.count == 0 {
            return [0; 4];
        }
        let upper = self.upper_bits();
        let low = self.count * u64::from(self.low_bits);
        [32 * self.groups(), 32 * upper.div_ceil(SPAN), upper, low]
            .map(|bits| bits.div_ceil(8 * LINE_BYTES as u64))
    }

    /// All bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.lines().iter().sum::<u64>() * LINE_BYTES as u64
    }

    /// Refuses more numbers than a start can count.
    pub(super) fn check(&self) -> Result<()> {
        if self.count > u32::MAX.into() {
            return Err(Error::Sizing(format!(
                "{} different cells are more than one list holds (2^32 - 1): split the values",
                self.count
            )));
        }
        Ok(())
    }

    #[inline(always)]
    pub(super) fn bucket(&self, value: u64) -> u64 {
        value >> self.low_bits
    }

    #[inline]
    pub(super) fn low(&self, value: u64) -> u64 {
        value & !(u64::MAX << self.low_bits)
    }

    /// Where the lower bits of the number at a place begin.
    #[inline]
    pub(super) fn low_bit(&self, at: u64) -> u64 {
        at.wrapping_mul(self.low_bits.into())
    }
}

/// The list.
#[derive(Clone)]
pub(super) struct EliasFano {
    shape: Shape,
    /// The first word of the ranks, the upper and the lower bits.
    ranks: usize,
    upper: usize,
    lower: usize,
    /// How many numbers a group of buckets has on average.
    in_group: u64,
    memory: Memory,
}

impl EliasFano {
    /// The list of different numbers, in ascending order, as many as the shape says and none above its top.
    pub(super) fn build(shape: Shape, numbers: impl Iterator<Item = u64>) -> Result<EliasFano> {
        shape.check()?;
        let lines = shape.lines().iter().sum::<u64>();
        let mut list = EliasFano::from_memory(shape, Memory::zeroed(lines as usize)?);
        let (ranks, upper, lower) = (list.ranks, list.upper, list.lower);
        let words: &mut [u64] = bytemuck::cast_slice_mut(list.memory.lines_mut());
        for (i, number) in (0..).zip(numbers) {
            let bit = (number >> shape.low_bits) + i + 1;
            words[upper + (bit / 64) as usize] |= 1 << (bit % 64);
            put_low(&mut words[lower..], shape.low_bits, i, shape.low(number));
        }
        if shape.count > 0 {
            let (head, upper) = words.split_at_mut(upper);
            let (starts, ranks) = head.split_at_mut(ranks);
            let (starts, ranks) =
                (bytemuck::cast_slice_mut(starts), bytemuck::cast_slice_mut(ranks));
            count(&upper[..lower - list.upper], shape, starts, ranks);
        }
        Ok(list)
    }

    /// The list that stands in these lines; as many as the shape says.
    pub(super) fn from_memory(shape: Shape, memory: Memory) -> EliasFano {
        let [starts, ranks, upper, _] = shape.lines().map(|lines| 8 * lines as usize);
        EliasFano {
            shape,
            ranks: starts,
            upper: starts + ranks,
            lower: starts + ranks + upper,
            in_group: shape.count.saturating_mul(GROUP) / shape.buckets(),
            memory,
        }
    }

    pub(super) fn shape(&self) -> Shape {
        self.shape
    }

    pub(super) fn memory(&self) -> &Memory {
        &self.memory
    }

    pub(super) fn into_memory(self) -> EliasFano {
        EliasFano { memory: self.memory.into_memory(), ..self }
    }

    /// The list as it is asked.
    #[inline(always)]
    pub(super) fn view(&self) -> View<'_> {
        let words: &[u64] = bytemuck::cast_slice(&self.memory);
        let (head, lower) = words.split_at(self.lower);
        let (head, upper) = head.split_at(self.upper);
        let (starts, ranks) = head.split_at(self.ranks);
        let (starts, ranks) = (bytemuck::cast_slice(starts), bytemuck::cast_slice(ranks));
        View { shape: self.shape, in_group: self.in_group, starts, ranks, upper, lower }
    }
}

fn put_low(words: &mut [u64], low_bits: u32, at: u64, low: u64) {
    let bit = at * u64::from(low_bits);
    let (first, shift) = ((bit / 64) as usize, bit % 64);
    if low_bits > 0 {
        words[first] |= low << shift;
    }
    if shift + u64::from(low_bits) > 64 {
        words[first + 1] |= low >> (64 - shift);
    }
}

/// Writes the starts and the ranks of these upper bits.
fn count(upper: &[u64], shape: Shape, starts: &mut [u32], ranks: &mut [u32]) {
    let mut ones = 0_u64;
    for (word, &bits) in (0..).zip(upper) {
        let bit = 64 * word;
        if bit >= shape.upper_bits() {
            break;
        }
        if bit % SPAN == 0 {
            ranks[(bit / SPAN) as usize] = ones as u32;
        }
        // The first bucket of a group whose 0 is in this word.
        let zeros = bit - ones;
        let group = zeros.div_ceil(GROUP);
        if group * GROUP - zeros < u64::from(bits.count_zeros()) && group < shape.groups() {
            let place = bit + Sums::select(!bits, group * GROUP - zeros);
            starts[group as usize] = (place - group * GROUP) as u32;
        }
        ones += u64::from(bits.count_ones());
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::hash::mix;
    use crate::near::view::AnyIn;
    use crate::simd::select::Work;

    /// Numbers spread evenly, in crowds, without gaps, and at the ends of what there is.
    fn lists() -> Vec<(BTreeSet<u64>, u64)> {
        let random =
            |seed: u64| std::iter::successors(Some(seed), |&x| Some(mix(x ^ 0x55) ^ x >> 7));
        let mut lists = vec![
            (BTreeSet::new(), 9),
            (BTreeSet::from([0]), 0),
            (BTreeSet::from([7]), 7),
            (BTreeSet::from([0, u64::MAX]), u64::MAX),
            (BTreeSet::from([u64::MAX - 1, u64::MAX]), u64::MAX),
            ((0..5000).collect(), 4999),
            ((0..5000).map(|x| x * 64).collect(), 1 << 40),
        ];
        for count in [1, 2, 63, 64, 65, 1000, 20_000] {
            for bits in [4, 16, 20, 40, 63] {
                let even: BTreeSet<u64> =
                    random(count).take(count as usize).map(|x| x >> (64 - bits)).collect();
                // Thousands in one bucket, then nothing for long, then one.
                let crowd =
                    even.iter().map(|x| (x >> (bits / 2)) + (1 << 62)).chain([3, (1 << 63) - 9]);
                lists.push((crowd.collect(), (1 << 63) - 1));
                lists.push((even, (1 << bits) - 1));
            }
        }
        // Lower bits of every width: how many numbers 64 bits hold depends on it.
        for width in 0..56 {
            let top = (300 << width) - 1;
            lists.push((random(width + 1).take(300).map(|x| x % (top + 1)).collect(), top));
        }
        lists
    }

    /// The numbers themselves, their neighbours, and others.
    fn questions(numbers: &BTreeSet<u64>, top: u64) -> Vec<u64> {
        let some = numbers.iter().step_by(numbers.len() / 400 + 1);
        let around = some.flat_map(|&x| [x.saturating_sub(1), x, x.saturating_add(1)]);
        around.chain((0..100).map(|i| top / 100 * i)).chain([0, top, u64::MAX]).collect()
    }

    #[test]
    fn lists_agree_with_sets() {
        for (numbers, top) in lists() {
            let list =
                EliasFano::build(Shape::new(numbers.len() as u64, top), numbers.iter().copied())
                    .unwrap();
            list.view().check().unwrap();
            assert!(list.view().numbers().eq(numbers.iter().copied()));
            for (at, &number) in (0..).zip(&numbers).step_by(7) {
                assert_eq!(list.view().get(at), Some(number));
            }
            assert_eq!(list.view().get(numbers.len() as u64), None);
            let questions = questions(&numbers, top);
            for (i, &first) in questions.iter().enumerate() {
                assert_eq!(list.view().rank(first), numbers.range(..first).count() as u64);
                for width in [0, 1, 5, 300, 1 << 20, 1 << 50, questions[(7 * i) % questions.len()]]
                {
                    let last = first.saturating_add(width);
                    let any = numbers.range(first..=last).next().is_some();
                    // Also in the way that machines without a fast instruction for it take.
                    let portable = AnyIn { list: &list, first, last }.run::<Sums>();
                    assert_eq!(portable, any, "{first} to {last} of {}", numbers.len());
                    assert_eq!(
                        list.any_in(first, last),
                        any,
                        "{first} to {last} of {}",
                        numbers.len()
                    );
                }
            }
        }
    }

    #[test]
    fn a_batch_answers_as_one_by_one() {
        for (numbers, top) in lists() {
            let list =
                EliasFano::build(Shape::new(numbers.len() as u64, top), numbers.iter().copied())
                    .unwrap();
            let ranges: Vec<_> =
                questions(&numbers, top).iter().map(|&x| (x, x.saturating_add(x % 777))).collect();
            for ranges in ranges.chunks(crate::near::batch::TOGETHER) {
                let mut answers = vec![false; ranges.len()];
                list.any_in_batch(ranges, &mut answers);
                let single: Vec<_> =
                    ranges.iter().map(|&(first, last)| list.any_in(first, last)).collect();
                assert_eq!(answers, single);
            }
        }
    }
}
