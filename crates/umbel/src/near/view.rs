//! A list is asked: is there a number between two, how many are below one, which is at a place.
//!
//! Nothing is read behind the end of the memory, whatever it holds: an unverified file may be damaged.

use std::ops::Range;

use super::elias_fano::{EliasFano, GROUP, SPAN, Shape};
use crate::simd::prefetch;
use crate::simd::select::{Select, Sums, Work, run};

/// Up to this many numbers of a bucket are looked through one by one.
const FEW: u64 = 8;
/// More 1s than a word shows.
const UNSEEN: u64 = 64;

impl EliasFano {
    /// Whether a number lies between two, both included.
    #[inline(always)]
    pub(super) fn any_in(&self, first: u64, last: u64) -> bool {
        run(AnyIn { list: self, first, last })
    }
}

pub(super) struct AnyIn<'a> {
    pub(super) list: &'a EliasFano,
    pub(super) first: u64,
    pub(super) last: u64,
}

impl Work for AnyIn<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Select>(self) -> bool {
        let list = self.list.view();
        if list.shape.count() == 0 || self.first > list.shape.top() {
            return false;
        }
        list.ask_for_lower(list.shape.bucket(self.first));
        let within = list.bucket::<S>(list.shape.bucket(self.first));
        list.any_from::<S>(within, self.first, self.last)
    }
}

/// The parts of a list. What is seldom needed takes them by value: they stay in registers where it is not.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) shape: Shape,
    pub(super) in_group: u64,
    pub(super) starts: &'a [u32],
    pub(super) ranks: &'a [u32],
    pub(super) upper: &'a [u64],
    pub(super) lower: &'a [u64],
}

impl<'a> View<'a> {
    /// Whether a number lies between two, once it is known which are in the bucket of the first of them; that is not
    /// above the top.
    #[inline(always)]
    pub(super) fn any_from<S: Select>(&self, within: Range<u64>, first: u64, last: u64) -> bool {
        let last = last.min(self.shape.top());
        let (low, last_low) = (self.shape.low(first), self.shape.low(last));
        if self.shape.bucket(first) == self.shape.bucket(last) {
            return self.any_low(within, low, last_low);
        }
        self.any_beyond::<S>(within, first, last)
    }

    /// The same where the two are not in the same bucket.
    #[inline(never)]
    fn any_beyond<S: Select>(self, within: Range<u64>, first: u64, last: u64) -> bool {
        if self.any_low(within.clone(), self.shape.low(first), u64::MAX) {
            return true;
        }
        let until = self.bucket::<S>(self.shape.bucket(last));
        // A number in a bucket between the two, or in the last one.
        until.start > within.end || self.any_low(until, 0, self.shape.low(last))
    }

    /// How many numbers are below `value`.
    pub(super) fn rank(&self, value: u64) -> u64 {
        if self.shape.count() == 0 || value > self.shape.top() {
            return self.shape.count();
        }
        self.lower_bound(self.bucket::<Sums>(self.shape.bucket(value)), self.shape.low(value))
    }

    /// The number at a place, if there is one.
    pub(super) fn get(&self, at: u64) -> Option<u64> {
        if at >= self.shape.count() {
            return None;
        }
        let spans = self.shape.upper_bits().div_ceil(SPAN);
        let span = last_with(0..spans, |span| self.ones_before(span) <= at);
        let rank = at.checked_sub(self.ones_before(span))?;
        let place = self.find(span * SPAN, rank, |word| word)?;
        Some(self.number(at, place))
    }

    /// All numbers that the upper bits tell of, in order.
    pub(super) fn numbers(self) -> impl Iterator<Item = u64> {
        let ones = (0..).zip(self.upper).flat_map(|(word, &bits)| {
            // The word without its lowest 1, again and again.
            let rests = std::iter::successors(Some(bits), |rest| Some(rest & (rest - 1)));
            let rests = rests.take(bits.count_ones() as usize);
            rests.map(move |rest| 64 * word + u64::from(rest.trailing_zeros()))
        });
        (0..).zip(ones).map(move |(at, place)| self.number(at, place))
    }

    /// The number whose 1 stands at a place of the upper bits.
    fn number(&self, at: u64, place: u64) -> u64 {
        place.wrapping_sub(at + 1) << self.shape.low_bits() | self.low(at)
    }

    /// The places of the numbers in a bucket.
    #[inline(always)]
    pub(super) fn bucket<S: Select>(&self, bucket: u64) -> Range<u64> {
        let (place, ones) = self.place::<S>(bucket);
        let start = place.wrapping_sub(bucket);
        let end = if ones < UNSEEN { start.wrapping_add(ones) } else { self.start(bucket + 1) };
        start..end.min(self.shape.count())
    }

    /// How many numbers there are before a bucket.
    #[cold]
    fn start(self, bucket: u64) -> u64 {
        self.place::<Sums>(bucket).0.wrapping_sub(bucket)
    }

    /// Asks memory for the lower bits of a bucket's numbers, which mostly stand about where they would if all buckets of the group had
    /// as many: then they come while the upper bits are read.
    #[inline(always)]
    fn ask_for_lower(&self, bucket: u64) {
        let start = self.starts.get((bucket / GROUP) as usize).copied().unwrap_or(0);
        let about = u64::from(start) + bucket % GROUP * self.in_group / GROUP;
        prefetch(self.lower.as_ptr().wrapping_add((self.shape.low_bit(about) / 64) as usize));
    }

    /// Where the 0 stands of the first bucket of a bucket's group.
    #[inline(always)]
    pub(super) fn group(&self, bucket: u64) -> u64 {
        let start = self.starts.get((bucket / GROUP) as usize).copied().unwrap_or(0);
        u64::from(start) + bucket / GROUP * GROUP
    }

    /// Where the 0 of a bucket stands, and how many 1s follow it: [`UNSEEN`] where that is not easily seen.
    #[inline(always)]
    fn place<S: Select>(&self, bucket: u64) -> (u64, u64) {
        let start = self.group(bucket);
        let words =
            self.upper.get((start / 64) as usize..).and_then(|words| words.first_chunk::<3>());
        let Some(&words) = words else { return self.far_place(start, bucket) };
        let near = !join(words[0], words[1], start % 64);
        let far = !join(words[1], words[2], start % 64);
        let (rank, zeros) = (bucket % GROUP, u64::from(near.count_ones()));
        // Which of the two is anybody's guess. An "if" would become a branch, and a wrong guess is seen only when memory has
        // answered: both are read, and one is kept by a mask.
        let beyond = u64::from(rank >= zeros);
        let mask = beyond.wrapping_neg();
        let (word, rank) = (near ^ (near ^ far) & mask, rank - (zeros & mask));
        if rank >= u64::from(word.count_ones()) {
            return self.far_place(start, bucket);
        }
        let at = S::select(word, rank);
        // In two steps: a shift by 64 would be too far.
        let next = word >> at >> 1;
        (start + 64 * beyond + at, next.trailing_zeros().into())
    }

    /// The same where numbers crowd, or at the end.
    #[cold]
    fn far_place(self, start: u64, bucket: u64) -> (u64, u64) {
        let zeros_before = |span: u64| (span * SPAN).saturating_sub(self.ones_before(span));
        let spans = start / SPAN..self.shape.upper_bits().div_ceil(SPAN);
        let span = last_with(spans, |span| zeros_before(span) <= bucket);
        let rank = bucket.saturating_sub(zeros_before(span));
        let place = self.find(span * SPAN, rank, |word| !word).unwrap_or(0);
        (place, bits_at(self.upper, place + 1).trailing_ones().into())
    }

    /// The bit, from this multiple of 64 on, that `rank` others precede in the words as `read` gives them. Not further than one
    /// span: behind it a rank is known.
    fn find(&self, from: u64, mut rank: u64, read: impl Fn(u64) -> u64) -> Option<u64> {
        for bit in (from..from + SPAN).step_by(64) {
            let word = read(*self.upper.get((bit / 64) as usize)?);
            let found = u64::from(word.count_ones());
            if rank < found {
                return Some(bit + Sums::select(word, rank));
            }
            rank -= found;
        }
        None
    }

    /// Whether the lower bits of one of these numbers, all of one bucket, lie between two.
    #[inline(always)]
    fn any_low(&self, places: Range<u64>, least: u64, most: u64) -> bool {
        // Nearly all buckets have so few numbers that 64 bits hold them. To look at those that are not there costs less than to
        // guess how many are: a wrong guess is seen only when memory has answered, and keeps the next question waiting.
        let (width, count) = (self.shape.low_bits(), places.end.saturating_sub(places.start));
        let bits = bits_at(self.lower, self.shape.low_bit(places.start));
        let is_within = |at: u32| {
            let low = self.shape.low(bits >> (at * width % 64));
            (u64::from(at) < count) & (low.wrapping_sub(least) <= most - least)
        };
        if count <= 1 + u64::from(width <= 32) + u64::from(width <= 21) {
            return is_within(0) | is_within(1) | is_within(2);
        }
        self.any_low_of_several(places, least, most)
    }

    #[inline(never)]
    fn any_low_of_several(self, places: Range<u64>, least: u64, most: u64) -> bool {
        let at = self.lower_bound(places.clone(), least);
        at < places.end && self.low(at) <= most
    }

    /// The first place in a bucket whose lower bits are at least these.
    #[inline]
    fn lower_bound(&self, places: Range<u64>, low: u64) -> u64 {
        let Range { mut start, mut end } = places;
        while end.saturating_sub(start) > FEW {
            let middle = start + (end - start) / 2;
            if self.low(middle) < low {
                start = middle + 1;
            } else {
                end = middle;
            }
        }
        while start < end && self.low(start) < low {
            start += 1;
        }
        start
    }

    /// The lower bits of the number at a place.
    #[inline(always)]
    fn low(&self, at: u64) -> u64 {
        self.shape.low(bits_at(self.lower, self.shape.low_bit(at)))
    }

    fn ones_before(&self, span: u64) -> u64 {
        self.ranks.get(span as usize).copied().unwrap_or(0).into()
    }
}

/// 64 bits from any bit on; behind the end they are 0.
#[inline(always)]
fn bits_at(words: &[u64], bit: u64) -> u64 {
    let from = words.get((bit / 64) as usize..).unwrap_or(&[]);
    match from.first_chunk::<2>() {
        Some(&[low, high]) => join(low, high, bit % 64),
        None => from.first().map_or(0, |word| word >> (bit % 64)),
    }
}

/// 64 bits of two words.
#[inline(always)]
fn join(low: u64, high: u64, shift: u64) -> u64 {
    // In two steps: a shift by 64 would be too far.
    low >> shift | high << 1 << (63 - shift)
}

/// The last of a range for which something holds that holds for all before it; the first if it holds for none.
fn last_with(range: Range<u64>, holds: impl Fn(u64) -> bool) -> u64 {
    let Range { start: mut low, end: mut high } = range;
    while high.saturating_sub(low) > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}
