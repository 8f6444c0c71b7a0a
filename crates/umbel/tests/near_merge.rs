//! Growing filters as sets, and builders: any order and any split gives the same bytes.

#![allow(clippy::unwrap_used)]

mod support;

use proptest::prelude::*;
use support::filters::unlike;
use support::random::{self, integers};
use umbel::near::{Builder, Grid, Near, Params, Structure};

/// Empty filters: small and full, so that cells share bits; of one level and two; of floats and integers.
fn shapes() -> Vec<Near> {
    let grids = [Grid::integers(5, 1), Grid::integers(700, 3), Grid::floats(0.3, 0.1)];
    let mut shapes = Vec::new();
    for grid in grids.map(Result::unwrap) {
        for structure in [Structure::OneLevel, Structure::TwoLevels] {
            let params = Params::new(grid, 40, 0.05).unwrap().with_seed(99);
            shapes.push(Near::with(params, structure).unwrap());
        }
    }
    shapes
}

fn with_values(shape: &Near, values: &[i32]) -> Near {
    let mut filter = shape.clone();
    values.iter().for_each(|&y| insert(&mut filter, y.into()));
    filter
}

fn insert(filter: &mut Near, y: i64) {
    filter.insert(y).unwrap();
}

fn union(a: &Near, b: &Near) -> Near {
    let mut union = a.clone();
    union.merge(b).unwrap();
    union
}

fn bytes(near: &Near) -> Vec<u8> {
    near.to_bytes().unwrap()
}

fn some_values() -> impl Strategy<Value = Vec<i32>> {
    prop::collection::vec(-2000..2000, 0..40)
}

fn shuffled(values: &[i32], seed: u64) -> Vec<i32> {
    let (mut shuffled, mut random) = (values.to_vec(), random::Random(seed));
    (1..shuffled.len()).rev().for_each(|i| shuffled.swap(i, random.below(i + 1)));
    shuffled
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn merge_is_commutative_associative_and_idempotent(a in some_values(), b in some_values(), c in some_values()) {
        for shape in shapes() {
            let [a, b, c] = [&a, &b, &c].map(|values| with_values(&shape, values));
            prop_assert_eq!(bytes(&union(&a, &b)), bytes(&union(&b, &a)));
            prop_assert_eq!(bytes(&union(&union(&a, &b), &c)), bytes(&union(&a, &union(&b, &c))));
            prop_assert_eq!(&union(&a, &a), &a); // the values given add up, the set is the same
            prop_assert_eq!(bytes(&union(&a, &shape)), bytes(&a));
        }
    }

    #[test]
    fn any_split_and_order_gives_the_same_file(values in some_values(), parts in 1..5_usize, seed: u64) {
        let shuffled = shuffled(&values, seed);
        let parts: Vec<_> = shuffled.chunks(values.len().div_ceil(parts).max(1)).collect();
        for shape in shapes() {
            let merged = parts.iter().fold(shape.clone(), |all, part| union(&all, &with_values(&shape, part)));
            prop_assert_eq!(bytes(&merged), bytes(&with_values(&shape, &values)));
            prop_assert!(values.iter().all(|&y| merged.contains(y).unwrap()));
        }
        for structure in Structure::ALL.into_iter().filter(|s| !(s.grows() && values.is_empty())) {
            let builder = |values: &[i32]| {
                let mut builder = Builder::new(Grid::integers(5, 1).unwrap());
                builder.extend(values.iter().copied()).unwrap();
                builder
            };
            let mut joined = builder(&[]);
            parts.iter().for_each(|part| joined.join(builder(part)).unwrap());
            let [joined, whole] = [joined, builder(&values)].map(|b| b.build_as(structure, 0.3).unwrap());
            prop_assert_eq!(bytes(&joined), bytes(&whole));
        }
    }

    #[test]
    fn files_open_as_they_were_saved(values in some_values(), stranger: i32) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("near.umbel");
        let lists = [Structure::ExactList, Structure::GrafiteList].map(|structure| {
            let mut builder = Builder::new(Grid::floats(0.3, 0.1).unwrap());
            builder.extend(values.iter().copied()).unwrap();
            builder.build_as(structure, 0.1).unwrap()
        });
        for near in shapes().iter().map(|shape| with_values(shape, &values)).chain(lists) {
            near.save(&path).unwrap();
            let saved = std::fs::read(&path).unwrap();
            prop_assert_eq!(&saved, &bytes(&near));
            let opened = [
                Near::open(&path), Near::open_unverified(&path), Near::load(&path), Near::from_bytes(&saved),
            ];
            for mut opened in opened.map(Result::unwrap) {
                prop_assert_eq!(&opened, &near);
                prop_assert_eq!(bytes(&opened), bytes(&near));
                prop_assert!(values.iter().all(|&y| opened.contains(y).unwrap()));
                prop_assert_eq!(opened.contains(stranger).unwrap(), near.contains(stranger).unwrap());
                if opened.structure().grows() {
                    // Filling it on copies it: the file stays as it is.
                    opened.insert(stranger).unwrap();
                    prop_assert!(opened.contains(stranger).unwrap());
                }
                prop_assert_eq!(&std::fs::read(&path).unwrap(), &saved);
            }
        }
    }
}

#[test]
fn unlike_filters_are_refused_by_field_and_both_values() {
    let grid = Grid::floats(5.0, 1.0).unwrap();
    let params = |grid: Grid, n: u64, p: f64| Params::new(grid, n, p).unwrap();
    let filter = |params| Near::with(params, Structure::OneLevel).unwrap();
    let mut ours = filter(params(grid, 1000, 0.01));
    ours.insert(1).unwrap();
    let m = |near: &Near| near.bits().to_string();
    let larger = filter(params(grid, 2000, 0.01));
    let rarer = filter(params(grid, 1000, 0.009));
    let bits = ["the number of bits (m)", &m(&ours), &m(&larger)].map(str::to_owned);
    let rarer_bits = ["the number of bits (m)", &m(&ours), &m(&rarer)].map(str::to_owned);
    let named = |names: [&str; 3]| names.map(str::to_owned);
    let others = [
        (larger, bits),
        (rarer, rarer_bits),
        (
            filter(params(Grid::integers(5, 1).unwrap(), 1000, 0.01)),
            named(["the type of the values", "floats", "integers"]),
        ),
        (
            filter(params(Grid::floats(4.0, 1.0).unwrap(), 1000, 0.01)),
            named(["the distance (alpha)", "5", "4"]),
        ),
        (
            filter(params(Grid::floats(5.0, 0.5).unwrap(), 1000, 0.01)),
            named(["the resolution (beta)", "1", "0.5"]),
        ),
        (filter(params(grid, 1000, 0.01).with_seed(3)), named(["the seed of the hash", "0", "3"])),
        (
            Near::with(params(grid, 1000, 0.01), Structure::TwoLevels).unwrap(),
            named(["the number of levels", "1", "2"]),
        ),
    ];
    let before = bytes(&ours);
    for (theirs, expected) in others {
        assert_eq!(unlike(ours.merge(&theirs)), expected);
        assert_eq!(bytes(&ours), before, "a refused merge changes nothing");
    }
    let unlike_builders = Builder::new(grid).join(Builder::new(Grid::floats(4.0, 1.0).unwrap()));
    assert_eq!(unlike(unlike_builders), ["the distance (alpha)", "5", "4"]);
}

#[test]
fn merging_beyond_the_capacity_warns() {
    let value = |x: &u64| (x >> 20) as i64;
    for structure in [Structure::OneLevel, Structure::TwoLevels] {
        let params = Params::new(Grid::integers(5, 1).unwrap(), 20_000, 0.01).unwrap();
        let mut filter = Near::with(params, structure).unwrap();
        integers(1, 20_000).iter().for_each(|x| insert(&mut filter, value(x)));
        assert_eq!(filter.overfull(), None);
        let mut other = filter.clone();
        assert_eq!(filter.merge(&other).unwrap(), None, "the same values again");
        integers(2, 20_000).iter().for_each(|x| insert(&mut other, value(x)));
        let warning = filter.merge(&other).unwrap().unwrap();
        assert!((warning.estimated - 40_000.0).abs() < 1000.0, "{warning:?}");
        assert_eq!((warning.capacity, warning.promised), (20_000, 0.01));
        assert!(warning.rate_now > 0.1 && warning.rate_now == filter.expected_rate_now());
        assert!(warning.to_string().contains("sized for 20000"));
    }
}

/// Values without gaps fill their lines unevenly; that alone is no reason to warn.
#[test]
fn neighbours_within_the_capacity_do_not_warn() {
    for seed in 0..200 {
        let params =
            Params::new(Grid::integers(5, 1).unwrap(), 2000, 0.01).unwrap().with_seed(seed);
        let mut filter = Near::with(params, Structure::OneLevel).unwrap();
        for _ in 0..2 {
            (0..2000).for_each(|y| insert(&mut filter, y));
        }
        assert_eq!((filter.overfull(), filter.inserted()), (None, 4000), "seed {seed}");
    }
}

#[test]
fn metadata_that_both_have_survives_a_merge() {
    let mut a = Near::growing(Grid::integers(5, 1).unwrap(), 10, 0.01).unwrap();
    let mut b = a.clone();
    for (filter, name) in [(&mut a, "a"), (&mut b, "b")] {
        filter.metadata_mut().set("column", "3");
        filter.metadata_mut().set("source", name);
    }
    for merged in [union(&a, &b), union(&b, &a)] {
        assert_eq!(merged.metadata().iter().collect::<Vec<_>>(), [("column", "3")]);
    }
    assert_eq!(a, b, "metadata is no part of equality");
}

/// Also after a merge has raised what the parameters say: the size is that of the bits, not of another sum.
#[test]
fn an_empty_filter_like_another_merges_with_it() {
    let grid = Grid::integers(5, 1).unwrap();
    let filter = |n| Near::growing(grid, n, 0.01).unwrap();
    let alike = |n| filter(n).bits() == filter(1000).bits();
    let most = (1000..).take_while(|&n| alike(n)).last().unwrap();
    let mut ours = union(&filter(1000), &filter(most));
    insert(&mut ours, 12);
    let mut other = ours.empty_like().unwrap();
    assert_eq!((other.inserted(), other.contains(12).unwrap()), (0, false));
    assert_eq!((other.params(), other.bits()), (ours.params(), ours.bits()));
    insert(&mut other, 42);
    ours.merge(&other).unwrap();
    assert!(ours.contains(12).unwrap() && ours.contains(42).unwrap());

    let list = Near::build(grid, 0.01, [12]).unwrap();
    let message = list.empty_like().unwrap_err().to_string();
    assert!(message.contains("takes no more values"), "{message}");
}

#[test]
fn a_builder_makes_growing_filters() {
    let narrow = Builder::new(Grid::integers(5, 1).unwrap());
    let empty = narrow.clone().build_growing(0.01).unwrap();
    assert_eq!((empty.structure(), empty.params().n()), (Structure::OneLevel, 1));
    assert!(!empty.contains(0).unwrap());
    let mut wide = Builder::new(Grid::integers(1000, 1).unwrap());
    wide.extend([12, 42, 12]).unwrap();
    let mut filter = wide.build_growing(0.01).unwrap();
    assert_eq!(filter.structure(), Structure::TwoLevels);
    assert_eq!((filter.params().n(), filter.inserted()), (2, 3));
    insert(&mut filter, 9000);
    assert!(filter.contains(9500).unwrap() && !filter.contains(5000).unwrap());
}

/// Also in filters that are not taken to be in the cache.
#[test]
fn a_batch_is_inserted_as_one_by_one() {
    let large = Params::new(Grid::integers(5, 1).unwrap(), 500_000, 0.01).unwrap();
    let large = [Structure::OneLevel, Structure::TwoLevels].map(|s| Near::with(large, s).unwrap());
    for shape in shapes().into_iter().chain(large) {
        for count in [0, 1, 7, 8, 9, 1000] {
            let values: Vec<i64> = integers(3, count).iter().map(|x| (x >> 20) as i64).collect();
            let (mut batch, mut single) = (shape.clone(), shape.clone());
            batch.insert_batch(&values).unwrap();
            values.iter().for_each(|&y| insert(&mut single, y));
            assert_eq!(batch.inserted(), count as u64);
            assert!(batch == single, "{count} values");
        }
    }
}

#[test]
fn a_batch_with_a_value_that_is_refused_adds_nothing() {
    let empty = Near::growing(Grid::floats(5.0, 1.0).unwrap(), 100, 0.01).unwrap();
    let mut filter = empty.clone();
    assert!(filter.insert_batch(&[1.0, f64::NAN, 2.0]).is_err());
    assert!(filter == empty);
    let mut list = Near::build(Grid::integers(5, 1).unwrap(), 0.01, [12]).unwrap();
    assert!(list.insert_batch(&[42]).unwrap_err().to_string().contains("takes no more values"));
}
