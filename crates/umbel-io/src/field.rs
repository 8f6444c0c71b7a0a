//! Fields between delimiters, and quotes around them as CSV has it.
//!
//! A quote opens a quoted field only where a field begins; anywhere else it is a letter like others. Inside, two quotes stand for
//! one, and delimiters and newlines are text. What follows the closing quote up to the delimiter belongs to the field.

use std::ops::Range;

/// Calls `found` with every newline that ends a record: those that are not inside quotes. Returns where a quote opens that is not
/// closed.
pub(crate) fn record_ends(
    bytes: &[u8],
    delimiter: u8,
    mut found: impl FnMut(usize),
) -> Option<usize> {
    let mut inside = None;
    // The second of two quotes that stand for one.
    let mut second = None;
    for at in memchr::memchr2_iter(b'"', b'\n', bytes) {
        if bytes[at] == b'\n' {
            if inside.is_none() {
                found(at);
            }
        } else if second == Some(at) {
        } else if inside.is_none() {
            let opens = at == 0 || bytes[at - 1] == delimiter || bytes[at - 1] == b'\n';
            inside = opens.then_some(at);
        } else if bytes.get(at + 1) == Some(&b'"') {
            second = Some(at + 1);
        } else {
            inside = None;
        }
    }
    inside
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
        return quoted_field(bytes, range, delimiter);
    }
    match memchr::memchr(delimiter, text) {
        Some(len) => (range.start..range.start + len, Some(range.start + len + 1)),
        None => (range, None),
    }
}

fn quoted_field(
    bytes: &mut Vec<u8>,
    range: Range<usize>,
    delimiter: u8,
) -> (Range<usize>, Option<usize>) {
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
    let rest = memchr::memchr(delimiter, &bytes[at..range.end]);
    let end = rest.map_or(range.end, |len| at + len);
    bytes.extend_from_within(at..end);
    (start..bytes.len(), rest.map(|_| end + 1))
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
            (b"\"a\"b,c", vec![b"ab", b"c"]),
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
            (b"\"open\n\n", vec![], Some(0)),
            (b"a\n\"b\n\",\"open\n\"\"\n", vec![1], Some(7)),
        ] {
            let mut ends = Vec::new();
            let open = record_ends(text, b',', |at| ends.push(at));
            assert_eq!((ends, open), (expected, expected_open), "{}", text.escape_ascii());
        }
    }
}
