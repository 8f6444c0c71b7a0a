//! Decimal numbers as whole ones: 12.34 with two decimals is 1234. Sums and differences are exact.

/// The largest is 10^18, so that sums and differences of a few fit 64 bits.
pub const MOST: i64 = 1_000_000_000_000_000_000;
/// The most decimals.
pub const MOST_DECIMALS: u32 = 18;

/// The number that a text is; none if it is not one, is too large, or has more decimals.
pub fn parse(text: &str, decimals: u32) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let fraction = fraction.trim_end_matches('0');
    let room = (decimals as usize).checked_sub(fraction.len())?;
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_digits(whole) || !is_digits(fraction) {
        return None;
    }
    let number: i64 = format!("{whole}{fraction}{}", "0".repeat(room)).parse().ok()?;
    (number <= MOST).then_some(if negative { -number } else { number })
}

/// The text of a number, with all its decimals.
pub fn write(number: i64, decimals: u32, line: &mut String) {
    let one = 10_u64.pow(decimals);
    if number < 0 {
        line.push('-');
    }
    *line += &(number.unsigned_abs() / one).to_string();
    if decimals > 0 {
        let fraction = number.unsigned_abs() % one;
        *line += &format!(".{fraction:0width$}", width = decimals as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(number: i64, decimals: u32) -> String {
        let mut line = String::new();
        write(number, decimals, &mut line);
        line
    }

    #[test]
    fn numbers_are_read_as_they_are_written() {
        for (given, decimals, number, written) in [
            ("12.34", 2, 1234, "12.34"),
            ("-0.05", 2, -5, "-0.05"),
            ("7", 0, 7, "7"),
            ("-7", 3, -7000, "-7.000"),
            ("1.500", 1, 15, "1.5"),
            ("1.", 1, 10, "1.0"),
            ("-0", 0, 0, "0"),
            ("1000000000000000000", 0, MOST, "1000000000000000000"),
        ] {
            assert_eq!(parse(given, decimals), Some(number), "{given}");
            assert_eq!(text(number, decimals), written);
        }
        for (given, decimals) in [
            ("1.25", 1),
            ("", 0),
            (".5", 1),
            ("1e3", 0),
            ("+1", 0),
            ("1000000000000000001", 0),
            ("--1", 0),
            ("1.2.3", 5),
            ("9", 18),
        ] {
            assert_eq!(parse(given, decimals), None, "{given}");
        }
    }
}
