//! What is said on stderr beside a result: never silent, never in the way.

use umbel_io::Tally;

use crate::table::grouped;

/// A warning.
pub fn warn(message: impl std::fmt::Display) {
    eprintln!("umbel: warning: {message}");
}

/// Says how many rows could not be used, and where the first one is.
pub fn malformed(tally: &Tally) {
    if let Some((place, reason)) = &tally.first_malformed {
        let rows = if tally.malformed == 1 { "row was" } else { "rows were" };
        warn(format!("{} {rows} not used; the first: {place}: {reason}", grouped(tally.malformed)));
    }
}
