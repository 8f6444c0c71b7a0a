//! Candidates run in turn, several rounds, and the best time of each counts: the machine is shared.

use std::hint::black_box;
use std::time::Instant;

use crate::candidate::{Candidate, Role};
use crate::keys::Keys;

/// What is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// All members into an empty structure.
    Insert,
    /// Members, from an array that streams by.
    Hit,
    /// Strangers, likewise.
    Miss,
    /// A few thousand members again and again: the lookup without the streaming of keys.
    Near,
}

impl Work {
    pub fn name(self) -> &'static str {
        match self {
            Work::Insert => "insert",
            Work::Hit => "hit",
            Work::Miss => "miss",
            Work::Near => "hit, 16 K keys again and again",
        }
    }
}

/// Members asked again and again by [`Work::Near`].
const NEAR: usize = 16 << 10;
/// A candidate this many times slower than the best peer is not run again, after a few rounds, or at once where a
/// run takes long.
const HOPELESS: f64 = 3.0;
const A_FEW: usize = 5;
/// Nanoseconds that are long.
const LONG: f64 = 2e8;

/// The keys of a race.
pub struct Course<'a> {
    pub members: Keys<'a>,
    pub hits: Keys<'a>,
    pub misses: Keys<'a>,
}

/// A candidate and what it has reached, in nanoseconds a key.
pub struct Runner {
    pub candidate: Box<dyn Candidate>,
    best: [f64; 4],
    admitted: usize,
}

impl Runner {
    pub fn time(&self, work: Work) -> f64 {
        self.best[work as usize]
    }

    fn run(&mut self, work: Work, course: &Course) {
        let candidate = &mut self.candidate;
        let (nanoseconds, keys) = match work {
            Work::Insert => {
                candidate.reset();
                let start = Instant::now();
                candidate.insert(black_box(course.members));
                (start.elapsed().as_nanos(), course.members.len())
            }
            Work::Hit | Work::Near => {
                let near = course.hits.first(NEAR);
                let (keys, times) = match work {
                    Work::Near => (near, course.hits.len() / near.len()),
                    _ => (course.hits, 1),
                };
                let start = Instant::now();
                let found: usize = (0..times).map(|_| candidate.count(black_box(keys))).sum();
                let time = start.elapsed().as_nanos();
                assert_eq!(found, keys.len() * times, "{} lost a key", candidate.name());
                (time, found)
            }
            Work::Miss => {
                let start = Instant::now();
                self.admitted = candidate.count(black_box(course.misses));
                (start.elapsed().as_nanos(), course.misses.len())
            }
        };
        let time = nanoseconds as f64 / keys as f64;
        let best = &mut self.best[work as usize];
        *best = best.min(time);
    }
}

/// A finished race.
pub struct Race {
    pub runners: Vec<Runner>,
    members: usize,
    misses: usize,
}

impl Race {
    /// Runs every candidate through all of the work, in turn, `rounds` times. Another one begins each time: whoever is first
    /// brings the keys into the cache for the others.
    pub fn run(
        candidates: Vec<Box<dyn Candidate>>,
        works: &[Work],
        course: &Course,
        rounds: usize,
    ) -> Race {
        let runner = |candidate| Runner { candidate, best: [f64::INFINITY; 4], admitted: 0 };
        let mut runners: Vec<Runner> = candidates.into_iter().map(runner).collect();
        for round in 0..rounds {
            for &work in works {
                let peers = runners.iter().filter(|r| r.candidate.role() == Role::Peer);
                let best = peers.map(|r| r.time(work)).fold(f64::INFINITY, f64::min);
                let first = round % runners.len();
                let (before, from_first) = runners.split_at_mut(first);
                for runner in from_first.iter_mut().chain(before) {
                    let time = runner.time(work);
                    let ours = matches!(runner.candidate.role(), Role::Batch | Role::One);
                    let long = round >= A_FEW || time * course.hits.len() as f64 > LONG;
                    if round == 0 || ours || !(long && time > HOPELESS * best) {
                        runner.run(work, course);
                    }
                }
            }
        }
        Race { runners, members: course.members.len(), misses: course.misses.len() }
    }

    /// The fastest of a role.
    pub fn best(&self, role: Role, work: Work) -> Option<&Runner> {
        let of_role = self.runners.iter().filter(|runner| runner.candidate.role() == role);
        of_role.min_by(|a, b| a.time(work).total_cmp(&b.time(work)))
    }

    /// Bits a key.
    pub fn bits(&self, runner: &Runner) -> f64 {
        (8 * runner.candidate.bytes()) as f64 / self.members as f64
    }

    /// The share of strangers that were admitted.
    pub fn rate(&self, runner: &Runner) -> f64 {
        runner.admitted as f64 / self.misses as f64
    }
}
