//! What is said on stderr beside a result: never silent, never in the way.

use std::io::Write;

use umbel_io::{Error, Tally};

use crate::table::grouped;

/// Says something in one piece, so that others who write there too do not come in between. Where nobody listens, nothing is lost.
pub fn say(message: impl std::fmt::Display) {
    let _ = std::io::stderr().write_all(format!("umbel: {message}\n").as_bytes());
}

/// A warning.
pub fn warn(message: impl std::fmt::Display) {
    say(format!("warning: {message}"));
}

/// The error, with advice for this command where most rows could not be used.
pub fn advise(error: anyhow::Error, advice: &'static str) -> anyhow::Error {
    match error.downcast::<Error>() {
        Ok(error) => error.advising(advice).into(),
        Err(error) => error,
    }
}

/// Says how many rows could not be used, and where the first one is.
pub fn malformed(tally: &Tally) {
    if let Some((place, reason)) = &tally.first_malformed {
        let rows = if tally.malformed == 1 { "row was" } else { "rows were" };
        warn(format!("{} {rows} not used; the first: {place}: {reason}", grouped(tally.malformed)));
    }
}
