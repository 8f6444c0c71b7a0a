//! Many keys at once, in every form, against the same keys one by one.

#![allow(clippy::unwrap_used)]

mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::prelude::*;
use support::filters::{bytes, shapes, some_keys, with_keys};
use support::{random, samples};
use umbel::bloom::contains_together;
use umbel::hash::{Family, Strategy as Hashing, xxh3, xxh3_u64};
use umbel::{Bloom, CountMin, CountMinParams, KeyType, Keys, Layout, Params, Sizing, Span};

fn mask(answers: &[u64], i: usize) -> bool {
    answers[i / 64] >> (i % 64) & 1 == 1
}

/// Keys one behind the other, and where each stands.
fn in_one_text(keys: &[&[u8]]) -> (Vec<u8>, Vec<Span>) {
    let mut end = 0;
    let next = |key: &&[u8]| {
        end += key.len();
        Span::try_from(end - key.len()..end).unwrap()
    };
    let spans = keys.iter().map(next).collect();
    (keys.concat(), spans)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_batch_answers_as_its_keys_one_by_one(
        known in some_keys(), integers in prop::collection::vec(any::<u64>(), 0..150), asked in some_keys(),
    ) {
        let (asked, slices) = (&asked, random::slices(&asked));
        for shape in shapes() {
            let filter = with_keys(&shape, &known);
            let xxh3_seed = match filter.params().strategy() {
                Hashing::Xxh3 { seed } => Some(*seed),
                Hashing::Seeded { .. } => None,
            };
            // Each batch with the answers and the inserts of its keys one by one.
            let bytes_hashes: Vec<_> = asked.iter().map(|key| xxh3(key, xxh3_seed.unwrap_or(0))).collect();
            let (text, spans) = in_one_text(&slices);
            let integer_hashes: Vec<_> = integers.iter().map(|&key| xxh3_u64(key, xxh3_seed.unwrap_or(0))).collect();
            let integer_keys: Vec<_> = integers.iter().map(|key| key.to_le_bytes().to_vec()).collect();
            let mut batches = vec![
                (Keys::Bytes(&slices), asked.clone()),
                (Keys::Spans(&text, &spans), asked.clone()),
                (Keys::U64(&integers), integer_keys.clone()),
            ];
            if xxh3_seed.is_some() {
                batches.push((Keys::Hashes(&bytes_hashes), asked.clone()));
                batches.push((Keys::Hashes(&integer_hashes), integer_keys));
            }
            for (batch, keys) in batches {
                let (mut bools, mut words) = (vec![true; keys.len()], vec![u64::MAX; keys.len().div_ceil(64)]);
                filter.contains_batch(batch, &mut bools).unwrap();
                filter.contains_mask(batch, &mut words).unwrap();
                for (i, key) in keys.iter().enumerate() {
                    prop_assert_eq!(bools[i], filter.contains(key));
                    prop_assert_eq!(mask(&words, i), bools[i]);
                }
                let unused = keys.len() % 64;
                prop_assert!(unused == 0 || words[words.len() - 1] >> unused == 0);

                let (mut one_by_one, mut masked, mut plain) = (filter.clone(), filter.clone(), filter.clone());
                words.fill(u64::MAX);
                masked.insert_mask(batch, &mut words).unwrap();
                plain.insert_batch(batch).unwrap();
                for (i, key) in keys.iter().enumerate() {
                    let known = one_by_one.contains(key);
                    prop_assert_eq!(one_by_one.insert(key), !known);
                    prop_assert_eq!(mask(&words, i), !known, "key {}", i);
                }
                prop_assert!(unused == 0 || words[words.len() - 1] >> unused == 0);
                prop_assert_eq!(bytes(&masked), bytes(&one_by_one));
                prop_assert_eq!(bytes(&plain), bytes(&one_by_one));
            }
        }
    }

    #[test]
    fn single_keys_are_the_same_in_every_form(key: u64, seed: u64) {
        for shape in shapes() {
            let mut filter = shape.clone();
            prop_assert!(!filter.contains_u64(key) && filter.insert_u64(key) && !filter.insert(&key.to_le_bytes()));
            prop_assert!(filter.contains_u64(key) && filter.contains(&key.to_le_bytes()));
            prop_assert_eq!(bytes(&filter), bytes(&with_keys(&shape, &[key.to_le_bytes().to_vec(), key.to_le_bytes().to_vec()])));
        }
        let sizing = Sizing::blocked(10, 0.01).unwrap();
        let mut filter = samples::empty(sizing, Hashing::Xxh3 { seed });
        prop_assert!(filter.insert_hash(xxh3_u64(key, seed)).unwrap());
        prop_assert!(filter.contains_u64(key) && filter.contains_hash(xxh3(&key.to_le_bytes(), seed)).unwrap());
    }

    #[test]
    fn shards_fill_the_filter_as_plain_inserts_do(
        hashes in prop::collection::vec(any::<u64>(), 0..300), lines in 1..300_u64, count in 0..20_usize,
    ) {
        let sizing = Sizing::blocked_with(100, 512 * lines).unwrap();
        let (mut plain, mut cut) = (samples::empty(sizing, Hashing::default()), samples::empty(sizing, Hashing::default()));
        plain.insert_batch(Keys::Hashes(&hashes)).unwrap();
        let (router, mut shards) = cut.shards(count).unwrap();
        prop_assert!(shards.len() <= count.max(1));
        let mut parts = vec![Vec::new(); shards.len()];
        hashes.iter().for_each(|&hash| parts[router.home(hash)].push(hash));
        shards.iter_mut().zip(&parts).for_each(|(shard, part)| shard.insert_hashes(part));
        drop(shards);
        cut.add_inserted(hashes.len() as u64);
        prop_assert_eq!(bytes(&cut), bytes(&plain));
    }
}

/// Keys that stand in one text, short ones, of one length and of two, so many that the words of answers are full, nearly full, or just
/// begun: each is the key that its bytes are, whatever is done with it.
#[test]
fn keys_are_taken_where_they_stand() {
    let text: String = (0..20_000).map(|i| format!("{i:05}")).collect();
    let text = text.as_bytes();
    let lengths: [fn(u32) -> u32; 5] = [
        |_| 9,
        |_| 20,
        |_| 40,
        |i| if i.is_multiple_of(37) { 19 } else { 20 },
        |i| if i.is_multiple_of(5) { 0 } else { 40 },
    ];
    let classic = Params::new(Sizing::classic(1000, 0.01).unwrap());
    let murmur = classic.clone().with_strategy(Hashing::seeded(Family::Murmur2, 7)).unwrap();
    for level in umbel::simd::Level::available() {
        let mut filters = [&classic, &murmur].map(|p| Bloom::with(p.clone()).unwrap()).to_vec();
        filters
            .extend([100_000, 1_000_000].map(|n| Bloom::new(n, 0.01).unwrap().with_level(level)));
        for (length, empty) in lengths.iter().flat_map(|l| filters.iter().map(move |f| (l, f))) {
            let span = |i: u32| Span { start: 90 * i, end: 90 * i + length(i) };
            let spans: Vec<Span> = (0..1100).map(span).collect();
            let keys: Vec<&[u8]> = spans.iter().map(|span| span.of(text)).collect();
            let mut filter = empty.clone();
            keys.iter().step_by(3).for_each(|key| _ = filter.insert(key));
            for len in [0_usize, 1, 2, 63, 64, 65, 127, 128, 129, 191, 192, 193, 1000, 1100] {
                let (spans, keys) = (Keys::Spans(text, &spans[..len]), &keys[..len]);
                let mut found = vec![u64::MAX; len.div_ceil(64)];
                filter.contains_mask(spans, &mut found).unwrap();
                let same = |(i, key): (usize, &&[u8])| mask(&found, i) == filter.contains(key);
                assert!(keys.iter().enumerate().all(same), "{level:?}, {len}");
                assert!(len % 64 == 0 || found[len / 64] >> (len % 64) == 0);
                let mut answers = vec![true; len];
                filter.contains_batch(spans, &mut answers).unwrap();
                assert!((0..len).all(|i| mask(&found, i) == answers[i]), "{level:?}, {len}");
                let [mut whole, mut asked, mut single] = [(); 3].map(|()| empty.clone());
                whole.insert_batch(spans).unwrap();
                asked.insert_mask(spans, &mut found).unwrap();
                let new: Vec<bool> = keys.iter().map(|key| single.insert(key)).collect();
                assert!((0..len).all(|i| mask(&found, i) == new[i]));
                assert_eq!([bytes(&whole), bytes(&asked)], [bytes(&single), bytes(&single)]);
            }
        }
    }
    let spans: Vec<Span> = (0..1000).map(|i| Span { start: i, end: i + 20 }).collect();
    let slices: Vec<&[u8]> = spans.iter().map(|span| span.of(text)).collect();
    let [mut a, mut b] =
        [(); 2].map(|()| CountMin::new(CountMinParams::for_error(0.01, 0.01).unwrap()).unwrap());
    a.add_batch(Keys::Spans(text, &spans)).unwrap();
    b.add_batch(Keys::Bytes(&slices)).unwrap();
    assert!(a == b && a.total() == 1000);
}

/// As a slice is: no byte is read that is not in the text, also where eight keys are hashed at once, and where memory is asked for the keys
/// of whole blocks beforehand.
#[test]
fn a_key_outside_of_its_text_is_refused() {
    let text = [b'x'; 200];
    for level in umbel::simd::Level::available() {
        let [near, far] = [1000, 1_000_000].map(|n| Bloom::new(n, 0.01).unwrap().with_level(level));
        let ask = |filter: &Bloom, spans: &[Span]| {
            let mut found = vec![0; spans.len().div_ceil(64)];
            let ask = || filter.contains_mask(Keys::Spans(&text, spans), &mut found).is_ok();
            catch_unwind(AssertUnwindSafe(ask)).unwrap_or(false)
        };
        for (start, end) in [(190, 210), (210, 230), (181, 201), (30, 10), (u32::MAX, 19)] {
            let bad = Span { start, end };
            for (filter, len, places) in [(&near, 32, [0, 5, 31]), (&far, 130, [0, 70, 129])] {
                let mut spans = vec![Span { start: 180, end: 200 }; len];
                assert!(ask(filter, &spans));
                for place in places {
                    let good = std::mem::replace(&mut spans[place], bad);
                    assert!(!ask(filter, &spans), "{level:?}, {place}, {start}, {end}");
                    spans[place] = good;
                }
                assert!(!ask(filter, &vec![bad; len]), "{level:?}, {start}, {end}");
            }
        }
    }
}

/// Places that 32 bits do not hold are not cut short.
#[test]
fn a_place_beyond_the_reach_of_spans_is_refused() {
    let most = u32::MAX as usize;
    assert_eq!(Span::try_from(3..most).unwrap(), Span { start: 3, end: u32::MAX });
    for place in [3..most + 1, most + 1..most + 9] {
        let refusal = Span::try_from(place).unwrap_err().to_string();
        assert!(refusal.contains("reaches the first 4 GiB"), "{refusal}");
    }
}

/// Small and large filters, all blocked or not, answer together as they do alone.
#[test]
fn filters_asked_together_answer_as_each_does_alone() {
    let hashes: Vec<u64> = (0..300_u64).map(|i| xxh3_u64(i, 0)).collect();
    let classic = Params::new(Sizing::classic(500, 0.3).unwrap());
    for level in umbel::simd::Level::available() {
        let blocked = [1, 2, 100, 5000].map(|n| Bloom::new(n, 0.3).unwrap());
        let large = Bloom::new(1_000_000, 0.01).unwrap();
        let mut filters: Vec<_> = blocked.into_iter().map(|f| f.with_level(level)).collect();
        filters.extend([Bloom::with(classic.clone()).unwrap(), large.with_level(level)]);
        for (i, filter) in filters.iter_mut().enumerate() {
            filter.insert_batch(Keys::Hashes(&hashes[40 * i..][..60])).unwrap();
        }
        let filters: Vec<&Bloom> = filters.iter().collect();
        for (asked, len) in
            [0, 1, 4, 5, 6].iter().flat_map(|&a| [0, 1, 63, 64, 65, 300].map(|l| (a, l)))
        {
            let (asked, hashes) = (&filters[..asked], &hashes[..len]);
            let words = len.div_ceil(64);
            let mut found = vec![u64::MAX; asked.len() * words];
            contains_together(asked, hashes, &mut found).unwrap();
            let mut alone = vec![u64::MAX; found.len()];
            for (filter, alone) in asked.iter().zip(alone.chunks_mut(words.max(1))) {
                filter.contains_mask(Keys::Hashes(hashes), alone).unwrap();
            }
            assert_eq!(found, alone, "{level:?}, {} filters, {len} hashes", asked.len());
        }
        assert!(contains_together(&filters[..2], &hashes[..65], &mut [0; 3]).is_err());
    }
}

#[test]
fn answers_that_do_not_fit_the_batch_are_refused() {
    for shape in shapes() {
        let mut filter = shape.clone();
        let keys = [1, 2, 3];
        for len in [0, 2, 4] {
            let refusal =
                filter.contains_batch(Keys::U64(&keys), &mut vec![false; len]).unwrap_err();
            let expected = format!("a batch of 3 keys needs 3 places for its answers, not {len}");
            assert_eq!(refusal.to_string(), expected);
        }
        for len in [0, 2] {
            assert!(filter.contains_mask(Keys::U64(&keys), &mut vec![0; len]).is_err());
            assert!(filter.insert_mask(Keys::U64(&keys), &mut vec![0; len]).is_err());
        }
        assert_eq!(bytes(&filter), bytes(&shape), "a refused batch inserts nothing");
    }
}

#[test]
fn seeded_strategies_refuse_hashes() {
    for mut filter in shapes() {
        let seeded = matches!(filter.params().strategy(), Hashing::Seeded { .. });
        let name = filter.params().strategy().name();
        let results = [
            filter.insert_hash(1).map(drop),
            filter.contains_hash(1).map(drop),
            filter.insert_batch(Keys::Hashes(&[1])),
            filter.insert_mask(Keys::Hashes(&[1]), &mut [0]),
            filter.contains_batch(Keys::Hashes(&[1]), &mut [false]),
            filter.contains_mask(Keys::Hashes(&[1]), &mut [0]),
        ];
        for result in results {
            assert_eq!(result.is_err(), seeded);
            assert!(result.map_or_else(|error| error.to_string().contains(name), |()| true));
        }
        assert_eq!(filter.inserted(), Some(if seeded { 0 } else { 3 }));
    }
}

/// Shards that are too large for the cache, too.
#[test]
fn large_shards_fill_the_filter_as_plain_inserts_do() {
    let hashes: Vec<u64> = (0..100_000_u64).map(|i| xxh3_u64(i, 0)).collect();
    let sizing = Sizing::blocked_with(100, 512 * 40_001).unwrap();
    let mut plain = samples::empty(sizing, Hashing::default());
    hashes.iter().for_each(|&hash| _ = plain.insert_hash(hash).unwrap());
    for count in [1, 2, 3] {
        let mut cut = samples::empty(sizing, Hashing::default());
        let (router, mut shards) = cut.shards(count).unwrap();
        let mut parts = vec![Vec::new(); shards.len()];
        hashes.iter().for_each(|&hash| parts[router.home(hash)].push(hash));
        shards.iter_mut().zip(&parts).for_each(|(shard, part)| shard.insert_hashes(part));
        drop(shards);
        assert!(cut == plain, "{count} shards");
    }
}

#[test]
fn shards_need_a_blocked_filter() {
    for mut filter in shapes() {
        assert_eq!(filter.shards(2).is_ok(), filter.sizing().layout() == Layout::Blocked);
    }
}

#[test]
#[should_panic(expected = "does not belong")]
fn a_shard_refuses_a_key_of_another() {
    let mut filter = Bloom::with(Params::new(Sizing::blocked_with(1, 4096).unwrap())).unwrap();
    let (_, mut shards) = filter.shards(2).unwrap();
    shards[0].insert_hashes(&[u64::MAX]);
}

#[test]
fn a_filter_knows_its_keys() {
    let params = Params::new(Sizing::new(10, 0.01).unwrap());
    for (holds, other) in [(KeyType::Bytes, KeyType::U64), (KeyType::U64, KeyType::Bytes)] {
        let filter = Bloom::with(params.clone().with_key_type(holds)).unwrap();
        let filter = Bloom::from_bytes(&bytes(&filter)).unwrap();
        assert!(filter.check_key_type(holds).is_ok());
        let message = filter.check_key_type(other).unwrap_err().to_string();
        assert!(message.contains(&format!("holds {holds}")), "{message}");
        assert!(message.contains(&format!("asked for {other}")), "{message}");
    }
    let mut filter = Bloom::new(10, 1e-5).unwrap();
    filter.insert_u64(42);
    assert!(!filter.contains(b"42"), "42 and \"42\" are different keys");
}

/// An integer filter asked with text would answer "no" to keys that are there.
#[test]
fn text_is_refused_where_keys_are_integers() {
    let mut filter = umbel::Bloom::for_integers(10, 0.01).unwrap();
    filter.insert_batch(umbel::Keys::U64(&[42])).unwrap();
    let bytes = 42u64.to_le_bytes();
    let mut answers = [false];
    filter.contains_batch(umbel::Keys::Bytes(&[&bytes]), &mut answers).unwrap();
    assert!(answers[0], "the same key as its eight bytes");
    let (eight, two) = ([Span { start: 0, end: 8 }], [Span { start: 0, end: 2 }]);
    answers.fill(false);
    filter.contains_batch(Keys::Spans(&bytes, &eight), &mut answers).unwrap();
    assert!(answers[0], "also where they stand in a text");
    for text in [Keys::Bytes(&[b"42"]), Keys::Spans(b"42", &two)] {
        let refused = filter.contains_batch(text, &mut answers).unwrap_err();
        assert!(matches!(refused, umbel::Error::KeyType { .. }), "{refused}");
        assert!(filter.insert_batch(text).is_err());
    }
}
