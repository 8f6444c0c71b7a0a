//! Whether what must be reached is reached.

use std::fmt;

use super::RATE;
use super::course::Measured;

/// All that was measured.
#[derive(Default)]
pub struct Judge(Vec<(usize, u64, Measured)>);

/// The one static structure to beat a sorted array, where it is hardest.
const HARDEST: (usize, u64) = (1_000_000, 1000);

impl Judge {
    pub fn take(&mut self, n: usize, ratio: u64, measured: Measured) {
        self.0.push((n, ratio, measured));
    }

    fn find(&self, n: usize, ratio: u64, name: &str) -> &Measured {
        let found =
            self.0.iter().find(|(m, r, measured)| (*m, *r, measured.name) == (n, ratio, name));
        &found.expect("every candidate ran").2
    }

    /// Absent and present, as a multiple of another's.
    fn times(&self, n: usize, ratio: u64, ours: &str, other: &str) -> [f64; 2] {
        let (ours, other) = (self.find(n, ratio, ours), self.find(n, ratio, other));
        [ours.absent / other.absent, ours.present / other.present]
    }
}

impl fmt::Display for Judge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = |reached: bool| if reached { "yes" } else { "NO" };
        let (n, ratio) = HARDEST;
        for name in ["Grafite list, batch", "Grafite list"] {
            let [absent, present] = self.times(n, ratio, name, "sorted Vec");
            let bits = self.find(n, ratio, name).bits;
            let reached = absent <= 0.6 && present <= 0.6 && bits <= 20.5;
            writeln!(
                f,
                "{name}, 1 M values, alpha/beta 1000: {absent:.2}/{present:.2} × the time of a sorted Vec at {bits:.2} bits \
                 (≤ 0.6 at ≤ 20.5): {}",
                verdict(reached)
            )?;
        }
        for (ours, fixed) in
            [("growing filter", "Grafite list"), ("growing filter, batch", "Grafite list, batch")]
        {
            let times =
                self.0.iter().filter(|(_, ratio, measured)| *ratio <= 100 && measured.name == ours);
            let slowest = times
                .flat_map(|(n, ratio, _)| self.times(*n, *ratio, ours, fixed))
                .fold(0.0, f64::max);
            writeln!(
                f,
                "{ours}, alpha/beta ≤ 100: at most {slowest:.1} × the time of the {fixed} (≤ 5): {}",
                verdict(slowest <= 5.0)
            )?;
        }
        let ours = |name: &str| {
            name.starts_with("growing") || name.starts_with("Grafite") || name.starts_with("exact")
        };
        let above = self
            .0
            .iter()
            .filter(|(_, _, measured)| ours(measured.name) && measured.interval().0 > RATE);
        let above: Vec<String> =
            above.map(|(n, ratio, measured)| format!("{} ({n}, {ratio})", measured.name)).collect();
        writeln!(
            f,
            "no interval of our rates above {RATE}: {} {}",
            verdict(above.is_empty()),
            above.join(", ")
        )
    }
}
