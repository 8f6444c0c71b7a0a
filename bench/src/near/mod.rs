//! "Is there one within alpha?": umbel's structures beside other ways to search, on the same values in the same run.
//!
//! Values are integers, spread evenly over 2^40, and beta is 1, so that cells are the values themselves and every way
//! answers the same question. The rate asked for is 1 % for the whole question.

mod course;
mod judge;
mod others;
mod ours;

use course::Course;
use judge::Judge;

use crate::table::Table;

/// The rate asked for.
const RATE: f64 = 0.01;
const RATIOS: [u64; 4] = [1, 10, 100, 1000];
const SIZES: [(usize, &str); 3] = [(10_000, "10K"), (1_000_000, "1M"), (10_000_000, "10M")];

/// A way to search. It holds the values of a course.
trait Candidate {
    fn name(&self) -> &'static str;
    /// Bytes of memory the answers come from.
    fn bytes(&self) -> usize;
    /// How many of the questions are answered "yes".
    fn count(&self, questions: &[i64], alpha: u64) -> usize;
}

/// Runs the sizes and the ratios that are named, or all, and prints a table for each size.
pub fn run(names: &[String]) {
    let mut judge = Judge::default();
    let named = |name: &str| names.iter().any(|wanted| wanted == name);
    let (mut sizes, mut ratios) = (SIZES.to_vec(), RATIOS.to_vec());
    let ours = |name: &String| {
        sizes.iter().any(|(_, size)| size == name) || ratios.iter().any(|r| r.to_string() == *name)
    };
    if !names.is_empty() && !names.iter().any(ours) {
        return;
    }
    if SIZES.iter().any(|(_, name)| named(name)) {
        sizes.retain(|(_, name)| named(name));
    }
    if RATIOS.iter().any(|ratio| named(&ratio.to_string())) {
        ratios.retain(|ratio| named(&ratio.to_string()));
    }
    for (n, name) in sizes {
        println!("{}", run_size(n, name, &ratios, &mut judge));
    }
    println!("{judge}");
}

fn run_size(n: usize, name: &str, ratios: &[u64], judge: &mut Judge) -> Table {
    let values = course::values(n);
    let exact = others::exact(&values);
    let mut rows: Vec<Vec<String>> = Vec::new();
    for &ratio in ratios {
        let built: Vec<_> =
            others::probing(&values, ratio).into_iter().chain(ours::all(&values, ratio)).collect();
        let candidates: Vec<&dyn Candidate> =
            built.iter().chain(&exact).map(|candidate| &**candidate).collect();
        let measured = Course::new(&values, ratio).run(&candidates);
        rows.resize_with(measured.len(), Vec::new);
        for (row, measured) in rows.iter_mut().zip(measured) {
            if row.is_empty() {
                row.push(measured.name.to_owned());
            }
            row.push(measured.to_string());
            judge.take(n, ratio, measured);
        }
        eprintln!("{name} values, alpha/beta {ratio}: done");
    }
    let title = format!("{name} values: bits · ns absent/present · wrong %");
    let ratios = ratios.iter().map(|ratio| format!("alpha/beta {ratio}"));
    let heading: Vec<String> = std::iter::once(title).chain(ratios).collect();
    let heading: Vec<&str> = heading.iter().map(String::as_str).collect();
    let mut table = Table::new(&heading);
    rows.into_iter().for_each(|row| table.push(row));
    table
}
