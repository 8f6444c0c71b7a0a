//! Where lines end, and where fields may.

use crate::simd::Chunk;

/// What lines have, apart from their places: it costs nothing to see it beside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    /// A CR, somewhere.
    pub(crate) returns: bool,
    /// A line without a byte in it.
    pub(crate) empty: bool,
}

/// Places in a text, in order.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// Longer than what is in use: a few places may be written behind it before it is known how many there are.
    list: Vec<u32>,
    len: usize,
}

impl Places {
    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    pub(crate) fn as_slice(&self) -> &[u32] {
        &self.list[..self.len]
    }

    pub(crate) fn push(&mut self, place: usize) {
        self.room()[0] = place as u32;
        self.len += 1;
    }

    /// Adds a place for each bit of a mask.
    #[inline(always)]
    fn add<C: Chunk>(&mut self, mask: u64, base: usize) {
        C::write(mask, base as u32, self.room());
        self.len += mask.count_ones() as usize;
    }

    /// Room for the places of 64 bytes.
    #[inline(always)]
    fn room(&mut self) -> &mut [u32; 64] {
        if self.list.len() < self.len + 64 {
            self.list.resize(2 * self.len + 1024, 0);
        }
        match self.list[self.len..].first_chunk_mut() {
            Some(room) => room,
            None => unreachable!("there is room for 64"),
        }
    }
}

/// The places where lines end, from `from` on, where one begins.
#[inline(always)]
pub(crate) fn ends_with<C: Chunk>(bytes: &[u8], from: usize, found: &mut Places) -> Seen {
    let (chunks, tail) = bytes[from..].as_chunks::<64>();
    let (mut lines, last) = (Lines { returns: 0, empty: 0, ended: 1 }, padded(tail));
    for (i, chunk) in chunks.iter().enumerate() {
        lines.look::<C>(chunk, from + 64 * i, found);
    }
    lines.look::<C>(&last, bytes.len() - tail.len(), found);
    Seen { returns: lines.returns != 0, empty: lines.empty != 0 }
}

/// What has been seen of lines, a bit for each of 64 bytes.
struct Lines {
    returns: u64,
    empty: u64,
    /// Whether a line has ended right before.
    ended: u64,
}

impl Lines {
    #[inline(always)]
    fn look<C: Chunk>(&mut self, chunk: &[u8; 64], base: usize, found: &mut Places) {
        let ends = C::mask(chunk, b'\n');
        found.add::<C>(ends, base);
        self.returns |= C::mask(chunk, b'\r');
        self.empty |= ends & (ends << 1 | self.ended);
        self.ended = ends >> 63;
    }
}

/// Marks for each line.
#[inline(always)]
pub(crate) fn marks_with<C: Chunk>(
    bytes: &[u8],
    from: usize,
    ends: &[u32],
    wanted: u8,
    found: &mut Vec<u64>,
) {
    let mut start = from;
    found.resize(ends.len(), 0);
    // No closure: it would not have the instruction set of the function that it stands in.
    for (found, &end) in found.iter_mut().zip(ends) {
        let (text, end) = (&bytes[start..], end as usize);
        let len = end - start - usize::from(end > start && bytes[end - 1] == b'\r');
        start = end + 1;
        let mask = match text.first_chunk::<64>() {
            Some(chunk) => C::mask(chunk, wanted),
            None => C::mask(&padded(text), wanted),
        };
        *found = mask & bits(len) | u64::from(len < 64) << (len % 64);
    }
}

/// The lowest bits of a word, so many of them.
#[inline(always)]
pub(crate) fn bits(count: usize) -> u64 {
    if count < 64 { !(u64::MAX << count) } else { u64::MAX }
}

/// Less than 64 bytes, with zeros behind them.
fn padded(text: &[u8]) -> [u8; 64] {
    let mut chunk = [0; 64];
    chunk[..text.len()].copy_from_slice(text);
    chunk
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{self, Plain};

    fn text(len: usize, step: usize) -> Vec<u8> {
        (0..len).map(|i| if i % step == step / 2 { b'\n' } else { b'\x8A' }).collect()
    }

    #[test]
    fn finds_every_newline() {
        for len in 0..300 {
            for step in 1..70 {
                for from in [0, 1, 63, 64, len].into_iter().filter(|&from| from <= len) {
                    let bytes = text(len, step);
                    let mut found = [Places::default(), Places::default()];
                    let seen = [
                        simd::ends(&bytes, from, &mut found[0]),
                        ends_with::<Plain>(&bytes, from, &mut found[1]),
                    ];
                    let empty = bytes[from..].starts_with(b"\n")
                        || bytes[from..].windows(2).any(|pair| pair == b"\n\n");
                    assert_eq!(seen, [Seen { returns: false, empty }; 2], "{len} {step} {from}");
                    let expected: Vec<u32> =
                        (from..len).filter(|i| i % step == step / 2).map(|i| i as u32).collect();
                    for found in found {
                        assert_eq!(found.as_slice(), expected);
                    }
                }
            }
        }
    }

    #[test]
    fn a_return_is_seen_wherever_it_stands() {
        for at in 0..200 {
            let mut bytes = text(200, 7);
            bytes[at] = b'\r';
            for from in 0..200 {
                let found = &mut Places::default();
                assert_eq!(simd::ends(&bytes, from, found).returns, from <= at);
                assert_eq!(ends_with::<Plain>(&bytes, from, found).returns, from <= at);
            }
        }
    }

    #[test]
    fn an_empty_line_is_seen_wherever_it_stands() {
        for at in 0..200 {
            let mut bytes = vec![b'x'; 200];
            bytes[at] = b'\n';
            for next in at..200 {
                bytes[next] = b'\n';
                let found = &mut Places::default();
                let empty = at == 0 || next == at + 1;
                let expected = Seen { returns: false, empty };
                assert_eq!(simd::ends(&bytes, 0, found), expected, "{at} {next}");
                assert_eq!(ends_with::<Plain>(&bytes, 0, found), expected, "{at} {next}");
                bytes[next] = if next == at { b'\n' } else { b'x' };
            }
        }
    }

    #[test]
    fn places_are_added_behind_others() {
        let mut found = Places::default();
        for _ in 0..3 {
            simd::ends(&text(200, 1), 0, &mut found);
            found.push(7);
        }
        assert_eq!(found.as_slice().len(), 3 * 201);
        assert_eq!(found.as_slice()[200..204], [7, 0, 1, 2]);
        found.clear();
        assert!(found.as_slice().is_empty());
    }

    #[test]
    fn marks_show_the_beginning_of_each_line() {
        for len in [0, 1, 20, 62, 63, 64, 65, 200] {
            let line = [text(len, 3), b"|".to_vec()].concat();
            let bytes = [b"head".to_vec(), line.repeat(5)].concat();
            let ends: Vec<u32> = (1..=5).map(|i| (4 + i * line.len() - 1) as u32).collect();
            let mut found = [vec![1], Vec::new()];
            simd::marks(&bytes, 4, &ends, b'\n', &mut found[0]);
            marks_with::<Plain>(&bytes, 4, &ends, b'\n', &mut found[1]);
            let fields = (0..len).filter(|i| i % 3 == 1).chain([len]).filter(|&i| i < 64);
            let expected = fields.fold(0, |marks, i| marks | 1 << i);
            assert_eq!(found, [vec![expected; 5], vec![expected; 5]]);
        }
    }
}
