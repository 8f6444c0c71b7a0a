//! The meaning of "near", against exact arithmetic: |x - y| ≤ alpha is always "yes", beyond alpha + beta + 2 ulp(|x| +
//! alpha) the cells say "no".

#![allow(clippy::unwrap_used)]

mod support;

use std::cmp::Ordering;

use support::exact_sum::sign;
use support::random::Random;
use umbel::near::{Grid, Number};

/// Values from here on are refused, in cells.
const LIMIT: f64 = 9_007_199_254_740_992.0;

/// What was checked.
#[derive(Default, Debug)]
struct Tally {
    within: u64,
    beyond: u64,
    between: u64,
}

/// The law for one x and one y.
fn check(grid: &Grid, x: f64, y: f64, tally: &mut Tally) {
    let (alpha, beta) = (grid.alpha(), grid.beta());
    let (Ok(cells), Ok(cell)) = (grid.cells(x, alpha), grid.cell(y)) else { return };
    let (high, low) = if x > y { (x, y) } else { (y, x) };
    let reach = x.abs() + alpha;
    let ulp = reach.next_up() - reach;
    let what = || format!("alpha {alpha:e}, beta {beta:e}, x {x:e}, y {y:e}: {cell} in {cells:?}");
    if sign(&[high, -low, -alpha]) != Ordering::Greater {
        assert!(cells.contains(&cell), "{}", what());
        tally.within += 1;
    } else if sign(&[high, -low, -alpha, -beta, -ulp, -ulp]) == Ordering::Greater {
        assert!(!cells.contains(&cell), "{}", what());
        tally.beyond += 1;
    } else {
        tally.between += 1;
    }
}

/// The law for one x and the values that lie where answers change: at x ± alpha, at x ± (alpha + beta), at the borders
/// of cells, and some others.
fn check_around(grid: &Grid, x: f64, random: &mut Random, tally: &mut Tally) {
    let (alpha, beta) = (grid.alpha(), grid.beta());
    let mut ys = vec![x, 0.0, -0.0, x + beta * unit(random), x - alpha * unit(random)];
    for sign in [-1.0, 1.0] {
        for edge in [alpha, alpha + beta, alpha + 0.5 * beta, beta, 0.5 * beta] {
            let edge = x + sign * edge;
            let border = ((edge / beta).floor() + 0.5) * beta;
            ys.extend([edge, border, x + sign * alpha * unit(random)]);
        }
    }
    for y in ys {
        let (mut up, mut down) = (y, y);
        check(grid, x, y, tally);
        for _ in 0..3 {
            (up, down) = (up.next_up(), down.next_down());
            check(grid, x, up, tally);
            check(grid, x, down, tally);
        }
    }
    let Ok(cells) = grid.cells(x, alpha) else { return };
    let asked = cells.end().abs_diff(*cells.start()) + 1;
    let reach = x.abs() + alpha;
    let wide = (reach.next_up() - reach) * 4096.0 > beta;
    let most = grid.most_cells() + if wide { 8 } else { 0 };
    // Above 2^51 cells a question, alpha / beta itself is rounded.
    let most = most + (alpha / beta / 2f64.powi(51)) as u64;
    assert!(asked <= most, "alpha {alpha:e}, beta {beta:e}, x {x:e}: {asked} cells of {most}");
}

/// From 0 to 1.
fn unit(random: &mut Random) -> f64 {
    random.below(1 << 53) as f64 / LIMIT
}

/// Below 2^52, small ones as often as large ones.
fn of_any_size(random: &mut Random) -> u64 {
    let bits = random.below(53);
    random.below(1 << bits) as u64
}

fn pick(random: &mut Random, from: &[f64]) -> f64 {
    from[random.below(from.len())]
}

fn finish(tally: &Tally, least: u64) {
    assert!(tally.within > least && tally.beyond > least, "{tally:?}");
    assert!(tally.between < tally.within + tally.beyond, "{tally:?}");
}

#[test]
fn floats_of_all_sizes() {
    let (mut random, mut tally) = (Random(1), Tally::default());
    for _ in 0..30_000 {
        let beta = (1.0 + unit(&mut random)) * 2f64.powi(random.below(1900) as i32 - 1000);
        let ratio = match random.below(4) {
            0 => 0.0,
            1 => unit(&mut random),
            2 => 1000.0 * unit(&mut random),
            _ => 2f64.powi(random.below(53) as i32) * unit(&mut random),
        };
        let alpha = pick(&mut random, &[beta * ratio, beta * ratio.round(), beta * 0.5]);
        let Ok(grid) = Grid::floats(alpha, beta) else { continue };
        let cells = LIMIT * 2f64.powi(-(random.below(54) as i32)) * unit(&mut random);
        let cells = pick(&mut random, &[cells, cells.floor(), cells.floor() + 0.5]);
        let x = pick(&mut random, &[-1.0, 1.0]) * cells * beta;
        check_around(&grid, x, &mut random, &mut tally);
    }
    finish(&tally, 500_000);
}

/// The numbers people write: multiples of powers of ten, and halves between them.
#[test]
fn decimals() {
    let (mut random, mut tally) = (Random(2), Tally::default());
    for _ in 0..30_000 {
        let places = random.below(9) as i32;
        let unit = 10f64.powi(places);
        let grid =
            Grid::floats(random.below(50) as f64 / unit, (1 + random.below(12)) as f64 / unit);
        let range = 10_usize.pow(1 + random.below(12) as u32);
        let x = (random.below(range) as f64 - range as f64 / 2.0) / (unit * 10.0);
        check_around(&grid.unwrap(), x, &mut random, &mut tally);
    }
    finish(&tally, 500_000);
}

/// 0.45 - 0.35 is more than 0.1 as floats, and 0.45 lies on the border of a cell: that people's decimals are near must
/// not hang on this.
#[test]
fn decimals_are_near_as_they_are_written() {
    let mut random = Random(7);
    for _ in 0..1_000_000 {
        let unit = 10f64.powi(random.below(7) as i32);
        let (alpha, beta) = (random.below(1000) as i64, 1 + random.below(30) as i64);
        let grid = Grid::floats(alpha as f64 / unit, beta as f64 / unit).unwrap();
        let range = 10_usize.pow(1 + random.below(9) as u32);
        let x = random.below(range) as i64 - range as i64 / 2;
        for y in [x + alpha, x - alpha, x + random.below(alpha as usize + 1) as i64] {
            let cells = grid.cells(x as f64 / unit, grid.alpha()).unwrap();
            let cell = grid.cell(y as f64 / unit).unwrap();
            assert!(
                cells.contains(&cell),
                "alpha {alpha}, beta {beta}, x {x}, y {y}, in units of 1/{unit}"
            );
        }
    }
}

/// Where a quotient loses its fraction (2^51 to 2^53 cells) and where the value is lost in alpha.
#[test]
fn floats_at_the_limits_of_precision() {
    let (mut random, mut tally) = (Random(3), Tally::default());
    for _ in 0..30_000 {
        let beta =
            pick(&mut random, &[1.0, 0.125, 0.1, 1.1, 1.0 + 2f64.powi(-52), 3.3, 7.7e-5, 1e200]);
        let power = 2f64.powi(50 + random.below(4) as i32);
        let near = random.below(9) as f64 - 4.0;
        let alpha = match random.below(4) {
            0 => 0.0,
            1 => beta * unit(&mut random),
            2 => beta * random.below(100) as f64 / 2.0,
            _ => beta * power * unit(&mut random),
        };
        let Ok(grid) = Grid::floats(alpha, beta) else { continue };
        let step = alpha.next_up() - alpha;
        let x = pick(
            &mut random,
            &[
                beta * (power + near),
                beta * (power + near / 2.0),
                beta * power * 1.999,
                step * near / 4.0,
                alpha + near * step,
            ],
        );
        check_around(&grid, x, &mut random, &mut tally);
        check_around(&grid, -x, &mut random, &mut tally);
    }
    finish(&tally, 500_000);
}

#[test]
fn subnormal_floats() {
    let (mut random, mut tally) = (Random(4), Tally::default());
    let tiny = f64::from_bits(1);
    for _ in 0..20_000 {
        let some = |random: &mut Random| f64::from_bits(of_any_size(random));
        let (alpha, beta) = (some(&mut random), some(&mut random).max(tiny));
        let Ok(grid) = Grid::floats(alpha, beta) else { continue };
        let x = pick(&mut random, &[-1.0, 1.0]) * some(&mut random);
        check_around(&grid, x, &mut random, &mut tally);
    }
    finish(&tally, 100_000);
}

/// Quarters of the largest floats: the oracle must not overflow. The largest themselves are in the next test.
#[test]
fn large_floats() {
    let (mut random, mut tally) = (Random(5), Tally::default());
    for _ in 0..20_000 {
        let beta = f64::MAX / 8.0 / 2f64.powi(random.below(50) as i32) * (0.5 + unit(&mut random));
        let alpha = (beta * pick(&mut random, &[0.0, 0.5, 1.0, 3.0, 100.0])).min(f64::MAX / 16.0);
        let Ok(grid) = Grid::floats(alpha, beta) else { continue };
        let x = (unit(&mut random) - 0.5) * f64::MAX / 8.0;
        check_around(&grid, x, &mut random, &mut tally);
    }
    finish(&tally, 200_000);
}

#[test]
fn the_largest_floats_have_cells() {
    let grid = Grid::floats(f64::MAX / 4.0, f64::MAX / 1e10).unwrap();
    assert_eq!(grid.cell(f64::MAX).unwrap(), 10_000_000_000);
    assert_eq!(grid.cell(-f64::MAX).unwrap(), -10_000_000_000);
    let cells = grid.cells(f64::MAX, f64::MAX / 4.0).unwrap();
    // Beyond the floats there is nothing to be stored: the range ends somewhere behind the last cell.
    assert!(cells.contains(&10_000_000_000) && cells.contains(&7_500_000_000));
    assert!(!cells.contains(&7_499_999_990));
}

/// Every distance and resolution, at every end of the integers.
#[test]
fn integers() {
    let mut random = Random(6);
    let ends = [i64::MIN, i64::MIN / 2, -(1 << 53), -1, 0, 1, 1 << 53, i64::MAX / 2, i64::MAX];
    let mut checked = [0; 2];
    for _ in 0..200_000 {
        let (alpha, beta) = (of_any_size(&mut random), 1 + of_any_size(&mut random));
        let Ok(grid) = Grid::integers(alpha, beta) else { continue };
        let x = ends[random.below(ends.len())].saturating_add_unsigned(of_any_size(&mut random));
        let cells = grid.cells(x, alpha as f64).unwrap();
        let asked = cells.end().abs_diff(*cells.start()) + 1;
        assert!(asked <= grid.most_cells(), "{alpha} {beta} {x}");
        for edge in [alpha, alpha + beta, beta, random.below(1 << 30) as u64] {
            for step in [-1, 0, 1] {
                for y in [x.checked_add_unsigned(edge), x.checked_sub_unsigned(edge)] {
                    let Some(y) = y.and_then(|y| y.checked_add(step)) else { continue };
                    let found = cells.contains(&grid.cell(y).unwrap());
                    let what = || format!("alpha {alpha}, beta {beta}, x {x}, y {y}");
                    if x.abs_diff(y) <= alpha {
                        assert!(found, "{}", what());
                        checked[0] += 1;
                    } else if x.abs_diff(y) >= alpha + beta {
                        assert!(!found, "{}", what());
                        checked[1] += 1;
                    }
                }
            }
        }
    }
    assert!(checked.iter().all(|&count| count > 500_000), "{checked:?}");
}

/// Floor would not do: 66 892 of these 400 001 decimals would fall into the cell before their own.
#[test]
fn a_multiple_of_beta_has_its_own_cell() {
    let grid = Grid::floats(0.0, 0.1).unwrap();
    for k in -200_000..=200_000_i64 {
        assert_eq!(grid.cell(k as f64 / 10.0).unwrap(), k);
    }
}

#[test]
fn negative_zero_is_zero() {
    let grid = Grid::floats(0.3, 0.1).unwrap();
    assert_eq!(grid.cell(-0.0).unwrap(), 0);
    assert_eq!(grid.cells(-0.0, 0.3).unwrap(), grid.cells(0.0, 0.3).unwrap());
    assert_eq!(Grid::floats(-0.0, 0.1).unwrap(), Grid::floats(0.0, 0.1).unwrap());
}

fn refusal(result: umbel::Result<impl std::fmt::Debug>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn what_has_no_cell_is_refused() {
    let grid = Grid::floats(5.0, 1.0).unwrap();
    for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(refusal(grid.cell(x)).contains("leave it out"));
        assert!(refusal(grid.cells(x, 5.0)).contains("leave it out"));
    }
    for x in [LIMIT, -LIMIT, 1e300] {
        assert!(refusal(grid.cell(x)).contains("take a larger beta"));
        assert!(refusal(grid.cells(x, 5.0)).contains("take a larger beta"));
    }
    assert_eq!(grid.cell(LIMIT.next_down()).unwrap(), LIMIT as i64 - 1);
    assert_eq!(grid.cell((-LIMIT).next_up()).unwrap(), 1 - LIMIT as i64);
}

/// A number of the other type is taken where it is the same number, and refused where it is not.
#[test]
fn types_are_kept_apart() {
    let (floats, integers) = (Grid::floats(5.0, 1.0).unwrap(), Grid::integers(5, 1).unwrap());
    assert_eq!(floats.cell(7).unwrap(), 7);
    assert_eq!(integers.cell(7.0).unwrap(), 7);
    assert_eq!(integers.cell(-0.0).unwrap(), 0);
    assert_eq!(integers.cell(-(2f64.powi(63))).unwrap(), i64::MIN);
    assert!(refusal(integers.cell(7.5)).contains("7.5 is none"));
    assert!(refusal(integers.cell(2f64.powi(63))).contains("is none"));
    assert!(refusal(integers.cell(f64::NAN)).contains("leave it out"));
    let wide = Grid::floats(5.0, 1000.0).unwrap();
    assert_eq!(wide.cell(1_i64 << 60).unwrap(), (2f64.powi(60) / 1000.0).round() as i64);
    assert!(refusal(wide.cell((1_i64 << 60) + 1)).contains("no float equals"));
    assert!(refusal(wide.cell(Number::Integer(i64::MAX))).contains("no float equals"));
}

#[test]
fn a_smaller_distance_may_be_asked_and_no_other() {
    let grid = Grid::floats(5.0, 1.0).unwrap();
    assert_eq!(grid.cells(10.0, 2.0).unwrap(), 8..=12);
    assert_eq!(grid.cells(10.0, 0.0).unwrap(), 10..=10);
    for alpha in [5.1, f64::INFINITY, f64::NAN, -1.0] {
        assert!(refusal(grid.cells(10.0, alpha)).contains("from 0 to 5"), "{alpha}");
    }
    let grid = Grid::integers(5, 1).unwrap();
    assert_eq!(grid.cells(10, 2.5).unwrap(), 8..=12);
}

#[test]
fn grids_that_cannot_be_are_refused() {
    for beta in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(refusal(Grid::floats(1.0, beta)).contains("beta, the resolution"), "{beta}");
    }
    for alpha in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(refusal(Grid::floats(alpha, 1.0)).contains("alpha, the distance"), "{alpha}");
    }
    assert!(refusal(Grid::floats(1e16, 1.0)).contains("larger beta"));
    assert!(refusal(Grid::integers(1 << 60, 1)).contains("2^53"));
    assert!(refusal(Grid::integers(1, 0)).contains("beta, the resolution"));
}
