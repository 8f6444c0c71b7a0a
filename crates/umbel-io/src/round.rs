//! Rounding decimal text to whole numbers, half up, exactly: no float in between.

/// The whole number nearest to a decimal text, halves going up: 2.5 is 3, -2.5 is -2, 9.49999999999999999 is 9.
/// None when the text is no decimal number. Exponents are understood (1.25e1 is 13).
///
/// ```
/// use umbel_io::round::half_up;
///
/// assert_eq!(half_up(b"9.49999999999999999").as_deref(), Some("9"));
/// assert_eq!(half_up(b"-2.5").as_deref(), Some("-2"));
/// assert_eq!(half_up(b"averageRating"), None);
/// ```
pub fn half_up(text: &[u8]) -> Option<String> {
    let (negative, unsigned) = match text.split_first()? {
        (b'-', rest) => (true, rest),
        (b'+', rest) => (false, rest),
        _ => (false, text),
    };
    let (mantissa, exponent) = split_exponent(unsigned)?;
    let point = mantissa.iter().position(|&byte| byte == b'.').unwrap_or(mantissa.len());
    let (whole, fraction) = (&mantissa[..point], mantissa.get(point + 1..).unwrap_or_default());
    let digits: Vec<u8> = [whole, fraction].concat();
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let point = point as i64 + exponent;
    let digit =
        |at: i64| usize::try_from(at).ok().and_then(|at| digits.get(at)).map_or(0, |d| d - b'0');
    let rest_is_zero = |from: i64| (from.max(0)..digits.len() as i64).all(|at| digit(at) == 0);

    let mut number: Vec<u8> = (0..point.max(0)).map(digit).collect();
    let half = digit(point);
    // Away from zero above a half; at exactly a half only upwards.
    let away = half > 5 || half == 5 && (!negative || !rest_is_zero(point + 1));
    if away {
        increment(&mut number);
    }
    let text: String =
        number.iter().skip_while(|&&d| d == 0).map(|&d| char::from(d + b'0')).collect();
    Some(match (text.is_empty(), negative) {
        (true, _) => "0".into(),
        (false, true) => format!("-{text}"),
        (false, false) => text,
    })
}

/// The longest number, in digits, that an exponent may ask for.
const MAX_EXPONENT: i64 = 400;

/// The part before `e`, and the power of ten behind it.
fn split_exponent(text: &[u8]) -> Option<(&[u8], i64)> {
    let Some(at) = text.iter().position(|byte| byte.eq_ignore_ascii_case(&b'e')) else {
        return Some((text, 0));
    };
    let exponent: i64 = std::str::from_utf8(&text[at + 1..]).ok()?.parse().ok()?;
    (exponent.abs() <= MAX_EXPONENT).then_some((&text[..at], exponent))
}

fn increment(number: &mut Vec<u8>) {
    for digit in number.iter_mut().rev() {
        if *digit < 9 {
            *digit += 1;
            return;
        }
        *digit = 0;
    }
    number.insert(0, 1);
}

#[cfg(test)]
mod tests {
    use super::half_up;

    #[test]
    fn rounds_as_written() {
        for (text, expected) in [
            ("2.5", "3"),
            ("2.4", "2"),
            ("9.49999999999999999", "9"),
            ("9.5", "10"),
            ("0.5", "1"),
            ("-2.5", "-2"),
            ("-2.51", "-3"),
            ("-2.500000000000000001", "-3"),
            ("-0.5", "0"),
            ("-0.4", "0"),
            ("0", "0"),
            ("-0", "0"),
            ("007", "7"),
            ("+7.0", "7"),
            (".5", "1"),
            ("5.", "5"),
            ("99.5", "100"),
            ("1.25e1", "13"),
            ("12.5e-1", "1"),
            ("5e-1", "1"),
            ("4e-1", "0"),
            ("1e3", "1000"),
            ("-99.6", "-100"),
            ("5e-2", "0"),
            ("123456789012345678901234567890.5", "123456789012345678901234567891"),
        ] {
            assert_eq!(half_up(text.as_bytes()).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_number() {
        for text in [
            "",
            "-",
            ".",
            "e5",
            "1.2.3",
            "1e",
            "1e999999999",
            "abc",
            "1 ",
            " 1",
            "nan",
            "inf",
            "0x1",
            "1,5",
            "--1",
            "\\N",
        ] {
            assert_eq!(half_up(text.as_bytes()), None, "{text}");
        }
    }

    /// Against integer arithmetic, for every tenth and hundredth.
    #[test]
    fn agrees_with_integers() {
        for hundredths in -100_000i64..=100_000 {
            let sign = if hundredths < 0 { "-" } else { "" };
            let text = format!("{sign}{}.{:02}", hundredths.abs() / 100, hundredths.abs() % 100);
            let expected = (hundredths + 50).div_euclid(100).to_string();
            assert_eq!(half_up(text.as_bytes()), Some(expected), "{text}");
        }
    }
}
