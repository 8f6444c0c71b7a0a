//! Bits a key, and the rate they really give, for both layouts.

use umbel::{Bloom, Keys, Layout, Params, Sizing};

use crate::keys::{Kind, Store};

use super::{Plan, Report, Row, Verdict};

/// Strangers asked.
const STRANGERS: usize = 20_000_000;

pub fn run(plan: &Plan, report: &mut Report) {
    let mut strangers = None;
    for layout in [Layout::Blocked, Layout::Classic] {
        for rate in [0.01, 0.001] {
            for (n, name) in [(100_000, "100 K"), (1_000_000, "1 M"), (10_000_000, "10 M")] {
                let work = format!("space {layout} {} % {name}", 100.0 * rate);
                if plan.wants(&work) {
                    let strangers = strangers.get_or_insert_with(|| Kind::U64.misses(STRANGERS));
                    let measured = Space::measure(layout, n, rate, strangers);
                    report.row(measured.row(work, layout, rate));
                }
            }
        }
    }
}

struct Space {
    bits: f64,
    /// The share of strangers that were admitted.
    measured: f64,
    /// The share that the filter's bits admit.
    computed: f64,
}

impl Space {
    fn measure(layout: Layout, n: usize, rate: f64, strangers: &Store) -> Space {
        let sizing = match layout {
            Layout::Blocked => Sizing::blocked(n as u64, rate),
            Layout::Classic => Sizing::classic(n as u64, rate),
        };
        let sizing = sizing.expect("the size can be had");
        let mut bloom = Bloom::with(Params::new(sizing)).expect("there is memory");
        let members = Kind::U64.members(n);
        let (Store::U64(members), Store::U64(strangers)) = (&members, strangers) else {
            unreachable!("these are integers")
        };
        bloom.insert_batch(Keys::U64(members)).expect("xxh3 takes integers");
        let mut found = vec![0; strangers.len().div_ceil(64)];
        bloom.contains_mask(Keys::U64(strangers), &mut found).expect("answers fit");
        let admitted: u64 = found.iter().map(|word| u64::from(word.count_ones())).sum();
        Space {
            bits: sizing.bits_per_key(),
            measured: admitted as f64 / strangers.len() as f64,
            computed: bloom.expected_rate_now(),
        }
    }

    fn row(&self, work: String, layout: Layout, rate: f64) -> Row {
        let (bits, slack) = match (layout, rate) {
            (Layout::Blocked, 0.01) => (10.15, 1.0),
            (Layout::Blocked, _) => (15.8, 1.0),
            (Layout::Classic, 0.01) => (9.59, 1.008),
            (Layout::Classic, _) => (14.38, 1.008),
        };
        let most = slack * rate;
        // Of the sampling and, for the smallest filters as large again, of the filling.
        let deviation = (2.0 * most / STRANGERS as f64).sqrt();
        let verdict = if self.bits >= bits + 0.005 || self.measured > most + 3.0 * deviation {
            Verdict::No
        } else if self.measured > most {
            Verdict::Noise
        } else {
            Verdict::Yes
        };
        Row {
            work,
            ours: format!("{:.3} × the rate asked", self.measured / rate),
            peer: format!("from its bits {:.3} ×", self.computed / rate),
            bits: Some(self.bits),
            rate: Some(self.measured),
            must: format!("≤ {bits} bits, ≤ {slack} × rate"),
            verdict: Some(verdict),
            ..Row::default()
        }
    }
}
