//! The keys: distinct 64-bit integers, and texts of 20 bytes made from them.

/// Bytes in a text.
pub const TEXT: usize = 20;
/// Texts handed over together.
const TOGETHER: usize = 1024;
/// Strangers are numbered from here, far behind every member.
const STRANGERS: u64 = 1 << 40;

/// Some keys. Texts stand one behind the other.
#[derive(Clone, Copy)]
pub enum Keys<'a> {
    U64(&'a [u64]),
    Texts(&'a [u8]),
}

impl<'a> Keys<'a> {
    pub fn len(self) -> usize {
        match self {
            Keys::U64(keys) => keys.len(),
            Keys::Texts(texts) => texts.len() / TEXT,
        }
    }

    /// At most `n` keys from the front.
    pub fn first(self, n: usize) -> Keys<'a> {
        let n = n.min(self.len());
        match self {
            Keys::U64(keys) => Keys::U64(&keys[..n]),
            Keys::Texts(texts) => Keys::Texts(&texts[..n * TEXT]),
        }
    }
}

/// Hands over slices of the texts, a chunk at a time. The slices are made on the way, for every candidate alike.
#[inline(always)]
pub fn each_chunk(texts: &[u8], mut take: impl FnMut(&[&[u8]])) {
    let mut slices: [&[u8]; TOGETHER] = [&[]; TOGETHER];
    for texts in texts.chunks(TOGETHER * TEXT) {
        let slices = &mut slices[..texts.len() / TEXT];
        for (slice, text) in slices.iter_mut().zip(texts.chunks_exact(TEXT)) {
            *slice = text;
        }
        take(slices);
    }
}

/// Keys that own their memory.
pub enum Store {
    U64(Vec<u64>),
    Texts(Vec<u8>),
}

impl Store {
    pub fn keys(&self) -> Keys<'_> {
        match self {
            Store::U64(keys) => Keys::U64(keys),
            Store::Texts(texts) => Keys::Texts(texts),
        }
    }
}

/// Which keys a row is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    U64,
    Texts,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::U64 => "u64",
            Kind::Texts => "20-byte strings",
        }
    }

    /// The `n` members of a filter.
    pub fn members(self, n: usize) -> Store {
        self.make(n, |i| i)
    }

    /// `count` of the `n` members, in another order than they were inserted in.
    pub fn hits(self, n: usize, count: usize) -> Store {
        // A prime step that does not divide n visits every member before it comes back to the first.
        self.make(count, |i| (i * 982_451_653) % n as u64)
    }

    /// Keys that were never inserted.
    pub fn misses(self, count: usize) -> Store {
        self.make(count, |i| STRANGERS + i)
    }

    /// A key for each number.
    pub fn make(self, count: usize, number: impl Fn(u64) -> u64) -> Store {
        let keys = (0..count as u64).map(|i| scramble(number(i)));
        match self {
            Kind::U64 => Store::U64(keys.collect()),
            Kind::Texts => {
                let mut texts = vec![b'-'; count * TEXT];
                texts.chunks_exact_mut(TEXT).zip(keys).for_each(|(text, key)| write(text, key));
                Store::Texts(texts)
            }
        }
    }
}

/// Sixteen hexadecimal digits behind a common prefix.
fn write(text: &mut [u8], key: u64) {
    text[..3].copy_from_slice(b"key");
    for (i, digit) in text[4..].iter_mut().enumerate() {
        *digit = b"0123456789abcdef"[(key >> (4 * i) & 15) as usize];
    }
}

/// SplitMix64's finish: a bijection, so that distinct numbers give distinct keys.
pub fn scramble(i: u64) -> u64 {
    let mut x = i.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}
