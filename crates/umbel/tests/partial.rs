//! Filters in slices: what is sent is what arrives, and the parts make the whole.

use proptest::prelude::*;
use umbel::bloom::{Coding, Indexes, Partial, SLICE_BITS};
use umbel::hash::{Family, Strategy as Hash};
use umbel::{Bloom, Params, Sizing};

fn params() -> impl Strategy<Value = Params> {
    let xxh3 = |seed| Hash::Xxh3 { seed };
    let seeded = |family| move |k| Hash::seeded(family, k);
    prop_oneof![
        (1..3000u64, 1..200u64, any::<u64>()).prop_map(move |(n, lines, seed)| {
            let sizing = Sizing::blocked_with(n, 512 * lines).unwrap();
            Params::new(sizing).with_strategy(xxh3(seed)).unwrap()
        }),
        (1..3000u64, 1..100_000u64, 1..12u32, any::<u64>()).prop_map(move |(n, m, k, seed)| {
            Params::new(Sizing::with(n, m, k).unwrap()).with_strategy(xxh3(seed)).unwrap()
        }),
        (1..3000u64, 1..100_000u64, 1..12u32).prop_map(move |(n, m, k)| {
            let sizing = Sizing::with(n, m, k).unwrap();
            Params::new(sizing).with_strategy(seeded(Family::Murmur2)(k)).unwrap()
        }),
    ]
}

/// The keys of one part: few or many.
fn keys() -> impl Strategy<Value = Vec<u32>> {
    prop_oneof![
        prop::collection::vec(any::<u32>(), 0..8),
        prop::collection::vec(any::<u32>(), 0..3000)
    ]
}

fn filled(params: &Params, keys: &[u32]) -> Bloom {
    let mut filter = Bloom::with(params.clone()).unwrap();
    keys.iter().for_each(|key| _ = filter.insert(&key.to_le_bytes()));
    filter
}

/// Sends every slice of a filter to another.
fn send(from: &Bloom, to: &mut Bloom, coding: Coding) {
    for slice in 0..from.slices() {
        let bytes = from.partial(slice).to_bytes(coding);
        to.merge_partial(slice, &Partial::from_bytes(&bytes).unwrap()).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn parts_make_the_whole_in_any_order_and_coding(
        params in params(),
        parts in prop::collection::vec((keys(), any::<bool>()), 1..6),
    ) {
        let all: Vec<u32> = parts.iter().flat_map(|(keys, _)| keys.clone()).collect();
        let whole = filled(&params, &all).to_bytes().unwrap();
        let mut merged = Bloom::with(params.clone()).unwrap();
        for (keys, plain) in parts.iter().rev() {
            let coding = if *plain { Coding::Bits } else { Coding::Shortest };
            send(&filled(&params, keys), &mut merged, coding);
        }
        prop_assert_eq!(merged.to_bytes().unwrap(), whole);
    }

    #[test]
    fn a_reducer_makes_the_same_of_slices(params in params(), parts in prop::collection::vec(keys(), 1..6)) {
        let mut sent = parts.iter().map(|keys| {
            let bytes = filled(&params, keys).partial(0).to_bytes(Coding::Shortest);
            Partial::from_bytes(&bytes).unwrap()
        });
        let mut union = sent.next().unwrap();
        sent.for_each(|part| union.merge(&part).unwrap());
        prop_assert_eq!(union, filled(&params, &parts.concat()).partial(0));
    }

    #[test]
    fn indexes_set_the_bits_that_inserting_sets(params in params(), keys in keys()) {
        let mut indexes = Indexes::default();
        for key in &keys {
            indexes.count_insert();
            params.for_each_bit(&key.to_le_bytes(), |bit| indexes.push(bit as u32));
        }
        let sent = Partial::from_bytes(&indexes.to_bytes(&params, 0)).unwrap();
        prop_assert_eq!(sent, filled(&params, &keys).partial(0));
    }

    #[test]
    fn the_shortest_coding_is_never_longer(params in params(), keys in keys()) {
        let filter = filled(&params, &keys);
        let partial = filter.partial(0);
        let shortest = partial.to_bytes(Coding::Shortest).len();
        prop_assert!(shortest <= partial.to_bytes(Coding::Bits).len());
        prop_assert!(shortest as u64 <= 24 + filter.sizing().bits().div_ceil(8));
        prop_assert!(shortest as u64 <= 24 + 4 * filter.ones());
    }

    #[test]
    fn damage_is_refused(params in params(), keys in keys(), at in any::<prop::sample::Index>(), bit in 0..8) {
        let mut bytes = filled(&params, &keys).partial(0).to_bytes(Coding::Shortest);
        let at = at.index(bytes.len());
        bytes[at] ^= 1u8 << bit;
        prop_assert!(Partial::from_bytes(&bytes).is_err());
        prop_assert!(Partial::from_bytes(&bytes[..at]).is_err());
    }

    /// With a right checksum: nothing that can be said makes the reader panic or take more memory than a slice.
    #[test]
    fn nonsense_is_refused_or_read(coding in 0..4u8, width in 0..70u8, lines in 0..3u32, payload in any::<Vec<u8>>()) {
        let mut bytes = vec![coding, width, 0, 0];
        bytes.extend(lines.to_le_bytes());
        bytes.extend([0; 8]);
        bytes.extend(payload);
        bytes.extend(umbel::hash::xxh3(&bytes, 0).to_le_bytes());
        if let Ok(partial) = Partial::from_bytes(&bytes) {
            let again = partial.to_bytes(Coding::Shortest);
            prop_assert_eq!(Partial::from_bytes(&again).unwrap(), partial);
        }
    }
}

#[test]
fn a_filter_of_several_slices_travels() {
    let sizing = Sizing::with(1000, 2 * SLICE_BITS + 12_345, 7).unwrap();
    let params = Params::new(sizing);
    let keys: Vec<u32> = (0..1000).collect();
    let filter = filled(&params, &keys);
    assert_eq!(filter.slices(), 3);
    let mut merged = Bloom::with(params).unwrap();
    send(&filter, &mut merged, Coding::Shortest);
    assert_eq!((&merged, merged.inserted()), (&filter, Some(1000)));
    // A thousand keys in two hundred megabits: every bit costs little more than its place.
    let sent: usize = (0..3).map(|i| filter.partial(i).to_bytes(Coding::Shortest).len()).sum();
    assert!(sent < 7000 * 3, "{sent} bytes");
}

#[test]
fn a_slice_with_one_bit_in_four_set_goes_as_bits() {
    let params = Params::new(Sizing::classic(10_000, 0.01).unwrap());
    for (keys, is_dense) in [(1000, false), (10_000, true)] {
        let partial = filled(&params, &(0..keys).collect::<Vec<u32>>()).partial(0);
        let [shortest, bits] =
            [Coding::Shortest, Coding::Bits].map(|coding| partial.to_bytes(coding));
        assert_eq!(shortest == bits, is_dense, "{keys} keys");
    }
}

#[test]
fn bits_beyond_the_filter_are_refused() {
    let small = Params::new(Sizing::with(10, 100, 3).unwrap());
    let large = Params::new(Sizing::with(10, 500, 3).unwrap());
    let other = filled(&large, &(0..200).collect::<Vec<_>>());
    let refused = Bloom::with(small).unwrap().merge_partial(0, &other.partial(0));
    assert!(refused.unwrap_err().to_string().contains("beyond the end of the filter"));
}
