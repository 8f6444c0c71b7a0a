//! Numbers as people read them.

/// Three significant digits, with thin spaces between thousands and K, M, G from ten thousand on: for axes.
pub fn short(x: f64) -> String {
    let size = x.abs();
    for (unit, name) in [(1e9, "G"), (1e6, "M"), (1e3, "K")] {
        if size >= unit && (unit > 1e3 || size >= 1e4) {
            return format!("{}\u{202f}{name}", digits(x / unit));
        }
    }
    if size > 0.0 && size < 1e-3 { power(x) } else { digits(x) }
}

/// Three significant digits, written out: for tables.
pub fn plain(x: f64) -> String {
    if x != 0.0 && x.abs() < 1e-5 { power(x) } else { digits(x) }
}

/// A whole number with spaces between thousands.
pub fn whole(x: f64) -> String {
    let text = format!("{:.0}", x.abs());
    let mut grouped = String::new();
    for (i, digit) in text.chars().enumerate() {
        if i > 0 && (text.len() - i).is_multiple_of(3) {
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    if x < 0.0 { format!("-{grouped}") } else { grouped }
}

fn digits(x: f64) -> String {
    if x == 0.0 {
        return "0".into();
    }
    let before = x.abs().log10().floor() as i32 + 1;
    if before > 3 {
        return whole(x);
    }
    let text = format!("{x:.*}", (3 - before).clamp(0, 8) as usize);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

fn power(x: f64) -> String {
    let exponent = x.abs().log10().floor() as i32;
    let mantissa = digits(x / 10f64.powi(exponent));
    let raised: String = exponent.to_string().chars().map(superscript).collect();
    if mantissa == "1" { format!("10{raised}") } else { format!("{mantissa}·10{raised}") }
}

fn superscript(c: char) -> char {
    match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => char::from_u32(0x2070 + digit as u32 - '0' as u32).unwrap_or(digit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        let all = [0.0, 0.25, 1.0, 9.59, 39.0, 1050.0, 10_000.0, 2e6, 1e-5, 2.5e-4, 99_999.0];
        let shorts =
            "0 0.25 1 9.59 39 1\u{202f}050 10\u{202f}K 2\u{202f}M 10⁻⁵ 2.5·10⁻⁴ 100\u{202f}K";
        assert_eq!(all.map(short).join(" "), shorts);
        assert_eq!(plain(0.00025), "0.00025");
        assert_eq!(whole(1_254_184.0), "1\u{202f}254\u{202f}184");
    }
}
