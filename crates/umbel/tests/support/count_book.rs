//! A second writer of counts, made from FORMAT.md alone and in the plainest way: an oracle for ours, and a means to write
//! files that lie under correct checksums.

use umbel::hash::xxh3;

use super::book::text;

pub fn hi(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

fn mix(x: u64) -> u64 {
    (x ^ (x >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

/// A count record, number for number.
#[derive(Debug, Clone)]
pub struct CountRecord {
    pub strategy: u16,
    pub bytes: u8,
    pub key_type: u8,
    pub d: u32,
    pub w: u64,
    pub seed: u64,
    pub total: u64,
    pub calls: u64,
}

impl CountRecord {
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = self.strategy.to_le_bytes().to_vec();
        out.extend([self.bytes, self.key_type]);
        out.extend(self.d.to_le_bytes());
        [self.w, self.seed, self.total, self.calls]
            .iter()
            .for_each(|number| out.extend(number.to_le_bytes()));
        out
    }
}

/// A range record, number for number.
#[derive(Debug, Clone)]
pub struct RangeRecord {
    pub strategy: u16,
    pub zero: u16,
    pub d: u32,
    pub w: u64,
    pub seed: u64,
    pub total: u64,
    pub calls: u64,
    pub lo: i64,
    pub hi: i64,
    pub bytes: Vec<u8>,
}

impl RangeRecord {
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = self.strategy.to_le_bytes().to_vec();
        out.extend(self.zero.to_le_bytes());
        out.extend(self.d.to_le_bytes());
        [self.w, self.seed, self.total, self.calls, self.lo as u64, self.hi as u64]
            .iter()
            .for_each(|number| out.extend(number.to_le_bytes()));
        out.extend(&self.bytes);
        out
    }
}

/// A heavy record, number for number.
#[derive(Debug, Clone)]
pub struct HeavyRecord {
    pub m: u32,
    pub key_type: u8,
    pub zeros: [u8; 3],
    pub total: u64,
    pub calls: u64,
    pub count: u32,
    /// Count, error, key.
    pub keys: Vec<(u64, u64, Vec<u8>)>,
}

impl HeavyRecord {
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = self.m.to_le_bytes().to_vec();
        out.push(self.key_type);
        out.extend(self.zeros);
        out.extend(self.total.to_le_bytes());
        out.extend(self.calls.to_le_bytes());
        out.extend(self.count.to_le_bytes());
        for (count, error, key) in &self.keys {
            out.extend(count.to_le_bytes());
            out.extend(error.to_le_bytes());
            out.extend(text(key));
        }
        out
    }
}

/// Counters as plain numbers.
pub struct Counters {
    pub d: u32,
    pub w: u64,
    pub seed: u64,
    pub numbers: Vec<u64>,
}

impl Counters {
    pub fn new(d: u32, w: u64, seed: u64) -> Counters {
        Counters { d, w, seed, numbers: vec![0; w as usize * d as usize] }
    }

    fn places(&self, key: &[u8]) -> Vec<usize> {
        let mut x = xxh3(key, self.seed);
        let mut places = Vec::new();
        for row in 0..u64::from(self.d) {
            places.push((row * self.w + hi(x, self.w)) as usize);
            x = mix(x);
        }
        places
    }

    pub fn add(&mut self, key: &[u8], weight: u64) {
        for place in self.places(key) {
            self.numbers[place] = self.numbers[place].saturating_add(weight);
        }
    }

    pub fn raise(&mut self, key: &[u8], weight: u64) {
        let places = self.places(key);
        let least = places.iter().map(|&place| self.numbers[place]).min().unwrap();
        for place in places {
            self.numbers[place] = self.numbers[place].max(least.saturating_add(weight));
        }
    }
}

/// The fewest bytes that hold the largest counter.
pub fn width(numbers: &[u64]) -> u8 {
    match numbers.iter().max().unwrap() {
        0..=0xFF => 1,
        0x100..=0xFFFF => 2,
        0x1_0000..=0xFFFF_FFFF => 4,
        _ => 8,
    }
}

/// The counters with this many bytes each, zeros behind the last.
pub fn body(numbers: &[u64], width: u8) -> Vec<u8> {
    let bytes = |number: &u64| number.to_le_bytes()[..usize::from(width)].to_vec();
    let mut body: Vec<u8> = numbers.iter().flat_map(bytes).collect();
    body.resize(body.len().next_multiple_of(64), 0);
    body
}
