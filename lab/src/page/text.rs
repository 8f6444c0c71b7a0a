//! Text for HTML.

/// Text with its special characters written as HTML wants them.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The same, with what stands between backticks set as code.
pub fn inline(text: &str) -> String {
    let parts = escape(&joined(text));
    let wrap = |(i, part): (usize, &str)| match i % 2 {
        1 => format!("<code>{part}</code>"),
        _ => part.to_owned(),
    };
    parts.split('`').enumerate().map(wrap).collect()
}

/// Numbers are not torn apart at the end of a line: neither their thousands nor their percent sign.
fn joined(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let digit = |i: usize| letters.get(i).is_some_and(char::is_ascii_digit);
    let percent = |i: usize| letters.get(i) == Some(&'%');
    let join = |(i, &letter): (usize, &char)| {
        let between = i > 0 && digit(i - 1) && (digit(i + 1) || percent(i + 1));
        if letter == ' ' && between { '\u{202f}' } else { letter }
    };
    letters.iter().enumerate().map(join).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_safe_and_numbers_stay_whole() {
        assert_eq!(
            inline("`a<b` & 10 200 of 3 %"),
            "<code>a&lt;b</code> &amp; 10\u{202f}200 of 3\u{202f}%"
        );
    }
}
