//! A second writer of similar filters, made from FORMAT.md alone and in the plainest way.

use umbel::hash::xxh3;

use super::book::{self, hi, mix};
use super::items::Owned;

/// A similar record, number for number.
#[derive(Debug, Clone)]
pub struct SimilarRecord {
    pub metric: u8,
    pub items: u8,
    pub zero: u16,
    pub l: u32,
    pub k: u32,
    pub t: u32,
    pub tau: u32,
    pub q: u32,
    pub m: u64,
    pub n: u64,
    pub close: f64,
    pub far: f64,
    pub width: f64,
    pub seed: u64,
    pub taken: u64,
}

impl SimilarRecord {
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = vec![self.metric, self.items];
        out.extend(self.zero.to_le_bytes());
        for number in [self.l, self.k, self.t, self.tau, self.q] {
            out.extend(number.to_le_bytes());
        }
        out.extend(self.m.to_le_bytes());
        out.extend(self.n.to_le_bytes());
        for float in [self.close, self.far, self.width] {
            out.extend(float.to_le_bytes());
        }
        out.extend(self.seed.to_le_bytes());
        out.extend(self.taken.to_le_bytes());
        out
    }

    /// The file with these items.
    pub fn file(&self, items: &[Owned]) -> Vec<u8> {
        let mut body = vec![0; (u64::from(self.k) * self.m).div_ceil(512) as usize * 64];
        for item in items {
            for b in 0..self.k {
                let mut x = xxh3(&self.band(item, b), self.s_b(b));
                for _ in 0..self.q {
                    let bit = u64::from(b) * self.m + hi(x, self.m);
                    body[(bit / 8) as usize] |= 1 << (bit % 8);
                    x = mix(x);
                }
            }
        }
        book::file(17, &self.bytes(), &book::pairs(&[]), &body)
    }

    fn s_b(&self, b: u32) -> u64 {
        xxh3(&u64::from(b).to_le_bytes(), self.seed)
    }

    fn s_bi(&self, b: u32, i: u32) -> u64 {
        xxh3(&u64::from(i).to_le_bytes(), self.s_b(b))
    }

    fn r_bi(&self, b: u32, i: u32, c: u64) -> u64 {
        xxh3(&c.to_le_bytes(), self.s_bi(b, i))
    }

    /// The bytes of a band.
    fn band(&self, item: &Owned, b: u32) -> Vec<u8> {
        match item {
            Owned::Bits(bytes) => pack(&self.positions(b).map(|p| bytes[p / 8] >> (7 - p % 8) & 1)),
            Owned::Vector(vector) if self.metric == 2 => {
                let sign = |i| u8::from(self.product(b, i, &scaled(vector)) >= 0.0);
                pack(&(0..self.t).map(sign).collect::<Vec<u8>>())
            }
            Owned::Vector(vector) => (0..self.t)
                .flat_map(|i| {
                    let offset = (self.r_bi(b, i, u64::MAX) >> 11) as f64 / 2f64.powi(53);
                    let step = (self.product(b, i, vector) / self.width + offset).floor();
                    (step as i64).to_le_bytes()
                })
                .collect(),
            Owned::Text(text) => self.minima(b, &self.shingles(text)),
            Owned::Tokens(tokens) => {
                let elements: Vec<u64> =
                    tokens.iter().map(|token| xxh3(token, self.seed)).collect();
                self.minima(b, &elements)
            }
        }
    }

    fn positions(&self, b: u32) -> Positions {
        let mut positions = Vec::new();
        for i in 0..self.t {
            let j = self.l - self.t + i;
            let x = hi(self.s_bi(b, i), u64::from(j) + 1) as usize;
            positions.push(if positions.contains(&x) { j as usize } else { x });
        }
        Positions(positions)
    }

    fn normals(&self, b: u32, i: u32) -> Vec<f32> {
        let mut normals = Vec::new();
        let mut c = 0;
        while normals.len() < self.l as usize {
            let [u, v] = [c, c + 1]
                .map(|c| (self.r_bi(b, i, c) as i64 >> 11) as f64 / 4_503_599_627_370_496.0);
            c += 2;
            let s = u * u + v * v;
            if s < 1.0 && s != 0.0 {
                let f = ((-2.0 * ln(s)) / s).sqrt();
                normals.extend([(u * f) as f32, (v * f) as f32]);
            }
        }
        normals.truncate(self.l as usize);
        normals
    }

    fn product(&self, b: u32, i: u32, vector: &[f64]) -> f64 {
        let mut s = [0.0; 8];
        for (j, (g, x)) in self.normals(b, i).iter().zip(vector).enumerate() {
            s[j % 8] += f64::from(*g) * x;
        }
        ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
    }

    fn shingles(&self, text: &str) -> Vec<u64> {
        let letter = |c: char| c.is_ascii_alphanumeric() || !c.is_ascii();
        let words: Vec<String> = text
            .split(|c| !letter(c))
            .filter(|word| !word.is_empty())
            .map(str::to_ascii_lowercase)
            .collect();
        let l = (self.l as usize).min(words.len());
        words.windows(l).map(|words| xxh3(words.join(" ").as_bytes(), self.seed)).collect()
    }

    fn minima(&self, b: u32, elements: &[u64]) -> Vec<u8> {
        let least = |i| elements.iter().map(|e| mix(e ^ self.s_bi(b, i))).min().unwrap();
        (0..self.t).flat_map(|i| least(i).to_le_bytes()).collect()
    }
}

struct Positions(Vec<usize>);

impl Positions {
    fn map(&self, bit: impl Fn(usize) -> u8) -> Vec<u8> {
        self.0.iter().map(|&p| bit(p)).collect()
    }
}

fn pack(bits: &[u8]) -> Vec<u8> {
    bits.chunks(8).map(|bits| bits.iter().rev().fold(0, |byte, bit| byte << 1 | bit)).collect()
}

fn scaled(vector: &[f64]) -> Vec<f64> {
    let largest = vector.iter().map(|x| x.abs()).fold(0.0, f64::max);
    let factor = if largest > 2f64.powi(500) {
        2f64.powi(-600)
    } else if largest < 2f64.powi(-500) {
        2f64.powi(600)
    } else {
        1.0
    };
    vector.iter().map(|x| x * factor).collect()
}

fn ln(s: f64) -> f64 {
    let (mut a, mut e) = (s, 0.0);
    while a < 1.0 {
        a *= 2.0;
        e -= 1.0;
    }
    if a > std::f64::consts::SQRT_2 {
        a /= 2.0;
        e += 1.0;
    }
    let y = (a - 1.0) / (a + 1.0);
    let z = y * y;
    let mut w = 1.0 / 21.0;
    for d in [19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0] {
        w = w * z + 1.0 / d;
    }
    e * std::f64::consts::LN_2 + 2.0 * y * w
}
