//! The rate of false positives of whole questions. All values are fixed: nothing here is left to chance.

#![allow(clippy::unwrap_used)]

mod support;

use support::numbers::built;
use support::random::{Random, integers};
use umbel::near::{Grid, Near, Number, Structure};

const FILTERS: [Structure; 3] = [Structure::GrafiteList, Structure::OneLevel, Structure::TwoLevels];

/// Values in ascending order; questions that have none near them.
struct Course {
    values: Vec<i64>,
    alpha: i64,
}

impl Course {
    fn has_neighbour(&self, x: i64) -> bool {
        let at = self.values.partition_point(|&y| y < x - self.alpha);
        self.values.get(at).is_some_and(|&y| y <= x + self.alpha)
    }

    /// Questions anywhere.
    fn far(&self, count: usize, bits: u32) -> Vec<i64> {
        let asked = Random(77).map(|x| (x >> (64 - bits)) as i64);
        asked.filter(|&x| !self.has_neighbour(x)).take(count).collect()
    }

    /// Questions that just miss a value: by one cell and up to 64.
    fn near(&self, count: usize) -> Vec<i64> {
        let mut random = Random(78);
        let miss = std::iter::from_fn(|| {
            let y = self.values[random.below(self.values.len())];
            let off = self.alpha + 1 + random.below(64) as i64;
            Some(if random.below(2) == 0 { y - off } else { y + off })
        });
        miss.filter(|&x| !self.has_neighbour(x)).take(count).collect()
    }

    fn built(&self, structure: Structure, p: f64) -> Near {
        let values: Vec<Number> = self.values.iter().map(|&y| y.into()).collect();
        built(Grid::integers(self.alpha as u64, 1).unwrap(), &values, structure, p)
    }
}

fn spread(n: usize, alpha: i64) -> Course {
    let mut values: Vec<i64> = integers(1, n).iter().map(|x| (x >> 24) as i64).collect();
    values.sort();
    Course { values, alpha }
}

fn admitted(near: &Near, asked: &[i64]) -> f64 {
    let mut answers = vec![false; asked.len()];
    near.contains_batch(asked, &mut answers).unwrap();
    answers.iter().filter(|&&answer| answer).count() as f64
}

/// How many standard deviations of a binomial count this one lies from the rate.
fn deviations(count: f64, tries: usize, rate: f64) -> f64 {
    let expected = tries as f64 * rate;
    assert!(expected > 50.0, "too few questions for a rate of {rate}");
    (count - expected) / (expected * (1.0 - rate)).sqrt()
}

/// The rate that the structure itself must have: of codes that cover their share, of bits that are set.
fn rate_of(near: &Near) -> f64 {
    match near.structure() {
        // n ranges of L codes, laid down at random, cover this share of them.
        Structure::GrafiteList => -(-near.expected_rate_now()).exp_m1(),
        _ => near.expected_rate_now(),
    }
}

#[test]
fn the_rate_holds_for_the_whole_question() {
    for ratio in [1, 10, 100, 1000] {
        let course = spread(50_000, ratio);
        for (p, tries) in [(0.1, 100_000), (0.01, 300_000), (0.001, 1_000_000)] {
            let (far, near) = (course.far(tries, 40), course.near(tries / 2));
            for structure in FILTERS {
                let built = course.built(structure, p);
                let what = |name| format!("{structure}, alpha/beta {ratio}, p {p}, {name}");
                for (asked, name) in [(&far, "far"), (&near, "near")] {
                    let count = admitted(&built, asked);
                    let above = deviations(count, asked.len(), p);
                    assert!(above <= 3.5, "{}: {above:.1} sd above", what(name));
                    // Where a coarse level says most noes, the rate is far lower.
                    if structure != Structure::TwoLevels {
                        let off = deviations(count, asked.len(), rate_of(&built));
                        assert!(off.abs() <= 4.0, "{}: {off:.1} sd off", what(name));
                    }
                }
                // The rate by the bits is that asked for, but for the spread of the filling.
                let (size, n) = (built.bits() as f64, course.values.len() as f64);
                let spread = (20.0 / (size * n).sqrt()).max(4.0 * 20.0 * 0.4 / size.sqrt());
                let rate = built.expected_rate_now();
                assert!((rate / p - 1.0).abs() <= spread, "{}: {rate}", what("bits"));
            }
        }
    }
}

/// Few values in few lines; values without gaps, whole blocks of them; questions in a crowd. The mean over seeds
/// counts: one seed may be lucky or not.
#[test]
fn the_rate_holds_for_crowds() {
    let crowd = |places: u64, width: i64, gap: i64| {
        let place = |i: u64| (integers(3, places as usize)[i as usize] >> 24) as i64;
        let mut values: Vec<i64> =
            (0..places).flat_map(|i| (0..width).map(move |j| place(i) + j * gap)).collect();
        values.sort();
        values.dedup();
        values
    };
    for ratio in [1, 10, 100] {
        for (values, name) in [
            (crowd(1, 3000, 1), "one run"),
            (crowd(20, 200, 1), "runs"),
            (crowd(5, 1000, 64), "multiples of 64"),
            (crowd(5, 1000, 512), "multiples of 512"),
            (crowd(40, 3, 7), "few"),
            (crowd(1, 3000, 2 * ratio), "a region where every question is near one"),
        ] {
            let course = Course { values, alpha: ratio };
            // A crowd of questions, far from the values and wide enough for some blocks.
            let asked: Vec<i64> = (0..3000)
                .map(|i| (1 << 39) + ratio.max(3) * i)
                .filter(|&x| !course.has_neighbour(x))
                .collect();
            let numbers: Vec<Number> = course.values.iter().map(|&y| y.into()).collect();
            for structure in FILTERS {
                let seeds = 400;
                let mut rates = Vec::new();
                for seed in 0..seeds {
                    let mut builder =
                        umbel::near::Builder::new(Grid::integers(ratio as u64, 1).unwrap())
                            .with_seed(seed);
                    builder.extend(numbers.iter().copied()).unwrap();
                    let near = builder.build_as(structure, 0.05).unwrap();
                    rates.push(admitted(&near, &asked) / asked.len() as f64);
                }
                let mean = rates.iter().sum::<f64>() / seeds as f64;
                let variance =
                    rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / seeds as f64;
                let above = (mean - 0.05) / (variance / seeds as f64).sqrt().max(1e-9);
                assert!(
                    above <= 3.5,
                    "{structure}, {name}, alpha/beta {ratio}: {mean:.4}, {above:.1} sd above"
                );
                // With blocks as long as there are codes, a crowd of values would meet that of questions or miss it.
                let worst = rates.iter().copied().fold(0.0, f64::max);
                assert!(worst < 0.6, "{structure}, {name}, alpha/beta {ratio}: {worst}");
            }
        }
    }
}

/// Floats that are not multiples of beta ask for fewer cells than L, mostly.
#[test]
fn the_rate_holds_for_floats() {
    let beta = 0.01;
    for ratio in [0.0, 1.0, 2.5, 10.0, 333.3] {
        let grid = Grid::floats(ratio * beta, beta).unwrap();
        let unit = |x: &u64| (x >> 11) as f64 / 2f64.powi(53) * 1e9;
        let mut values: Vec<f64> = integers(1, 20_000).iter().map(unit).collect();
        values.sort_by(f64::total_cmp);
        let reach = grid.alpha() + 1.001 * beta;
        let asked: Vec<f64> = integers(2, 400_000).iter().map(unit).collect();
        let has_none = |x: &&f64| {
            let at = values.partition_point(|&y| y < **x - reach);
            values.get(at).is_none_or(|&y| y > **x + reach)
        };
        let asked: Vec<f64> = asked.iter().filter(has_none).copied().collect();
        let numbers: Vec<Number> = values.iter().map(|&y| y.into()).collect();
        for structure in FILTERS {
            let near = built(grid, &numbers, structure, 0.01);
            let count = asked.iter().filter(|&&x| near.contains(x).unwrap()).count() as f64;
            let above = deviations(count, asked.len(), 0.01);
            assert!(above <= 3.5, "{structure}, alpha/beta {ratio}: {above:.1} sd above");
            let share = count / asked.len() as f64 / 0.01;
            // 2 alpha/beta + 1 cells of L, on average.
            let cells = (2.0 * ratio + 1.0) / grid.most_cells() as f64;
            let low = structure == Structure::TwoLevels || (share / cells - 1.0).abs() < 0.1;
            assert!(low, "{structure}, alpha/beta {ratio}: {share:.3} of p for {cells:.3} of L");
        }
    }
}

/// A smaller distance asks for fewer cells, and is wrong less often.
#[test]
fn smaller_distances_are_wrong_less_often() {
    let course = spread(50_000, 100);
    let asked = course.far(300_000, 40);
    for structure in [Structure::GrafiteList, Structure::OneLevel] {
        let near = course.built(structure, 0.01);
        let mut answers = vec![false; asked.len()];
        near.contains_batch_within(&asked, 10.0, &mut answers).unwrap();
        let count = answers.iter().filter(|&&answer| answer).count() as f64;
        let off = deviations(count, asked.len(), 0.01 * 21.0 / 201.0);
        assert!(off.abs() < 5.0, "{structure}: {off}");
    }
}
