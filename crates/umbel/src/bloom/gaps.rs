//! Set bits as the gaps between them, in Rice's code: the upper part of a gap as so many zeros and a one, then its `width` lowest
//! bits. For bits that are set at random this takes within a few percent of the least that any code can.

use super::partial::refuse;
use crate::Result;

/// Widths beyond this one cannot pay in a slice.
const MAX_WIDTH: u8 = 26;

/// How gaps are best written, and what that takes.
pub(super) struct Gaps {
    width: u8,
    bits: u64,
}

impl Gaps {
    /// The shorter of the two widths around the best for random bits; none where no bit is set.
    pub(super) fn of(words: impl Iterator<Item = u64> + Clone) -> Option<Gaps> {
        let (mut ones, mut end) = (0u64, 0u64);
        for_each_gap(words.clone(), |gap| {
            ones += 1;
            end += gap + 1;
        });
        // The greatest width at which half of the gaps have no upper part.
        let half = (end as f64 / ones as f64 * std::f64::consts::LN_2).log2();
        let width = (half.max(0.0) as u8).min(MAX_WIDTH - 1);
        let mut uppers = [0u64; 2];
        for_each_gap(words, |gap| {
            uppers[0] += gap >> width;
            uppers[1] += gap >> (width + 1);
        });
        let at = |i: u8| Gaps {
            width: width + i,
            bits: uppers[usize::from(i)] + ones * (u64::from(width + i) + 1),
        };
        let (narrow, wide) = (at(0), at(1));
        (ones > 0).then_some(if wide.bits < narrow.bits { wide } else { narrow })
    }

    pub(super) fn width(&self) -> u8 {
        self.width
    }

    /// The bytes that [`Gaps::write`] writes.
    pub(super) fn bytes(&self) -> usize {
        self.bits.div_ceil(8) as usize
    }

    pub(super) fn write(&self, words: impl Iterator<Item = u64>, bytes: &mut Vec<u8>) {
        let mut out = Writer { bytes, word: 0, len: 0 };
        for_each_gap(words, |gap| {
            let mut zeros = gap >> self.width;
            while zeros >= 32 {
                out.push(0, 32);
                zeros -= 32;
            }
            out.push(1 << zeros, zeros as u32 + 1);
            out.push(gap & !(u64::MAX << self.width), u32::from(self.width));
        });
        out.finish();
    }
}

/// Hands out, for each bit that is set, the number of zeros before it.
fn for_each_gap(words: impl Iterator<Item = u64>, mut take: impl FnMut(u64)) {
    let mut next = 0;
    for (i, mut word) in (0..).zip(words) {
        while word != 0 {
            let index = 64 * i + u64::from(word.trailing_zeros());
            take(index - next);
            next = index + 1;
            word &= word - 1;
        }
    }
}

/// Hands out the indexes of the bits that were written with this width.
pub(super) fn read(
    payload: &[u8],
    width: u8,
    mut take: impl FnMut(u64) -> Result<()>,
) -> Result<()> {
    if width > MAX_WIDTH || payload.is_empty() {
        return Err(refuse("gaps of an impossible width"));
    }
    let mut bits = Reader { payload, at: 0 };
    let (len, mut next) = (8 * payload.len() as u64, 0);
    while let Some(upper) = bits.zeros() {
        let lower = bits.take(width.into()).ok_or_else(|| refuse("part of a gap"))?;
        let index = next + (upper << width) + lower;
        take(index)?;
        next = index + 1;
    }
    // Behind the last gap the byte is filled with zeros, and no byte follows.
    if len - bits.at >= 8 { Err(refuse("bytes behind the last gap")) } else { Ok(()) }
}

/// Bits to bytes, the lowest bit first.
struct Writer<'b> {
    bytes: &'b mut Vec<u8>,
    word: u64,
    len: u32,
}

impl Writer<'_> {
    /// Appends the lowest `len` bits, at most 32; the others are zero.
    fn push(&mut self, bits: u64, len: u32) {
        self.word |= bits << self.len;
        self.len += len;
        if self.len >= 32 {
            self.bytes.extend_from_slice(&(self.word as u32).to_le_bytes());
            self.word >>= 32;
            self.len -= 32;
        }
    }

    fn finish(self) {
        let bytes = self.word.to_le_bytes();
        self.bytes.extend_from_slice(&bytes[..self.len.div_ceil(8) as usize]);
    }
}

/// Bytes to bits, the lowest bit first.
struct Reader<'b> {
    payload: &'b [u8],
    /// The next bit.
    at: u64,
}

impl Reader<'_> {
    /// The next 57 bits at least, zeros behind the end.
    fn peek(&self) -> u64 {
        let rest = &self.payload[(self.at / 8) as usize..];
        let word = match rest.first_chunk() {
            Some(word) => u64::from_le_bytes(*word),
            None => rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
        };
        word >> (self.at % 8)
    }

    /// The zeros before the next one, which is passed; none where there is no one any more.
    fn zeros(&mut self) -> Option<u64> {
        let (start, end) = (self.at, 8 * self.payload.len() as u64);
        loop {
            match self.peek() {
                0 if self.at + 57 >= end => {
                    self.at = start;
                    return None;
                }
                0 => self.at += 57,
                word => {
                    self.at += u64::from(word.trailing_zeros()) + 1;
                    return Some(self.at - 1 - start);
                }
            }
        }
    }

    /// The next `len` bits, if there are as many.
    fn take(&mut self, len: u64) -> Option<u64> {
        let bits = self.peek() & !(u64::MAX << len);
        self.at += len;
        (self.at <= 8 * self.payload.len() as u64).then_some(bits)
    }
}
