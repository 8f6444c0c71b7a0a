//! Near-duplicate texts: a scan over sorted shingles, exact.

use umbel::similar::{Params, Promise, Similar, Space};
use xxhash_rust::xxh3::xxh3_64;

use super::{Candidate, Questions, compare, timed};
use crate::table::Table;

const N: usize = 10_000;
const WORDS: usize = 200;
const ASKED: usize = 1000;
const SHINGLE: usize = 5;
const PROMISE: (f64, f64) = (0.2, 0.95);

/// A text, and its shingles in order.
struct Text {
    text: String,
    shingles: Vec<u64>,
}

pub fn run() -> Table {
    let mut state = 7_u64;
    let mut word = move || {
        state = state.wrapping_mul(0xD6E8_FEB8_6659_FD93).wrapping_add(0x9E37_79B9_7F4A_7C15);
        (state >> 40) as u32 % 20_000
    };
    let stored: Vec<Vec<u32>> = (0..N).map(|_| (0..WORDS).map(|_| word()).collect()).collect();
    let close = (0..ASKED)
        .map(|i| {
            // Four edits touch at most 20 of 196 shingles: a distance of 0.19.
            let mut text = stored[i * N / ASKED].clone();
            (0..4).for_each(|_| text[word() as usize % WORDS] = word());
            Text::new(&text)
        })
        .collect();
    let far =
        (0..ASKED).map(|_| Text::new(&(0..WORDS).map(|_| word()).collect::<Vec<_>>())).collect();
    let stored: Vec<Text> = stored.iter().map(|text| Text::new(text)).collect();
    let space = Space::Texts { shingle: SHINGLE as u32 };
    let params = Params::new(space, N as u64, &Promise::new(PROMISE.0, PROMISE.1))
        .expect("it can be reached");
    let (filter, build) = timed(|| {
        let mut filter = Similar::new(params).expect("there is memory");
        stored.iter().for_each(|text| filter.insert(text.text.as_str()).expect("it has words"));
        filter
    });
    let middle = (PROMISE.0 + PROMISE.1) / 2.0;
    let candidates = [
        Candidate {
            name: "umbel",
            build,
            bytes: params.bits_per_item() / 8.0,
            ask: Box::new(|text: &Text| filter.contains(text.text.as_str()).expect("it has words")),
        },
        Candidate {
            name: "linear scan of shingles",
            build: 0.0,
            bytes: 8.0 * (WORDS - SHINGLE + 1) as f64,
            ask: Box::new(|text| stored.iter().any(|known| known.distance(text) <= middle)),
        },
    ];
    compare(
        &format!("{N} texts of {WORDS} words, Jaccard {} against {}", PROMISE.0, PROMISE.1),
        &candidates,
        &Questions { close, far },
    )
}

impl Text {
    fn new(words: &[u32]) -> Text {
        let spelled: Vec<String> = words.iter().map(|word| format!("w{word}")).collect();
        let mut shingles: Vec<u64> =
            spelled.windows(SHINGLE).map(|words| xxh3_64(words.join(" ").as_bytes())).collect();
        shingles.sort_unstable();
        shingles.dedup();
        Text { text: spelled.join(" "), shingles }
    }

    fn distance(&self, other: &Text) -> f64 {
        let (mut a, mut b) = (self.shingles.iter().peekable(), other.shingles.iter().peekable());
        let mut common = 0;
        while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
            match x.cmp(y) {
                std::cmp::Ordering::Less => _ = a.next(),
                std::cmp::Ordering::Greater => _ = b.next(),
                std::cmp::Ordering::Equal => {
                    common += 1;
                    _ = (a.next(), b.next());
                }
            }
        }
        let all = self.shingles.len() + other.shingles.len() - common;
        1.0 - common as f64 / all as f64
    }
}
