//! Side by side: umbel, its peers and the machine's limits, on the same keys in the same run.
//!
//! `umbel-bench [--quick] [WORD…]` runs the rows whose name contains one of the words, or all of them;
//! `--quick` takes 10 M keys where the full run takes 100 M. `umbel-bench --near [SIZE…] [RATIO…] [ITEMS…]` runs the near structures
//! instead, with so many values (10K, 1M, 10M) and such alpha/beta (1, 10, 100, 1000), or all of them, and then the similar filters,
//! with such items (vectors, strings, texts) or all of them.

mod candidate;
mod keys;
mod limits;
mod machine;
mod memory;
mod near;
mod others;
mod ours;
mod peers;
mod race;
mod rows;
mod similar;
mod table;

use rows::Plan;

fn main() {
    let mut plan = Plan::default();
    let mut near = false;
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--quick" => plan.quick = true,
            "--near" => near = true,
            word => plan.words.push(word.to_owned()),
        }
    }
    println!("{}\n", machine::describe());
    if near {
        near::run(&plan.words);
        return similar::run(&plan.words);
    }
    let report = rows::run(&plan);
    println!("{report}");
}
