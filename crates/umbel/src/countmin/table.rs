//! Counters of 1, 2, 4 or 8 bytes: all the same, and as narrow as the largest of them allows. They never wrap: when one
//! would not fit, all become wider; at eight bytes it stays at 2^64 - 1.

use std::alloc::handle_alloc_error;

use super::Width;
use crate::memory::{LINE_BYTES, Line, Memory};
use crate::simd::prefetch;
use crate::{Error, Result};

/// A number that is a counter.
trait Counter: bytemuck::Pod + Into<u64> + TryFrom<u64> {}

impl<C: bytemuck::Pod + Into<u64> + TryFrom<u64>> Counter for C {}

/// Runs a loop over the counters as the numbers they are.
macro_rules! dispatch {
    ($width:expr, $name:ident($($argument:expr),*)) => {
        match $width {
            Width::One => $name::<u8>($($argument),*),
            Width::Two => $name::<u16>($($argument),*),
            Width::Four => $name::<u32>($($argument),*),
            Width::Eight => $name::<u64>($($argument),*),
        }
    };
}

/// Places that are asked for ahead of the one at hand; behind the last stand as many zeros.
pub(crate) const AHEAD: usize = 32;
/// Tables up to this many bytes are taken to be in the cache.
const NEAR: usize = 1 << 19;
/// Counters copied or merged at a time.
const PIECE: usize = 512;

/// A table of counters.
#[derive(Clone)]
pub(crate) struct Table {
    memory: Memory,
    width: Width,
    len: usize,
}

impl Table {
    /// `len` counters at zero.
    pub(crate) fn zeroed(len: usize) -> Result<Table> {
        let memory = Memory::zeroed(Width::One.lines(len)).map_err(|_| {
            Error::Sizing(format!(
                "there is not enough memory for {len} counters: ask for a larger eps or delta"
            ))
        })?;
        Ok(Table { memory, width: Width::One, len })
    }

    /// The counters in these lines; what stands behind the last must be zero.
    pub(crate) fn from_lines(memory: Memory, width: Width, len: usize) -> Result<Table> {
        let used = len * width.bytes() % LINE_BYTES;
        let tail = memory.last().map_or(&[][..], |line| bytemuck::bytes_of(line));
        if used != 0 && tail[used..].iter().any(|&byte| byte != 0) {
            return Err(Error::Format("there are counts behind the sketch's last".into()));
        }
        Ok(Table { memory, width, len })
    }

    pub(crate) fn lines(&self) -> &[Line] {
        &self.memory
    }

    pub(crate) fn width(&self) -> Width {
        self.width
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The same counters in memory of their own, if they were mapped.
    pub(crate) fn into_memory(self) -> Table {
        Table { memory: self.memory.into_memory(), ..self }
    }

    #[inline]
    pub(crate) fn get(&self, place: usize) -> u64 {
        dispatch!(self.width, get(&self.memory, place))
    }

    #[inline]
    pub(crate) fn add(&mut self, place: usize, weight: u64) {
        self.add_all(&[place], |_| weight);
    }

    /// Adds to the counter at each place, in order, the weight of that number.
    #[inline]
    pub(crate) fn add_all(&mut self, places: &[usize], weight: impl Fn(usize) -> u64) {
        self.add_run(places, &[], weight);
    }

    /// As [`add_all`](Table::add_all), asking memory for the places ahead; [`AHEAD`] more places stand behind the last.
    pub(crate) fn add_ahead(&mut self, places: &[usize], weight: impl Fn(usize) -> u64) {
        let ahead = if self.is_near() { &[][..] } else { &places[AHEAD..] };
        ahead.iter().take(AHEAD).zip(places).for_each(|(_, &place)| self.ask_for(place));
        self.add_run(&places[..places.len() - AHEAD], ahead, weight);
    }

    #[inline]
    fn add_run(&mut self, places: &[usize], ahead: &[usize], weight: impl Fn(usize) -> u64) {
        let mut done = 0;
        loop {
            let lines = self.memory.lines_mut();
            match dispatch!(self.width, add(lines, places, ahead, done, &weight)) {
                None => return,
                Some((stopped, sum)) => {
                    done = stopped;
                    self.widen(Width::holding(sum));
                }
            }
        }
    }

    /// Lowers each of `least` to the counter at its place; [`AHEAD`] more places stand behind the last.
    pub(crate) fn lower(&self, places: &[usize], least: &mut [u64]) {
        let ask = !self.is_near();
        dispatch!(self.width, lower(&self.memory, places, least, ask));
    }

    /// Asks memory for the counter at this place.
    #[inline]
    pub(crate) fn ask_for(&self, place: usize) {
        prefetch(self.memory.as_ptr().wrapping_byte_add(place * self.width.bytes()));
    }

    /// Whether the counters are likely to be in the cache.
    #[inline]
    pub(crate) fn is_near(&self) -> bool {
        self.len * self.width.bytes() <= NEAR
    }

    /// The counters from `start` on, as many as `out` has places.
    pub(crate) fn read(&self, start: usize, out: &mut [u64]) {
        dispatch!(self.width, read(&self.memory, start, out));
    }

    /// Adds every counter of a table of the same length.
    pub(crate) fn merge(&mut self, other: &Table) {
        let (mut places, mut weights) = ([0; PIECE], [0; PIECE]);
        for start in (0..self.len).step_by(PIECE) {
            let count = PIECE.min(self.len - start);
            let weights = &mut weights[..count];
            other.read(start, weights);
            places.iter_mut().enumerate().for_each(|(i, place)| *place = start + i);
            self.add_all(&places[..count], |i| weights[i]);
        }
    }

    /// The largest counter.
    fn largest(&self) -> u64 {
        self.pieces(0..self.len).fold(0, |largest, piece| largest.max(piece.largest))
    }

    /// The sum of some counters, 2^64 - 1 at most.
    fn sum(&self, range: std::ops::Range<usize>) -> u64 {
        self.pieces(range).fold(0, |sum, piece| sum.saturating_add(piece.sum))
    }

    fn pieces(&self, range: std::ops::Range<usize>) -> impl Iterator<Item = Piece> {
        let end = range.end;
        range.step_by(PIECE).map(move |start| {
            let mut counters = [0; PIECE];
            let counters = &mut counters[..PIECE.min(end - start)];
            self.read(start, counters);
            Piece {
                largest: counters.iter().copied().max().unwrap_or(0),
                sum: counters.iter().fold(0, |sum: u64, &counter| sum.saturating_add(counter)),
            }
        })
    }

    /// Refuses counters that are wider than the largest needs (two files of the same content would differ), and rows of this
    /// length whose sum is not right.
    pub(crate) fn check(&self, row: usize, right: impl Fn(u64) -> bool) -> Result<()> {
        let needed = Width::holding(self.largest());
        if needed != self.width {
            return Err(Error::Format(format!(
                "the counters have {} bytes where {} hold the largest",
                self.width.bytes(),
                needed.bytes()
            )));
        }
        for start in (0..self.len).step_by(row) {
            let sum = self.sum(start..start + row);
            if !right(sum) {
                return Err(Error::Format(format!(
                    "a row of counters sums up to {sum}, which the total weight contradicts"
                )));
            }
        }
        Ok(())
    }

    /// Copies the counters into wider ones. Like a `Vec`, it ends the program when there is no memory.
    #[cold]
    fn widen(&mut self, width: Width) {
        let Ok(memory) = Memory::zeroed(width.lines(self.len)) else {
            handle_alloc_error(std::alloc::Layout::for_value::<[Line]>(&self.memory));
        };
        let mut wide = Table { memory, width, len: self.len };
        wide.merge(self);
        *self = wide;
    }
}

/// The same counters.
impl PartialEq for Table {
    fn eq(&self, other: &Table) -> bool {
        self.len == other.len && self.width == other.width && *self.memory == *other.memory
    }
}

/// What some counters come to.
struct Piece {
    largest: u64,
    sum: u64,
}

#[inline(always)]
fn get<C: Counter>(lines: &[Line], place: usize) -> u64 {
    bytemuck::cast_slice::<Line, C>(lines)[place].into()
}

/// Adds from the place of number `first` on. Stops before the first counter whose sum does not fit, and says which and
/// what the sum would be. Memory is asked for the places in `ahead`, one for each.
#[inline(always)]
fn add<C: Counter>(
    lines: &mut [Line],
    places: &[usize],
    ahead: &[usize],
    first: usize,
    weight: &impl Fn(usize) -> u64,
) -> Option<(usize, u64)> {
    let counters = bytemuck::cast_slice_mut::<Line, C>(lines);
    let start = counters.as_ptr();
    for (i, &place) in places.iter().enumerate().skip(first) {
        if let Some(&ahead) = ahead.get(i) {
            prefetch(start.wrapping_add(ahead));
        }
        let sum = counters[place].into().saturating_add(weight(i));
        match C::try_from(sum) {
            Ok(sum) => counters[place] = sum,
            Err(_) => return Some((i, sum)),
        }
    }
    None
}

#[inline(always)]
fn lower<C: Counter>(lines: &[Line], places: &[usize], least: &mut [u64], ask: bool) {
    let counters = bytemuck::cast_slice::<Line, C>(lines);
    let first = counters.as_ptr();
    if ask {
        places[..AHEAD].iter().for_each(|&place| prefetch(first.wrapping_add(place)));
    }
    for ((least, &place), &ahead) in least.iter_mut().zip(places).zip(&places[AHEAD..]) {
        if ask {
            prefetch(first.wrapping_add(ahead));
        }
        *least = (*least).min(counters[place].into());
    }
}

#[inline(always)]
fn read<C: Counter>(lines: &[Line], start: usize, out: &mut [u64]) {
    let counters = bytemuck::cast_slice::<Line, C>(lines);
    out.iter_mut().zip(&counters[start..]).for_each(|(out, &counter)| *out = counter.into());
}
