//! What is said on stderr beside a result: never silent, never in the way.

use std::io::Write;

use umbel_io::{Error, Tally, visible};

use crate::table::{cut, grouped};

/// Writes text in one piece, so that others who write there too do not come in between. Where nobody listens, nothing is lost.
pub fn raw(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Says something.
pub fn say(message: impl std::fmt::Display) {
    let message = message.to_string();
    let lines: Vec<_> = message.lines().map(visible).collect();
    raw(&format!("umbel: {}\n", lines.join("\n")));
}

/// So many of something whose plural ends in s.
pub fn number(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// Which groups a file has that lacks the one asked for.
pub fn it_has<'n>(groups: impl Iterator<Item = &'n str>) -> String {
    let mut groups = groups.peekable();
    match groups.peek() {
        Some(_) => format!("it has: {}", names(groups)),
        None => "it has none".into(),
    }
}

/// Names, the first ten of many, and the beginning of long ones.
pub fn names<'n>(mut names: impl Iterator<Item = &'n str>) -> String {
    let shown: Vec<_> = names.by_ref().take(10).map(cut).collect();
    match names.count() {
        0 => shown.join(", "),
        more => format!("{} and {} more", shown.join(", "), grouped(more as u64)),
    }
}

/// A warning.
pub fn warn(message: impl std::fmt::Display) {
    say(format!("warning: {message}"));
}

/// A warning for each of several groups, the first ten of many.
pub fn warn_groups<'n, W: std::fmt::Display>(mut warnings: impl Iterator<Item = (&'n str, W)>) {
    warnings.by_ref().take(10).for_each(|(name, warning)| warn(format!("group {name}: {warning}")));
    match warnings.count() as u64 {
        0 => {}
        more => warn(format!("and so it is with {} more", number(more, "group"))),
    }
}

/// The error, with advice for this command where most rows could not be used.
pub fn advise(error: anyhow::Error, advice: &'static str) -> anyhow::Error {
    match error.downcast::<Error>() {
        Ok(error) => error.advising(advice).into(),
        Err(error) => error,
    }
}

/// Says that there was nothing to put into a filter.
pub fn no_keys() {
    warn("there are no keys in the input; the filter is empty");
}

/// Says how many rows could not be used, and where the first one is.
pub fn malformed(tally: &Tally) {
    if let Some((place, reason)) = &tally.first_malformed {
        let rows = if tally.malformed == 1 { "row was" } else { "rows were" };
        warn(format!("{} {rows} not used; the first: {place}: {reason}", grouped(tally.malformed)));
    }
}
