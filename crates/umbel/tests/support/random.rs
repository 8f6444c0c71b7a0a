//! Repeatable random numbers (SplitMix64).

pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.next().unwrap()) * limit as u128) >> 64) as usize
    }
}

impl Iterator for Random {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        Some(x ^ (x >> 31))
    }
}

/// `count` different integers: one stream for each number.
pub fn integers(stream: u64, count: usize) -> Vec<u64> {
    Random(stream << 40).take(count).collect()
}

/// `count` different texts.
pub fn texts(stream: u64, count: usize) -> Vec<Vec<u8>> {
    integers(stream, count).iter().map(|x| format!("https://{x:x}.example/").into_bytes()).collect()
}

/// The keys as a batch takes them.
pub fn slices(keys: &[Vec<u8>]) -> Vec<&[u8]> {
    keys.iter().map(Vec::as_slice).collect()
}
