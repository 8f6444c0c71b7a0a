//! Whether what must be reached is reached.

use std::fmt;

use super::RATE;
use super::course::Measured;

/// All that was measured.
#[derive(Default)]
pub struct Judge(Vec<Row>);

struct Row {
    n: usize,
    ratio: u64,
    measured: Measured,
}

impl Judge {
    pub fn take(&mut self, n: usize, ratio: u64, measured: Measured) {
        self.0.push(Row { n, ratio, measured });
    }

    fn find(&self, n: usize, ratio: u64, name: &str) -> Option<&Measured> {
        let is = |row: &&Row| (row.n, row.ratio, row.measured.name) == (n, ratio, name);
        self.0.iter().find(is).map(|row| &row.measured)
    }

    /// Absent and present, as a multiple of another's.
    fn times(&self, n: usize, ratio: u64, ours: &str, other: &str) -> Option<[f64; 2]> {
        let (ours, other) = (self.find(n, ratio, ours)?, self.find(n, ratio, other)?);
        Some([ours.absent / other.absent, ours.present / other.present])
    }

    /// The filter against a sorted array, where its questions are widest.
    fn against_sorted(&self, name: &str) -> Option<String> {
        let (n, ratio) = (1_000_000, 1000);
        let [absent, present] = self.times(n, ratio, name, "sorted Vec")?;
        let bits = self.find(n, ratio, name)?.bits;
        Some(format!(
            "{name}, 1M values, alpha/beta 1000: {absent:.2}/{present:.2} × the time of a sorted Vec, {bits:.2} bits \
             (≤ 0.6, ≤ 20.5): {}",
            verdict(absent <= 0.6 && present <= 0.6 && bits <= 20.5)
        ))
    }

    /// The slowest that the growing filter is against the fixed one.
    fn growing(&self, suffix: &str) -> f64 {
        let (ours, fixed) = (format!("growing filter{suffix}"), format!("Grafite list{suffix}"));
        let rows = self.0.iter().filter(|row| row.ratio <= 100 && row.measured.name == ours);
        let times = rows.filter_map(|row| self.times(row.n, row.ratio, &ours, &fixed));
        times.flatten().fold(0.0, f64::max)
    }

    /// Our structures whose rate is above the one asked for.
    fn above(&self) -> Vec<String> {
        let ours = ["growing", "Grafite", "exact"];
        let above = self.0.iter().filter(|Row { measured, .. }| {
            ours.iter().any(|ours| measured.name.starts_with(ours)) && measured.interval().0 > RATE
        });
        above.map(|row| format!("{} ({}, {})", row.measured.name, row.n, row.ratio)).collect()
    }
}

fn verdict(reached: bool) -> &'static str {
    if reached { "yes" } else { "NO" }
}

impl fmt::Display for Judge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in ["Grafite list", "Grafite list, batch"].map(|name| self.against_sorted(name)) {
            line.map_or(Ok(()), |line| writeln!(f, "{line}"))?;
        }
        let (one, batch) = (self.growing(""), self.growing(", batch"));
        writeln!(
            f,
            "growing filter, alpha/beta ≤ 100: at most {one:.1} × the time of the Grafite list (≤ 5): {}; in batches {batch:.1} ×",
            verdict(one <= 5.0)
        )?;
        let above = self.above();
        writeln!(
            f,
            "no interval of our rates above {RATE}: {} {}",
            verdict(above.is_empty()),
            above.join(", ")
        )
    }
}
