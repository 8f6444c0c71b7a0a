//! "Is something close stored?": umbel's filter beside a scan and an index, on the same items in the same run.
//!
//! Half of the questions have one stored item just within the close distance; the others are unrelated to all. A scan and an index know
//! distances: they say "close" up to the middle between close and far.

mod heap;
mod strings;
mod texts;
mod vectors;

use std::time::Instant;

use crate::table::Table;

/// A way to search.
struct Candidate<'a, Q> {
    name: &'static str,
    /// Seconds to build it.
    build: f64,
    /// Bytes an item.
    bytes: f64,
    /// Whether something close is stored.
    ask: Box<dyn Fn(&Q) -> bool + 'a>,
}

/// The questions and what is known of them.
struct Questions<Q> {
    /// With one stored item just close.
    close: Vec<Q>,
    /// Unrelated to all.
    far: Vec<Q>,
}

/// Runs the items that are named, or all, and prints a table for each.
pub fn run(names: &[String]) {
    let wanted = |name: &str| names.is_empty() || names.iter().any(|wanted| wanted == name);
    if wanted("vectors") {
        println!("{}", vectors::run());
    }
    if wanted("strings") {
        println!("{}", strings::run());
    }
    if wanted("texts") {
        println!("{}", texts::run());
    }
}

/// Asks everybody the same questions.
fn compare<Q>(title: &str, candidates: &[Candidate<'_, Q>], questions: &Questions<Q>) -> Table {
    let heading = [title, "bytes an item", "build s", "µs a question", "found %", "wrong yes %"];
    let mut table = Table::new(&heading);
    for candidate in candidates {
        let start = Instant::now();
        let yes = |asked: &[Q]| asked.iter().filter(|item| (candidate.ask)(item)).count();
        let (found, wrong) = (yes(&questions.close), yes(&questions.far));
        let all = questions.close.len() + questions.far.len();
        let share =
            |count: usize, of: &[Q]| format!("{:.1}", 100.0 * count as f64 / of.len() as f64);
        table.push(vec![
            candidate.name.into(),
            format!("{:.0}", candidate.bytes),
            format!("{:.2}", candidate.build),
            format!("{:.1}", 1e6 * start.elapsed().as_secs_f64() / all as f64),
            share(found, &questions.close),
            share(wrong, &questions.far),
        ]);
        eprintln!("{title}, {}: done", candidate.name);
    }
    table
}

/// A value and how long it took to make.
fn timed<T>(make: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let made = make();
    (made, start.elapsed().as_secs_f64())
}
