//! What similar filters take, what they refuse, and near-duplicate texts against the exact distance.

#![allow(clippy::unwrap_used)]

mod support;

use std::collections::{HashMap, HashSet};

use support::random::Random;
use umbel::similar::{Bands, Item, Params, Promise, Similar, Space};

fn filter(space: Space, close: f64, far: f64) -> Similar {
    Similar::new(Params::at_any_cost(space, 100, &Promise::new(close, far)).unwrap()).unwrap()
}

fn bands<'a>(filter: &Similar, item: impl Into<Item<'a>>) -> Vec<u64> {
    let mut bands = Bands::default();
    filter.bands(item, &mut bands).unwrap();
    bands.as_slice().to_vec()
}

#[test]
fn items_of_another_sort_or_length_are_refused() {
    let strings = filter(Space::Hamming { bits: 12 }, 0.1, 0.9);
    let vectors = filter(Space::Cosine { dimension: 3 }, 0.02, 0.9);
    let points = filter(Space::Euclid { dimension: 3 }, 1.0, 10.0);
    let texts = filter(Space::Texts { shingle: 2 }, 0.2, 0.95);
    let sets = filter(Space::Sets, 0.2, 0.95);
    let refused = |filter: &Similar, item: Item<'_>, says: &str| {
        let message = filter.contains(item).unwrap_err().to_string();
        assert!(message.contains(says), "{says:?} is not in {message:?}");
        let mut copy = filter.clone();
        assert!(copy.insert(item).is_err() && copy == *filter && copy.inserted() == 0);
    };
    refused(&strings, Item::Text(b"010"), "holds strings of 12 bits, not texts");
    refused(&strings, Item::Bits(&[1]), "1 bytes is not one of the strings of 12 bits");
    refused(&strings, Item::Bits(&[1, 0, 0]), "3 bytes");
    refused(&strings, Item::Bits(&[1, 8]), "behind the last of 12");
    assert!(strings.contains(Item::Bits(&[1, 16])).is_ok());
    refused(&vectors, Item::Vector(&[1.0, 2.0]), "2 numbers is not one of the vectors of 3");
    refused(&vectors, Item::Floats(&[0.0; 3]), "no direction");
    refused(&vectors, Item::Vector(&[1.0, f64::NAN, 0.0]), "NaN");
    refused(&vectors, Item::Floats(&[1.0, 0.0, f32::INFINITY]), "inf");
    refused(&points, Item::Vector(&[1.0, f64::NEG_INFINITY, 0.0]), "-inf");
    refused(&points, Item::Vector(&[1e300, 0.0, 0.0]), "too far from the origin");
    refused(&points, Item::Bits(&[0]), "holds vectors of 3 numbers, not bit strings");
    assert!(points.contains(Item::Vector(&[0.0; 3])).is_ok());
    refused(&texts, Item::Text(b" ?! "), "without words");
    refused(&texts, Item::Tokens(&[b"a"]), "not sets of tokens");
    refused(&sets, Item::Tokens(&[]), "without tokens");
    refused(&sets, Item::Text(b"a"), "not texts");
    let mut answers = [false; 1];
    assert!(texts.contains_batch(&["a".into(), "b".into()], &mut answers).is_err());
    assert!(sets.contains_bands(&[1]).unwrap_err().to_string().contains("1 bands"));
}

/// The same item in another guise has the same bands.
#[test]
fn equal_items_have_equal_bands() {
    let vectors = filter(Space::Cosine { dimension: 3 }, 0.02, 0.9);
    let one = [0.25, -3.0, 0.5];
    let expected = bands(&vectors, &one);
    assert_eq!(bands(&vectors, Item::Floats(&[0.25, -3.0, 0.5])), expected);
    for scale in [2.0_f64.powi(-1000), 0.5, 4.0, 2.0_f64.powi(1020)] {
        assert_eq!(bands(&vectors, &one.map(|x| x * scale)), expected, "{scale}");
    }
    assert_ne!(bands(&vectors, &one.map(|x| -x)), expected);
    let points = filter(Space::Euclid { dimension: 3 }, 1.0, 10.0);
    assert_eq!(bands(&points, &[0.0, 1.0, -0.0]), bands(&points, &[-0.0, 1.0, 0.0]));

    let sets = filter(Space::Sets, 0.2, 0.95);
    let expected = bands(&sets, Item::Tokens(&[b"a", b"b", b"c"]));
    assert_eq!(bands(&sets, Item::Tokens(&[b"c", b"a", b"b", b"a", b"c"])), expected);
    assert_ne!(bands(&sets, Item::Tokens(&[b"ab", b"c"])), expected);

    let texts = filter(Space::Texts { shingle: 3 }, 0.2, 0.95);
    let expected = bands(&texts, "One flower, many blooms: an umbel.");
    assert_eq!(bands(&texts, "  one FLOWER many\nblooms an \"umbel\""), expected);
    assert_ne!(bands(&texts, "one flower many blooms umbel an"), expected);
    // Shorter than a shingle: all words together.
    assert_eq!(bands(&texts, "two words"), bands(&texts, "Two, words!"));
    assert_ne!(bands(&texts, "two words"), bands(&texts, "words two"));
    let words = filter(Space::Texts { shingle: 1 }, 0.2, 0.95);
    assert_eq!(bands(&words, "b a, b"), bands(&words, "a b"));
}

/// Texts of so many words each, some of them copies with a few words changed. The answer of the filter against the exact Jaccard distance to the
/// nearest stored text.
#[test]
fn near_duplicate_texts_are_found() {
    const STORED: usize = 3000;
    const WORDS: usize = 120;
    let mut random = Random(77);
    let word = |random: &mut Random| {
        // Frequent words are frequent: the square of a uniform number.
        let u = random.below(1 << 20) as f64 / f64::from(1 << 20);
        format!("w{}", (u * u * 20_000.0) as u32)
    };
    let text = |random: &mut Random| (0..WORDS).map(|_| word(random)).collect::<Vec<_>>();
    let stored: Vec<Vec<String>> = (0..STORED).map(|_| text(&mut random)).collect();
    let params =
        Params::new(Space::Texts { shingle: 3 }, STORED as u64, &Promise::new(0.2, 0.95)).unwrap();
    let mut filter = Similar::new(params).unwrap();
    stored.iter().for_each(|text| filter.insert(text.join(" ").as_str()).unwrap());

    // Which texts have which shingle.
    let shingles = |text: &[String]| -> HashSet<String> {
        text.windows(3).map(|words| words.join("\n")).collect()
    };
    let sets: Vec<HashSet<String>> = stored.iter().map(|text| shingles(text)).collect();
    let mut holders: HashMap<&str, Vec<usize>> = HashMap::new();
    for (i, set) in sets.iter().enumerate() {
        set.iter().for_each(|shingle| holders.entry(shingle).or_default().push(i));
    }
    let nearest = |text: &[String]| -> f64 {
        let set = shingles(text);
        let mut common: HashMap<usize, usize> = HashMap::new();
        for shingle in &set {
            let holders = holders.get(shingle.as_str()).into_iter().flatten();
            holders.for_each(|&holder| *common.entry(holder).or_default() += 1);
        }
        let distance = |(&holder, &common): (&usize, &usize)| {
            1.0 - common as f64 / (set.len() + sets[holder].len() - common) as f64
        };
        common.iter().map(distance).fold(1.0, f64::min)
    };

    // Copies with up to eight words changed, and unrelated texts.
    let (mut close, mut found, mut far, mut flagged, mut between) = (0, 0, 0, 0, 0);
    for i in 0..6000 {
        let mut asked =
            if i % 2 == 0 { text(&mut random) } else { stored[random.below(STORED)].clone() };
        if i % 2 == 1 {
            (0..random.below(9)).for_each(|_| asked[random.below(WORDS)] = word(&mut random));
        }
        let yes = filter.contains(asked.join(" ").as_str()).unwrap();
        match nearest(&asked) {
            d if d <= 0.2 => (close, found) = (close + 1, found + usize::from(yes)),
            d if d >= 0.95 => (far, flagged) = (far + 1, flagged + usize::from(yes)),
            _ => between += 1,
        }
    }
    let (recall, precision) =
        (found as f64 / close as f64, found as f64 / (found + flagged) as f64);
    println!(
        "{close} close, {found} found; {far} far, {flagged} flagged; {between} between: recall {recall:.4}, precision {precision:.4}"
    );
    assert!(close > 1500 && far == 3000, "{close}, {far}");
    // One filter has one luck; 1 % is promised for the worst distance, and most lie nearer or farther.
    assert!(recall >= 0.99 && precision >= 0.99, "{recall}, {precision}");
}
