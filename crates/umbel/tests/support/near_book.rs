//! A second writer of near structures, made from FORMAT.md alone and in the plainest way.

use umbel::hash::xxh3;

use super::book::{self, hi, mix};

/// The common part of a near record, number for number.
#[derive(Debug, Clone)]
pub struct NearRecord {
    pub structure: u8,
    pub values: u8,
    pub levels: u16,
    pub zero: u32,
    pub alpha: f64,
    pub beta: f64,
    pub p: f64,
    pub n: u64,
    pub seed: u64,
    pub taken: u64,
}

impl NearRecord {
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = vec![self.structure, self.values];
        out.extend(self.levels.to_le_bytes());
        out.extend(self.zero.to_le_bytes());
        for float in [self.alpha, self.beta, self.p] {
            out.extend(float.to_le_bytes());
        }
        for number in [self.n, self.seed, self.taken] {
            out.extend(number.to_le_bytes());
        }
        out
    }
}

/// The file of a record, what follows it, and a body.
pub fn file(record: &NearRecord, rest: &[u8], body: &[u8]) -> Vec<u8> {
    book::file(16, &[&record.bytes(), rest].concat(), &book::pairs(&[]), body)
}

/// A file with an exact list of these cells, in ascending order.
pub fn exact(record: &NearRecord, cells: &[i64]) -> Vec<u8> {
    let (least, greatest) =
        (cells.first().copied().unwrap_or(0), cells.last().copied().unwrap_or(0));
    let numbers: Vec<u64> =
        cells.iter().map(|&c| (i128::from(c) - i128::from(least)) as u64).collect();
    let rest = [least.to_le_bytes(), greatest.to_le_bytes()].concat();
    file(record, &rest, &list(&numbers, (i128::from(greatest) - i128::from(least)) as u64))
}

/// A file with a Grafite list of these cells.
pub fn grafite(record: &NearRecord, r: u64, t: u32, cells: &[i64]) -> Vec<u8> {
    let code = |&cell: &i64| {
        let u = (i128::from(cell) + (1 << 63)) as u64;
        let shift = hi(xxh3(&(u >> t).to_le_bytes(), record.seed), r);
        ((u128::from(shift) + u128::from(u) % (1 << t)) % u128::from(r)) as u64
    };
    let mut codes: Vec<u64> = cells.iter().map(code).collect();
    codes.sort();
    codes.dedup();
    let rest =
        [&r.to_le_bytes()[..], &(codes.len() as u64).to_le_bytes(), &t.to_le_bytes(), &[0; 4]]
            .concat();
    file(record, &rest, &list(&codes, r - 1))
}

/// One level of a growing filter.
#[derive(Debug, Clone, Copy)]
pub struct Level {
    pub s: u32,
    pub k: u32,
    pub lines: u64,
}

/// A file with a growing filter of these levels and cells.
pub fn growing(record: &NearRecord, levels: &[Level], cells: &[i64]) -> Vec<u8> {
    let mut rest = Vec::new();
    let mut body = Vec::new();
    for (level, i) in levels.iter().zip((0..levels.len() as u64).rev()) {
        rest.extend(level.s.to_le_bytes());
        rest.extend(level.k.to_le_bytes());
        rest.extend(level.lines.to_le_bytes());
        let mut bits = vec![0; level.lines as usize * 64];
        for z in cells.iter().map(|cell| cell >> level.s) {
            let (block, o) = (z >> 9, z.rem_euclid(512) as u64);
            let mut x = xxh3(&block.to_le_bytes(), record.seed.wrapping_add(i));
            for _ in 0..level.k {
                let g = x % 512;
                let bit = 512 * hi(x, level.lines) + 64 * ((o / 64 + g / 64) % 8) + (o + g) % 64;
                bits[(bit / 8) as usize] |= 1 << (bit % 8);
                x = mix(x);
            }
        }
        body.extend(bits);
    }
    file(record, &rest, &body)
}

/// A list, with every 0 and 1 written out.
pub fn list(numbers: &[u64], top: u64) -> Vec<u8> {
    let c = numbers.len() as u64;
    if c == 0 {
        return Vec::new();
    }
    let l = if top >= c { (top / c).ilog2() } else { 0 };
    let buckets = (top >> l) + 1;
    let mut upper = Vec::new();
    let mut at = 0;
    for bucket in 0..buckets {
        upper.push(false);
        while at < numbers.len() && numbers[at] >> l == bucket {
            upper.push(true);
            at += 1;
        }
    }
    upper.push(false);
    let (mut starts, mut ranks) = (Vec::new(), Vec::new());
    let (mut ones, mut zeros) = (0_u32, 0);
    for (i, &bit) in upper.iter().enumerate() {
        if i % 2048 == 0 {
            ranks.extend(ones.to_le_bytes());
        }
        if !bit {
            if zeros % 64 == 0 {
                starts.extend(ones.to_le_bytes());
            }
            zeros += 1;
        }
        ones += u32::from(bit);
    }
    let lower: Vec<bool> =
        numbers.iter().flat_map(|v| (0..l).map(move |i| v >> i & 1 == 1)).collect();
    [starts, ranks, packed(&upper), packed(&lower)].map(padded).concat()
}

fn packed(bits: &[bool]) -> Vec<u8> {
    let byte = |bits: &[bool]| bits.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit));
    bits.chunks(8).map(byte).collect()
}

fn padded(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.resize(bytes.len().next_multiple_of(64), 0);
    bytes
}
