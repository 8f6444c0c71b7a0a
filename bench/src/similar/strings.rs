//! Bit strings: a scan that counts differing bits.

use umbel::similar::{Item, Params, Promise, Similar, Space};

use super::{Candidate, Questions, compare, timed};
use crate::table::Table;

const N: usize = 100_000;
const BITS: usize = 1024;
const ASKED: usize = 1000;
const PROMISE: (f64, f64) = (0.05, 0.4);

type Words = [u64; BITS / 64];

pub fn run() -> Table {
    let mut state = 1_u64;
    let mut next = move || {
        state = state.wrapping_mul(0xD6E8_FEB8_6659_FD93).wrapping_add(0x9E37_79B9_7F4A_7C15);
        state ^ (state >> 29)
    };
    let stored: Vec<Words> = (0..N).map(|_| [(); BITS / 64].map(|()| next())).collect();
    let close = (0..ASKED)
        .map(|i| {
            let mut item = stored[i * N / ASKED];
            let mut differing = 0;
            while differing < (PROMISE.0 * BITS as f64) as u32 {
                let bit = next() as usize % BITS;
                item[bit / 64] ^= 1 << (bit % 64);
                differing = distance(&item, &stored[i * N / ASKED]);
            }
            item
        })
        .collect();
    let far = (0..ASKED).map(|_| [(); BITS / 64].map(|()| next())).collect();
    let space = Space::Hamming { bits: BITS as u32 };
    let params = Params::new(space, N as u64, &Promise::new(PROMISE.0, PROMISE.1))
        .expect("it can be reached");
    let (filter, build) = timed(|| {
        let mut filter = Similar::new(params).expect("there is memory");
        stored
            .iter()
            .for_each(|item| filter.insert(Item::Bits(&bytes(item))).expect("it is a string"));
        filter
    });
    let middle = ((PROMISE.0 + PROMISE.1) / 2.0 * BITS as f64) as u32;
    let candidates = [
        Candidate {
            name: "umbel",
            build,
            bytes: params.bits_per_item() / 8.0,
            ask: Box::new(|item: &Words| {
                filter.contains(Item::Bits(&bytes(item))).expect("it is a string")
            }),
        },
        Candidate {
            name: "linear scan",
            build: 0.0,
            bytes: (BITS / 8) as f64,
            ask: Box::new(|item| stored.iter().any(|known| distance(known, item) <= middle)),
        },
    ];
    compare(
        &format!("{N} strings of {BITS} bits, Hamming {} against {}", PROMISE.0, PROMISE.1),
        &candidates,
        &Questions { close, far },
    )
}

fn bytes(item: &Words) -> [u8; BITS / 8] {
    let mut bytes = [0; BITS / 8];
    for (to, word) in bytes.chunks_exact_mut(8).zip(item) {
        to.copy_from_slice(&word.to_be_bytes());
    }
    bytes
}

fn distance(a: &Words, b: &Words) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
}
