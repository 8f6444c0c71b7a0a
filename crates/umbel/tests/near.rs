//! Near structures against looking at every value.

#![allow(clippy::unwrap_used)]

mod support;

use support::numbers::{any_within, built, crowds};
use support::random::{Random, integers};
use umbel::near::{Builder, Grid, Near, Number, Params, Plan, Structure, Values};

/// Grids with values and questions: floats and integers, narrow and wide, spread and crowded, few and many.
fn cases() -> Vec<(Grid, Vec<Number>, Vec<Number>)> {
    let mut random = Random(1);
    let mut cases = Vec::new();
    for count in [0, 1, 2, 30, 400] {
        for ratio in [0.0, 0.3, 1.0, 7.0, 150.0, 3000.0] {
            for range in [1.0, 1e3, 1e6, 1e12] {
                let beta = [0.01, 0.1, 1.0, 0.3][random.below(4)];
                let grid = Grid::floats(ratio * beta, beta).unwrap();
                let reach = grid.alpha() + beta;
                let values = crowds(&mut random, count, range * beta, 10.0 * reach);
                let mut asked = crowds(&mut random, 30, range * beta, 10.0 * reach);
                asked.extend(values.iter().step_by(9).flat_map(|y| {
                    let near = [grid.alpha(), reach, 0.5 * beta, 1.1 * reach, 0.0];
                    near.into_iter().flat_map(move |d| [y - d, y + d])
                }));
                let numbers = |xs: &[f64]| xs.iter().map(|&x| x.into()).collect::<Vec<Number>>();
                cases.push((grid, numbers(&values), numbers(&asked)));

                let step = 1 + random.below(9) as u64;
                let grid = Grid::integers((ratio * step as f64) as u64, step).unwrap();
                let numbers = |xs: &[f64]| {
                    xs.iter().map(|&x| ((x / beta) as i64).into()).collect::<Vec<Number>>()
                };
                cases.push((grid, numbers(&values), numbers(&asked)));
            }
        }
    }
    cases
}

/// Every structure that can hold these values.
fn all(grid: Grid, values: &[Number], p: f64) -> Vec<Near> {
    let fits = |structure: &Structure| !(structure.grows() && values.is_empty());
    Structure::ALL.into_iter().filter(fits).map(|s| built(grid, values, s, p)).collect()
}

#[test]
fn what_is_near_is_always_found() {
    let (mut found, mut right) = (0, 0);
    for (grid, values, asked) in cases() {
        for near in all(grid, &values, 0.3) {
            for &x in &asked {
                for alpha in [grid.alpha(), (grid.alpha() / 3.0).floor(), 0.0] {
                    let answer = near.contains_within(x, alpha).unwrap();
                    let what = || format!("{near:?}, asked for {x} within {alpha}");
                    if any_within(&values, x, alpha) {
                        assert!(answer, "{}", what());
                        found += 1;
                    } else if near.structure() == Structure::ExactList {
                        // Only what lies between may be "yes" too; some steps of floats are far more than two here.
                        let beyond = alpha + grid.beta() * 1.000_001;
                        assert!(!answer || any_within(&values, x, beyond), "{}", what());
                        right += 1;
                    }
                }
            }
        }
    }
    assert!(found > 100_000 && right > 20_000, "{found}, {right}");
}

#[test]
fn a_batch_answers_as_one_by_one() {
    for (grid, values, asked) in cases() {
        for near in all(grid, &values, 0.3) {
            for alpha in [grid.alpha(), 0.0] {
                let mut answers = vec![true; asked.len()];
                near.contains_batch_within(&asked, alpha, &mut answers).unwrap();
                let single = asked.iter().map(|&x| near.contains_within(x, alpha).unwrap());
                assert!(single.eq(answers.iter().copied()), "{near:?}");
            }
        }
    }
    let near = Near::build(Grid::integers(5, 1).unwrap(), 0.01, [12, 42]).unwrap();
    let message = near.contains_batch(&[1, 2, 3], &mut [false; 2]).unwrap_err().to_string();
    assert!(message.contains("3 keys needs 3 places for its answers, not 2"), "{message}");
    assert!(near.contains_batch(&[1.0, f64::NAN], &mut [false; 2]).is_err());
    assert!(near.contains_batch_within(&[1], 6.0, &mut [false]).is_err());
}

/// Memory is asked for the lines of large filters before they are needed.
#[test]
fn large_structures_answer_the_same() {
    let values: Vec<i64> = integers(1, 400_000).iter().map(|x| (x >> 24) as i64).collect();
    let numbers: Vec<Number> = values.iter().map(|&y| y.into()).collect();
    for (alpha, structure) in Structure::ALL.into_iter().flat_map(|s| [(3, s), (900, s)]) {
        let near = built(Grid::integers(alpha, 1).unwrap(), &numbers, structure, 0.001);
        let mut asked: Vec<i64> = values.iter().step_by(9).map(|y| y + alpha as i64).collect();
        let mut answers = vec![false; asked.len()];
        near.contains_batch(&asked, &mut answers).unwrap();
        assert!(answers.iter().all(|&answer| answer), "{structure}");
        asked.iter_mut().for_each(|x| *x += 2 * alpha as i64 + 5);
        near.contains_batch(&asked, &mut answers).unwrap();
        assert!(asked.iter().map(|&x| near.contains(x).unwrap()).eq(answers), "{structure}");
    }
}

/// Blocks end, codes pass the last and go on at the first, cells are the least and the greatest there are.
#[test]
fn nothing_is_lost_where_ranges_are_cut() {
    for (alpha, p) in [(0, 0.9), (1, 0.99), (3, 0.5), (40, 0.9), (1000, 0.7)] {
        let grid = Grid::integers(alpha, 1).unwrap();
        for base in [0, -5000, 1 << 40, i64::MAX - 10_000, i64::MIN] {
            for count in [1, 3, 20] {
                let values: Vec<Number> = (0..count)
                    .map(|i| (base + (10_000 * i / count) * 997 % 10_000).into())
                    .collect();
                for structure in Structure::ALL {
                    let near = built(grid, &values, structure, p);
                    for &y in &values {
                        let Number::Integer(y) = y else { unreachable!() };
                        for x in y.saturating_sub(alpha as i64)..=y.saturating_add(alpha as i64) {
                            assert!(near.contains(x).unwrap(), "{near:?}: {y} is near {x}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn integers_reach_from_end_to_end() {
    let grid = Grid::integers(10, 1).unwrap();
    let ends = [i64::MIN, i64::MIN + 1, -1, 0, i64::MAX - 1, i64::MAX].map(Number::from);
    for structure in Structure::ALL {
        let near = built(grid, &ends, structure, 1e-6);
        for x in [i64::MIN, i64::MIN + 11, -11, 10, i64::MAX - 11, i64::MAX] {
            assert!(near.contains(x).unwrap(), "{structure}: {x}");
        }
        for x in [i64::MIN + 12, i64::MIN / 2, -12, 11, i64::MAX / 2, i64::MAX - 12] {
            assert!(!near.contains(x).unwrap(), "{structure}: {x}");
        }
    }
}

#[test]
fn the_nearest_is_the_nearest() {
    let mut checked = 0;
    for (grid, values, asked) in cases() {
        let near = built(grid, &values, Structure::ExactList, 0.01);
        for &x in &asked {
            let nearest = near.nearest(x).unwrap();
            assert_eq!(nearest.is_some(), !values.is_empty());
            let Some(nearest) = nearest else { continue };
            let cells: Vec<i64> = values.iter().map(|&y| grid.cell(y).unwrap()).collect();
            assert!(cells.contains(&nearest.cell) && grid.middle(nearest.cell) == nearest.value);
            let distance = |cell: i64| match (x, grid.middle(cell)) {
                (Number::Float(x), Number::Float(y)) => (x - y).abs(),
                (Number::Integer(x), Number::Integer(y)) => x.abs_diff(y) as f64,
                _ => unreachable!(),
            };
            let least = cells.iter().map(|&cell| distance(cell)).fold(f64::INFINITY, f64::min);
            assert_eq!(nearest.distance, least, "{near:?}, {x}");
            checked += 1;
        }
    }
    assert!(checked > 5000);
    let filter = Near::growing(Grid::integers(5, 1).unwrap(), 10, 0.01).unwrap();
    assert!(filter.nearest(1).unwrap_err().to_string().contains("only an exact list"));
    let ends = [i64::MIN, i64::MAX].map(Number::from);
    let ends = built(Grid::integers(1, 1).unwrap(), &ends, Structure::ExactList, 0.01);
    assert_eq!(ends.nearest(-1).unwrap().unwrap().cell, i64::MIN);
    assert_eq!(ends.nearest(0).unwrap().unwrap().cell, i64::MAX);
}

/// An exact list where it is no larger than the filter; the sizes are those that the plan gave.
#[test]
fn the_smaller_list_is_chosen() {
    let mut random = Random(4);
    let mut chosen = [0; 2];
    for bits in 8..50 {
        for ratio in [1.0, 30.0] {
            let grid = Grid::floats(ratio, 1.0).unwrap();
            let values: Vec<Number> =
                (0..3000).map(|_| (random.below(1 << bits) as f64).into()).collect();
            let mut builder = Builder::new(grid).with_seed(7);
            builder.extend(values.iter().copied()).unwrap();
            assert_eq!(builder.len(), 3000);
            let near = builder.build(0.01).unwrap();
            let [exact, grafite] = [Structure::ExactList, Structure::GrafiteList]
                .map(|s| built(grid, &values, s, 0.01));
            let n = near.params().n() as f64;
            let half_a_bit = |a: &Near, b: &Near| (a.bits() as f64 - b.bits() as f64) / n <= 0.55;
            match near.structure() {
                Structure::ExactList => assert!(near == exact && half_a_bit(&exact, &grafite)),
                _ => assert!(near == grafite && half_a_bit(&grafite, &exact)),
            }
            chosen[usize::from(near == exact)] += 1;

            let float = |n: &Number| match n {
                Number::Float(x) => *x,
                Number::Integer(_) => unreachable!(),
            };
            let ends = [f64::INFINITY, f64::NEG_INFINITY];
            let ends = values.iter().map(float).fold(ends, |[a, b], x| [a.min(x), b.max(x)]);
            let plan = Plan::new(near.params(), Some(ends.map(Number::from))).unwrap();
            assert_eq!(plan.fixed, Some(near.structure()));
            assert_eq!(
                plan.fixed == Some(Structure::ExactList),
                ends[1] - ends[0] + 1.0 <= plan.exact_up_to
            );
            for structure in Structure::ALL {
                let bits = built(grid, &values, structure, 0.01).bits() as f64;
                let planned = plan.cost(structure).unwrap().bits_per_value * n;
                // Codes that meet are stored once.
                assert!((planned - bits).abs() <= 0.02 * bits, "{structure}: {bits} of {planned}");
            }
        }
    }
    assert!(chosen.iter().all(|&count| count > 20), "{chosen:?}");
}

#[test]
fn a_choice_is_explained() {
    let grid = Grid::integers(5, 1).unwrap();
    let why = |near: umbel::Result<Near>| near.unwrap().why();
    let exact = why(Near::build(grid, 0.01, [12, 42]));
    assert!(
        exact.contains("2 different cells lie among 31") && exact.contains("never wrong"),
        "{exact}"
    );
    let grafite = why(Near::build(grid, 0.01, [0, i64::MAX]));
    assert!(grafite.contains("no more values come") && grafite.contains("among 2200"), "{grafite}");
    let one = why(Near::growing(grid, 1000, 0.01));
    assert!(one.contains("may be added") && one.contains("11 cells"), "{one}");
    let two = why(Near::growing(Grid::integers(5000, 1).unwrap(), 1000, 0.01));
    assert!(two.contains("may be added") && two.contains("10001 cells"), "{two}");
}

/// Wide enough for two levels, too wide for any; too many values; too low a rate.
#[test]
fn what_cannot_be_sized_is_refused() {
    let grid = |alpha| Grid::integers(alpha, 1).unwrap();
    assert_eq!(Near::growing(grid(200), 10, 0.01).unwrap().structure(), Structure::OneLevel);
    assert_eq!(Near::growing(grid(1000), 10, 0.01).unwrap().structure(), Structure::TwoLevels);
    let refused = |result: umbel::Result<Near>, says: &str| {
        let message = result.unwrap_err().to_string();
        assert!(message.contains(says), "{message}");
    };
    refused(Near::growing(grid(1 << 22), 10, 0.01), "too wide for a growing filter");
    refused(Near::growing(grid(5), 0, 0.01), "at least 1");
    refused(Near::growing(grid(5), 1 << 60, 0.01), "64-bit hash");
    refused(Near::growing(grid(5), 1 << 46, 0.01), "2^48");
    refused(Near::growing(grid(5), 1000, 1e-19), "64-bit hash");
    for p in [0.0, 1.0, -0.5, f64::NAN] {
        refused(Near::growing(grid(5), 10, p), "between 0 and 1");
        refused(Near::build(grid(5), p, [1]), "between 0 and 1");
    }
    let params = Params::new(grid(5), 10, 0.01).unwrap();
    refused(Near::with(params, Structure::ExactList), "gather its values in a Builder");
    let mut builder = Builder::new(grid(1 << 50));
    builder.extend([1, 1 << 30]).unwrap();
    refused(builder.clone().build_as(Structure::GrafiteList, 1e-9), "take an exact list");
    assert_eq!(builder.build(1e-9).unwrap().structure(), Structure::ExactList);
    let plan =
        Plan::new(&Params::new(grid(5), 1 << 40, 0.01).unwrap(), Some([0.into(), i64::MAX.into()]))
            .unwrap();
    assert_eq!(
        (plan.cost(Structure::ExactList), plan.cost(Structure::GrafiteList)),
        (None, None),
        "2^32 values a list"
    );
}

/// A plan names no list that could not be built.
#[test]
fn more_values_than_a_list_holds_have_none() {
    let most = u64::from(u32::MAX);
    for (p, ends, list) in [
        (0.01, None, Structure::GrafiteList),
        (1e-300, None, Structure::ExactList),
        (0.01, Some([0.0.into(), 6e9.into()]), Structure::ExactList),
    ] {
        let plan = |n| {
            let params = Params::new(Grid::floats(5.0, 1.0).unwrap(), n, p).unwrap();
            Plan::new(&params, ends).unwrap().fixed
        };
        assert_eq!((plan(most), plan(most + 1)), (Some(list), None));
    }
}

#[test]
fn lists_take_no_more_values() {
    let mut list = Near::build(Grid::integers(5, 1).unwrap(), 0.01, [12, 42]).unwrap();
    let growing = Near::growing(Grid::integers(5, 1).unwrap(), 10, 0.01).unwrap();
    for message in [
        list.insert(1).unwrap_err(),
        list.merge(&growing).unwrap_err(),
        growing.clone().merge(&list).unwrap_err(),
    ] {
        let message = message.to_string();
        assert!(message.contains("exact list takes no more values"), "{message}");
    }
    assert_eq!(list.inserted(), 2);
}

#[test]
fn an_empty_list_says_no() {
    for grid in [Grid::integers(5, 1), Grid::floats(0.0, 1e-9)].map(Result::unwrap) {
        for structure in [Structure::ExactList, Structure::GrafiteList] {
            let near = built(grid, &[], structure, 0.01);
            assert!(
                !near.contains(0).unwrap() && near.bits() == 0 && near.expected_rate_now() == 0.0
            );
            let mut answers = [true; 2];
            near.contains_batch(&[0, 1], &mut answers).unwrap();
            assert_eq!(answers, [false; 2]);
        }
    }
}

#[test]
fn questions_without_an_answer_are_errors() {
    let near = Near::build(Grid::floats(5.0, 1.0).unwrap(), 0.01, [12.0, 42.0]).unwrap();
    for x in [f64::NAN, f64::INFINITY, -f64::INFINITY, 1e16, -1e16] {
        assert!(near.contains(x).is_err() && near.nearest(x).is_err(), "{x}");
        assert!(Near::build(near.params().grid(), 0.01, [x]).is_err(), "{x}");
    }
    assert!(near.contains_within(12.0, 5.5).unwrap_err().to_string().contains("larger alpha"));
    assert_eq!(near.params().grid().values(), Values::Floats);
}
