//! Bytes into lines, however they were cut on the way.

/// A line, without its end (`\n` or `\r\n`).
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'b> {
    /// A line to work with.
    Key(&'b [u8]),
    /// A line over the limit: it is not kept.
    TooLong,
}

/// Cuts a stream of bytes into lines. It keeps no more than the beginning of one line, and of that no more than the limit.
pub(crate) struct Lines {
    limit: usize,
    /// The beginning of a line whose end has not come yet; empty when it is over the limit.
    begun: Vec<u8>,
    /// How long that line is so far.
    pending: u64,
}

impl Lines {
    pub(crate) fn new(limit: usize) -> Lines {
        Lines { limit, begun: Vec::new(), pending: 0 }
    }

    /// Calls `each` with every line that ends in these bytes.
    #[inline]
    pub(crate) fn feed(&mut self, bytes: &[u8], mut each: impl FnMut(Line<'_>)) {
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', bytes) {
            let part = &bytes[start..end];
            if self.pending == 0 && part.len() <= self.limit {
                each(Line::Key(without_return(part)));
            } else {
                self.end(part, &mut each);
            }
            start = end + 1;
        }
        self.keep(&bytes[start..]);
    }

    /// The stream has ended: what has begun is a line.
    pub(crate) fn finish(&mut self, mut each: impl FnMut(Line<'_>)) {
        if self.pending > 0 {
            self.end(&[], &mut each);
        }
    }

    /// Bytes of a line whose end has not come yet.
    pub(crate) fn pending(&self) -> u64 {
        self.pending
    }

    /// A line that did not come in one piece, or is too long.
    fn end(&mut self, part: &[u8], each: &mut impl FnMut(Line<'_>)) {
        self.keep(part);
        if self.pending > self.limit as u64 {
            each(Line::TooLong);
        } else {
            each(Line::Key(without_return(&self.begun)));
        }
        self.begun.clear();
        self.pending = 0;
    }

    fn keep(&mut self, part: &[u8]) {
        self.pending += part.len() as u64;
        if self.pending <= self.limit as u64 {
            self.begun.extend_from_slice(part);
        } else {
            self.begun = Vec::new();
        }
    }
}

#[inline]
fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Owned = Option<Vec<u8>>;

    fn owned(line: Line<'_>) -> Owned {
        match line {
            Line::Key(key) => Some(key.to_vec()),
            Line::TooLong => None,
        }
    }

    /// The textbook's way: all at once.
    fn model(text: &[u8], limit: usize) -> Vec<Owned> {
        let mut lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
        if lines.last().is_some_and(|last| last.is_empty()) {
            lines.pop();
        }
        let cut = |line: &&[u8]| (line.len() <= limit).then(|| without_return(line).to_vec());
        lines.iter().map(cut).collect()
    }

    proptest! {
        #[test]
        fn any_cut_gives_the_same_lines(
            text in "[ab\r\n]{0,60}",
            cuts in prop::collection::vec(1_usize..9, 1..60),
            limit in 0_usize..6,
        ) {
            let mut lines = Lines::new(limit);
            let mut found = Vec::new();
            let (mut rest, mut ended) = (text.as_bytes(), 0);
            for cut in cuts.iter().cycle() {
                let (now, later) = rest.split_at((*cut).min(rest.len()));
                lines.feed(now, |line| found.push(owned(line)));
                prop_assert!(lines.begun.len() <= limit);
                ended += now.len();
                // What is not pending ends with a newline.
                let behind = ended - lines.pending() as usize;
                prop_assert!(behind == 0 || text.as_bytes()[behind - 1] == b'\n');
                rest = later;
                if rest.is_empty() {
                    break;
                }
            }
            lines.finish(|line| found.push(owned(line)));
            prop_assert_eq!(found, model(text.as_bytes(), limit));
            prop_assert_eq!(lines.pending(), 0);
        }
    }
}
