//! The names of groups and their order.

use std::cmp::Ordering;

/// A group's name. Numbers come first, by value; then the other names, by their bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name(pub(crate) String);

impl Ord for Name {
    fn cmp(&self, other: &Name) -> Ordering {
        compare_names(&self.0, &other.0)
    }
}

/// The order of groups: decimal numbers by value, then other names by their bytes. A number is an optional minus, digits,
/// and optionally a point and digits; numbers of the same value are in the order of their bytes.
pub fn compare_names(a: &str, b: &str) -> Ordering {
    // Most names are such, and a file of many groups is read in the time that comparing them takes.
    if is_plain(a) && is_plain(b) {
        return a.len().cmp(&b.len()).then_with(|| a.cmp(b));
    }
    let by_value = match (Decimal::of(a), Decimal::of(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    };
    by_value.then_with(|| a.cmp(b))
}

/// Whether a name is digits alone, the first of them not 0.
fn is_plain(name: &str) -> bool {
    !name.starts_with('0') && is_digits(name)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A decimal number as it is written, without zeros that do not count: compared without rounding.
#[derive(PartialEq, Eq)]
struct Decimal<'a> {
    negative: bool,
    whole: &'a str,
    fraction: &'a str,
}

impl Decimal<'_> {
    fn of(name: &str) -> Option<Decimal<'_>> {
        let (negative, unsigned) = match name.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, name),
        };
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
        if !is_digits(whole) || !is_digits(fraction) {
            return None;
        }
        let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
        let zero = whole.is_empty() && fraction.is_empty();
        Some(Decimal { negative: negative && !zero, whole, fraction })
    }

    fn cmp(&self, other: &Decimal<'_>) -> Ordering {
        let size = |number: &Decimal<'_>| number.whole.len();
        let by_size = size(self).cmp(&size(other));
        let by_size = by_size.then_with(|| self.whole.cmp(other.whole));
        let by_size = by_size.then_with(|| self.fraction.cmp(other.fraction));
        match (self.negative, other.negative) {
            (false, false) => by_size,
            (true, true) => by_size.reverse(),
            (ours, _) => {
                if ours {
                    Ordering::Less
                } else {
                    Ordering::Greater
                }
            }
        }
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Name) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
