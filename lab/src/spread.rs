//! What repeated measurements come to.

use crate::page::number::plain;

/// The mean, the median, and an interval that holds the true median.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    pub mean: f64,
    pub median: f64,
    /// The second smallest and the second greatest, which hold the true median in 98 of 100 such sets of ten; below ten, the
    /// smallest and the greatest.
    pub low: f64,
    pub high: f64,
}

impl Spread {
    pub fn of(mut numbers: Vec<f64>) -> Option<Spread> {
        numbers.sort_by(f64::total_cmp);
        let n = numbers.len();
        if n == 0 {
            return None;
        }
        let outer = usize::from(n >= 10);
        Some(Spread {
            mean: numbers.iter().sum::<f64>() / n as f64,
            median: (numbers[(n - 1) / 2] + numbers[n / 2]) / 2.0,
            low: numbers[outer],
            high: numbers[n - 1 - outer],
        })
    }

    /// Mean, median and interval in one cell, in another unit; one number where they do not differ.
    pub fn text(self, by: f64) -> String {
        let Spread { mean, median, low, high } = self.scaled(by);
        if low == high && mean == median {
            return plain(mean);
        }
        format!("{} · {} · {}–{}", plain(mean), plain(median), plain(low), plain(high))
    }

    /// The same in another unit.
    pub fn scaled(self, by: f64) -> Spread {
        let Spread { mean, median, low, high } = self;
        Spread { mean: mean * by, median: median * by, low: low * by, high: high * by }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_ten_the_outermost_are_left_out_of_the_interval() {
        let spread = Spread::of((1..=10).rev().map(f64::from).collect());
        assert_eq!(spread, Some(Spread { mean: 5.5, median: 5.5, low: 2.0, high: 9.0 }));
        let spread = Spread::of(vec![3.0, 1.0, 8.0]);
        assert_eq!(spread, Some(Spread { mean: 4.0, median: 3.0, low: 1.0, high: 8.0 }));
        assert_eq!(Spread::of(Vec::new()), None);
    }
}
