//! A second writer of umbel files, made from FORMAT.md alone and in the plainest way: an oracle for ours, and
//! a means to write files that lie under correct checksums.

use umbel::hash::{Family, xxh3};

/// A filter record, number for number.
#[derive(Debug, Clone)]
pub struct Record {
    pub strategy: u16,
    pub layout: u8,
    pub key_type: u8,
    pub k: u32,
    pub m: u64,
    pub n: u64,
    pub inserted: u64,
    pub flags: u32,
    pub seeds: Vec<u64>,
}

impl Record {
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = self.strategy.to_le_bytes().to_vec();
        out.extend([self.layout, self.key_type]);
        out.extend(self.k.to_le_bytes());
        out.extend(self.m.to_le_bytes());
        out.extend(self.n.to_le_bytes());
        out.extend(self.inserted.to_le_bytes());
        out.extend(self.flags.to_le_bytes());
        out.extend((self.seeds.len() as u32).to_le_bytes());
        self.seeds.iter().for_each(|seed| out.extend(seed.to_le_bytes()));
        out
    }

    /// The bits of a key.
    pub fn bits(&self, key: &[u8]) -> Vec<u64> {
        if self.strategy != 1 {
            let family = Family::ALL[usize::from(self.strategy) - 2];
            return self.seeds.iter().map(|&s| family.index(key, s as u32, self.m)).collect();
        }
        let h = xxh3(key, self.seeds[0]);
        if self.layout == 2 {
            let (line, g) = (hi(h, self.m / 512), mix(h));
            return (0..8).map(|j| 512 * line + 64 * j + ((g >> (16 + 6 * j)) % 64)).collect();
        }
        let mut x = h;
        let mut bits = Vec::new();
        for _ in 0..self.k {
            bits.push(hi(x, self.m));
            x = mix(x);
        }
        bits
    }

    /// The lines of a filter with these keys.
    pub fn body<'a>(&self, keys: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
        let mut body = vec![0; self.m.div_ceil(512) as usize * 64];
        for bit in keys.into_iter().flat_map(|key| self.bits(key)) {
            body[(bit / 8) as usize] |= 1 << (bit % 8);
        }
        body
    }
}

pub fn hi(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

pub fn mix(x: u64) -> u64 {
    (x ^ (x >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

pub fn text(text: &[u8]) -> Vec<u8> {
    [&(text.len() as u32).to_le_bytes(), text].concat()
}

/// A count, then what was counted.
pub fn counted(count: u32, items: &[Vec<u8>]) -> Vec<u8> {
    [&count.to_le_bytes()[..], &items.concat()].concat()
}

/// The META section of these pairs, in the order given.
pub fn pairs(pairs: &[(&str, &str)]) -> Vec<u8> {
    let pair = |&(key, value): &(&str, &str)| [text(key.as_bytes()), text(value.as_bytes())];
    counted(pairs.len() as u32, &pairs.iter().flat_map(pair).collect::<Vec<_>>())
}

/// The file of these sections.
pub fn file(kind: u16, parm: &[u8], meta: &[u8], body: &[u8]) -> Vec<u8> {
    let sum = |chunk| xxh3(chunk, 0).to_le_bytes();
    let sums: Vec<u8> = body.chunks(1 << 20).flat_map(sum).collect();
    let sections = [(b"PARM", parm), (b"META", meta), (b"SUMS", &sums), (b"BODY", body)];

    let mut out = b"\x89UMBEL\r\n\x01\x00".to_vec();
    out.extend(kind.to_le_bytes());
    out.resize(24, 0);
    out.extend(4u32.to_le_bytes());
    out.resize(64, 0);
    let mut end: usize = 64 + 4 * 32;
    for (tag, section) in sections {
        let offset = end.next_multiple_of(64);
        end = offset + section.len();
        out.extend(tag);
        out.extend([0; 4]);
        out.extend((offset as u64).to_le_bytes());
        out.extend((section.len() as u64).to_le_bytes());
        out.extend(if tag == b"BODY" { [0; 8] } else { xxh3(section, 0).to_le_bytes() });
    }
    for (_, section) in sections {
        out.resize(out.len().next_multiple_of(64), 0);
        out.extend(section);
    }
    put(&mut out, 16, &(end as u64).to_le_bytes());
    seal(&mut out);
    out
}

/// Overwrites the bytes at `offset`.
pub fn put(file: &mut [u8], offset: usize, bytes: &[u8]) {
    file[offset..offset + bytes.len()].copy_from_slice(bytes);
}

/// Makes the checksum of header and table right again.
pub fn seal(file: &mut [u8]) {
    let sum = xxh3(&[&file[..56], &file[64..192]].concat(), 0);
    put(file, 56, &sum.to_le_bytes());
}
