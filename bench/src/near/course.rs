//! The values, the questions, and the clock.

use std::fmt;
use std::hint::black_box;
use std::time::Instant;

use umbel::audit::{CONFIDENCE, Counts};

use crate::keys::scramble;

use super::Candidate;

/// Values and questions lie below 2^40.
const BITS: u32 = 40;
/// Questions of each sort for the clock, and strangers for the rate.
const QUESTIONS: usize = 200_000;
const STRANGERS: usize = 1_000_000;
/// Rounds, the best of which counts: the machine is shared.
const ROUNDS: usize = 10;
/// Rounds of those for which even the fewest questions take long.
const ROUNDS_OF_SLOW: usize = 2;
/// Slow candidates are asked less: about this many nanoseconds a round, ten times as long for the rate, but never with
/// fewer questions than these.
const ROUND: f64 = 20e6;
const FEWEST: usize = 20;

/// `n` integers.
pub fn values(n: usize) -> Vec<i64> {
    (0..n as u64).map(|i| (scramble(i) >> (64 - BITS)) as i64).collect()
}

/// Questions without a neighbour, and with one.
pub struct Course {
    alpha: u64,
    n: usize,
    absent: Vec<i64>,
    present: Vec<i64>,
    strangers: Vec<i64>,
}

impl Course {
    pub fn new(values: &[i64], alpha: u64) -> Course {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        let reach = alpha as i64;
        let is_absent = |x: &i64| {
            let at = sorted.partition_point(|&y| y < x - reach);
            sorted.get(at).is_none_or(|&y| y > x + reach)
        };
        let anywhere = (0..).map(|i| (scramble((1 << 40) + i) >> (64 - BITS)) as i64);
        let mut absent = anywhere.filter(is_absent);
        let near = |i: u64| {
            let off = scramble((1 << 41) + i) % (2 * alpha + 1);
            values[(i * 982_451_653 % values.len() as u64) as usize] + off as i64 - reach
        };
        Course {
            alpha,
            n: values.len(),
            absent: absent.by_ref().take(QUESTIONS).collect(),
            present: (0..QUESTIONS as u64).map(near).collect(),
            strangers: absent.take(STRANGERS).collect(),
        }
    }

    /// Runs all candidates in turn.
    pub fn run(&self, candidates: &[&dyn Candidate]) -> Vec<Measured> {
        let mut all: Vec<Measured> =
            candidates.iter().map(|&candidate| self.begin(candidate)).collect();
        for round in 0..ROUNDS {
            for (&candidate, measured) in candidates.iter().zip(&mut all) {
                let count = measured.questions;
                if count == FEWEST && round >= ROUNDS_OF_SLOW {
                    continue;
                }
                let (time, _) = self.time_warm(candidate, &self.absent[..count]);
                measured.absent = measured.absent.min(time);
                let (time, found) = self.time_warm(candidate, &self.present[..count]);
                measured.present = measured.present.min(time);
                assert_eq!(found, count, "{} lost a value", measured.name);
            }
        }
        all
    }

    /// How often a candidate is wrong, and how many questions it is worth.
    fn begin(&self, candidate: &dyn Candidate) -> Measured {
        let (time, _) = self.time(candidate, &self.strangers[..FEWEST]);
        let (time, _) =
            self.time(candidate, &self.strangers[..fitting(ROUND / 10.0 / time, QUESTIONS)]);
        let strangers = &self.strangers[..fitting(10.0 * ROUND / time, STRANGERS)];
        let (_, found) = self.time(candidate, strangers);
        let true_negatives = (strangers.len() - found) as u64;
        Measured {
            name: candidate.name(),
            bits: 8.0 * candidate.bytes() as f64 / self.n as f64,
            absent: f64::INFINITY,
            present: f64::INFINITY,
            counts: Counts { false_positives: found as u64, true_negatives, ..Counts::default() },
            questions: fitting(ROUND / time, QUESTIONS),
        }
    }

    /// The same with the candidate in the caches as far as it fits: the one before has driven it out.
    fn time_warm(&self, candidate: &dyn Candidate, questions: &[i64]) -> (f64, usize) {
        self.time(candidate, questions);
        self.time(candidate, questions)
    }

    /// Nanoseconds a question, and how many were answered "yes".
    fn time(&self, candidate: &dyn Candidate, questions: &[i64]) -> (f64, usize) {
        let start = Instant::now();
        let found = candidate.count(black_box(questions), self.alpha);
        (start.elapsed().as_nanos() as f64 / questions.len() as f64, found)
    }
}

fn fitting(questions: f64, most: usize) -> usize {
    (questions as usize).clamp(FEWEST, most)
}

/// What a candidate reached.
#[derive(Clone)]
pub struct Measured {
    pub name: &'static str,
    /// Bits a value.
    pub bits: f64,
    /// Nanoseconds.
    pub absent: f64,
    pub present: f64,
    counts: Counts,
    questions: usize,
}

impl Measured {
    /// The interval of the rate.
    pub fn interval(&self) -> (f64, f64) {
        self.counts.interval(CONFIDENCE)
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rate = 100.0 * self.counts.rate().unwrap_or(0.0);
        // No more digits than there were questions for.
        let digits = if self.counts.strangers() > 100_000 { 3 } else { 1 };
        write!(f, "{:.1} · {:.0}/{:.0}", self.bits, self.absent, self.present)?;
        if rate > 0.0 { write!(f, " · {rate:.digits$}") } else { Ok(()) }
    }
}
