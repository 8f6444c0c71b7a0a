//! Keys that are numbers: from text to values of a grid.

use std::ops::Range;

use umbel::near::{Grid, Number, Values};

const NO_NUMBER: &str = "the key is not a decimal number";
const NOT_FINITE: &str = "the key is not a finite number";
const NO_INTEGER: &str = "the key is not an integer from -2^63 to 2^63 - 1";
const TOO_FAR: &str = "the key is 2^53 steps of beta from zero, or more; a larger beta reaches \
    further, --type int every 64-bit integer";

/// The number that a text is: the float next to it, or the integer, by what the grid holds; or why it is none.
pub fn parse(text: &[u8], grid: &Grid) -> Result<Number, &'static str> {
    let text = std::str::from_utf8(text).map_err(|_| NO_NUMBER)?;
    let number = match grid.values() {
        Values::Integers => Number::Integer(text.parse().map_err(|_| NO_INTEGER)?),
        Values::Floats => Number::Float(float(text)?),
    };
    // Integers have cells, all of them.
    grid.accepts(number).then_some(number).ok_or(TOO_FAR)
}

/// Also what is written in words is a float to the library, and digits without end are infinite.
fn float(text: &str) -> Result<f64, &'static str> {
    let number: f64 = text.parse().map_err(|_| NO_NUMBER)?;
    let digits = text.trim_start_matches(['+', '-', '.']).starts_with(|c: char| c.is_ascii_digit());
    match (number.is_finite(), digits) {
        (true, _) => Ok(number),
        (false, true) => Err(TOO_FAR),
        (false, false) => Err(NOT_FINITE),
    }
}

/// Appends the key that a number is; returns where it stands.
pub(crate) fn put(number: Number, bytes: &mut Vec<u8>) -> Range<usize> {
    let start = bytes.len();
    bytes.extend(match number {
        Number::Float(x) => x.to_le_bytes(),
        Number::Integer(x) => x.to_le_bytes(),
    });
    start..bytes.len()
}

/// The number that a key is.
#[inline]
pub(crate) fn get(key: &[u8], values: Values) -> Number {
    let bytes = key.try_into().unwrap_or_default();
    match values {
        Values::Floats => Number::Float(f64::from_le_bytes(bytes)),
        Values::Integers => Number::Integer(i64::from_le_bytes(bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_read_as_they_are_written() {
        let grid = Grid::floats(5.0, 1.0).unwrap();
        for (text, number) in [
            ("12", 12.0),
            ("-0.0", 0.0),
            ("+5", 5.0),
            (".5", 0.5),
            ("5.", 5.0),
            ("1e3", 1000.0),
            ("0.1", 0.1),
            ("4.9406564584124654e-324", f64::from_bits(1)),
            ("1e-400", 0.0),
            ("9007199254740991", 9_007_199_254_740_991.0),
            ("-9007199254740991", -9_007_199_254_740_991.0),
        ] {
            assert_eq!(parse(text.as_bytes(), &grid), Ok(Number::Float(number)), "{text}");
        }
        for (text, reason) in [
            ("", NO_NUMBER),
            ("twelve", NO_NUMBER),
            ("1,5", NO_NUMBER),
            ("0x10", NO_NUMBER),
            (" 12", NO_NUMBER),
            ("12 ", NO_NUMBER),
            ("1_000", NO_NUMBER),
            ("-", NO_NUMBER),
            ("12\0", NO_NUMBER),
            ("NaN", NOT_FINITE),
            ("-nan", NOT_FINITE),
            ("inf", NOT_FINITE),
            ("-Infinity", NOT_FINITE),
            ("9007199254740992", TOO_FAR),
            ("-9007199254740992", TOO_FAR),
            ("1e308", TOO_FAR),
            ("-1e400", TOO_FAR),
        ] {
            assert_eq!(parse(text.as_bytes(), &grid), Err(reason), "{text}");
        }
        assert_eq!(parse(b"\xff", &grid), Err(NO_NUMBER));
    }

    #[test]
    fn integers_are_exact() {
        let grid = Grid::integers(5, 1).unwrap();
        for number in [0, 12, -12, i64::MAX, i64::MIN, (1 << 53) + 1] {
            let text = number.to_string();
            assert_eq!(parse(text.as_bytes(), &grid), Ok(Number::Integer(number)));
        }
        for text in ["12.5", "1e3", "NaN", "9223372036854775808", "-9223372036854775809", ""] {
            assert_eq!(parse(text.as_bytes(), &grid), Err(NO_INTEGER), "{text}");
        }
    }

    #[test]
    fn what_is_put_is_got() {
        let mut bytes = b"text".to_vec();
        for number in [Number::Float(-0.1), Number::Integer(i64::MIN), Number::Integer(7)] {
            let values = match number {
                Number::Float(_) => Values::Floats,
                Number::Integer(_) => Values::Integers,
            };
            let place = put(number, &mut bytes);
            assert_eq!(get(&bytes[place], values), number);
        }
    }
}
