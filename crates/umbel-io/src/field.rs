//! Fields between delimiters, and quotes around them as CSV has it.
//!
//! A quote opens a quoted field only where a field begins; anywhere else it is a letter like others. Inside, two quotes stand for
//! one, and delimiters and newlines are text. Behind the closing quote the field ends; where anything else follows, a quote is missing or
//! too many, and the record is malformed.

use std::ops::Range;

/// Calls `found` with every newline that ends a record, which are those that are not inside quotes, and whether something follows
/// a closing quote in that record. Returns where a quote opens that is not closed.
pub(crate) fn record_ends(
    bytes: &[u8],
    delimiter: u8,
    found: impl FnMut(usize, bool),
) -> Option<usize> {
    let mut records = Records::default();
    records.look_on(bytes, delimiter, found);
    records.inside
}

/// How far a text that comes little by little has been looked at, and how things stand there.
#[derive(Default)]
pub(crate) struct Records {
    /// What comes next: it begins a line.
    at: usize,
    /// Where the quote opens that is not closed yet.
    inside: Option<usize>,
    malformed: bool,
}

impl Records {
    /// Looks at what has been added to the text, up to its end, which is that of a line or of the file: it must be known what follows
    /// a quote. Calls `found` as [`record_ends`] does.
    pub(crate) fn look_on(
        &mut self,
        bytes: &[u8],
        delimiter: u8,
        mut found: impl FnMut(usize, bool),
    ) {
        let Records { at: start, inside, malformed } = self;
        // The second of two quotes that stand for one.
        let mut second = None;
        for at in memchr::memchr2_iter(b'"', b'\n', &bytes[*start..]).map(|at| *start + at) {
            if bytes[at] == b'\n' {
                if inside.is_none() {
                    found(at, std::mem::take(malformed));
                }
            } else if second == Some(at) {
            } else if inside.is_none() {
                let opens = at == 0 || bytes[at - 1] == delimiter || bytes[at - 1] == b'\n';
                *inside = opens.then_some(at);
            } else if bytes.get(at + 1) == Some(&b'"') {
                second = Some(at + 1);
            } else {
                *inside = None;
                *malformed |= !ends_field(&bytes[at + 1..], delimiter);
            }
        }
        *start = bytes.len();
    }
}

/// Whether a field ends before this text.
fn ends_field(text: &[u8], delimiter: u8) -> bool {
    match text {
        [] | [b'\n', ..] | [b'\r', b'\n', ..] => true,
        [first, ..] => *first == delimiter,
    }
}

/// The field that begins a range, and where the next one begins. A quoted field is written out at the end of `bytes`.
#[inline]
pub(crate) fn field(
    bytes: &mut Vec<u8>,
    range: Range<usize>,
    delimiter: u8,
    quoted: bool,
) -> (Range<usize>, Option<usize>) {
    let text = &bytes[range.clone()];
    if quoted && text.first() == Some(&b'"') {
        return quoted_field(bytes, range);
    }
    match memchr::memchr(delimiter, text) {
        Some(len) => (range.start..range.start + len, Some(range.start + len + 1)),
        None => (range, None),
    }
}

/// The same for a field in quotes, behind which a delimiter or nothing stands.
fn quoted_field(bytes: &mut Vec<u8>, range: Range<usize>) -> (Range<usize>, Option<usize>) {
    let start = bytes.len();
    let mut at = range.start + 1;
    while let Some(len) = memchr::memchr(b'"', &bytes[at..range.end]) {
        bytes.extend_from_within(at..at + len);
        at += len + 1;
        if bytes[at..range.end].first() != Some(&b'"') {
            break;
        }
        bytes.push(b'"');
        at += 1;
    }
    (start..bytes.len(), (at < range.end).then_some(at + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(line: &[u8]) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        let mut next = Some(0);
        let mut bytes = line.to_vec();
        while let Some(start) = next {
            let (field, after) = field(&mut bytes, start..line.len(), b',', true);
            found.push(bytes[field].to_vec());
            next = after;
        }
        found
    }

    #[test]
    fn splits_as_csv_is_written() {
        for (line, expected) in [
            (&b"a,b"[..], vec![&b"a"[..], b"b"]),
            (b"\"a\",\"b\"", vec![b"a", b"b"]),
            (b"\"a,1\",b", vec![b"a,1", b"b"]),
            (b"\"a\"\"b\"\"\",c", vec![b"a\"b\"", b"c"]),
            (b"\"\",x", vec![b"", b"x"]),
            (b"\"\"\"\"", vec![b"\""]),
            (b"5\" disk,x", vec![b"5\" disk", b"x"]),
            (b"\"a\nb\",", vec![b"a\nb", b""]),
        ] {
            assert_eq!(fields(line), expected, "{}", line.escape_ascii());
        }
    }

    #[test]
    fn records_end_outside_quotes() {
        for (text, expected, expected_open) in [
            (&b"a\nb\n"[..], vec![1, 3], None),
            (b"\"a\nb\"\nc\n", vec![5, 7], None),
            (b"x,\"a\n\"\"\n\"\nc\n", vec![9, 11], None),
            (b"5\" disk\n3\" disk\n", vec![7, 15], None),
            (b"\"\"\n\"\n\"\n", vec![2, 6], None),
            (b"\"a\"\r\n\"\"\"\",\"\"\r\n", vec![4, 13], None),
            (b"\"open\n\n", vec![], Some(0)),
            (b"a\n\"b\n\",\"open\n\"\"\n", vec![1], Some(7)),
        ] {
            let mut ends = Vec::new();
            let open = record_ends(text, b',', |at, malformed| {
                assert!(!malformed, "{}", text.escape_ascii());
                ends.push(at);
            });
            assert_eq!((ends, open), (expected, expected_open), "{}", text.escape_ascii());
        }
    }

    /// A text that comes line by line has the same records as one that is there as a whole.
    #[test]
    fn looking_on_finds_the_same_ends() {
        let text = b"a,\"b\n\"\"\nc\"\n\"d\n\"e\n5\" disk\r\n\"f\"\r\n,\"\n\"\"\n\"\n\"open\n\n";
        let (mut expected, mut ends) = (Vec::new(), Vec::new());
        let open = record_ends(text, b',', |at, malformed| expected.push((at, malformed)));
        let mut records = Records::default();
        for end in memchr::memchr_iter(b'\n', text) {
            records.look_on(&text[..=end], b',', |at, malformed| ends.push((at, malformed)));
        }
        assert_eq!((ends, records.inside), (expected, open));
    }

    #[test]
    fn only_an_end_follows_a_closing_quote() {
        for (text, expected) in [
            (&b"a,\"b\"c\nd\n"[..], vec![true, false]),
            (b"d\n\"a\" ,b\nd\n", vec![false, true, false]),
            (b"\"a\"\r,b\n\"d\"\n", vec![true, false]),
            (b"\"a\",\"b\n\"c\",\"d\"\n\"e\",f\n", vec![true, false]),
            (b"\"a,\"b\"\n\"e\",f\n", vec![true, false]),
        ] {
            let mut found = Vec::new();
            record_ends(text, b',', |_, malformed| found.push(malformed));
            assert_eq!(found, expected, "{}", text.escape_ascii());
        }
    }
}
