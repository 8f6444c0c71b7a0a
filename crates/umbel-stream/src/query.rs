//! Questions: lines in, answers out, in order.

use std::collections::HashSet;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use crate::error::SOURCE;
use crate::hub::Hub;
use crate::lines::{Line, Lines};
use crate::{Error, Result};

/// Bytes that are read at once: a batch.
const CHUNK: usize = 16 << 10;

/// What was read together.
#[derive(Default)]
struct Batch {
    /// The keys, one behind the other.
    text: Vec<u8>,
    /// Where each ends; none for a line over the limit.
    ends: Vec<Option<u32>>,
    hashes: Vec<u64>,
    answers: Vec<u64>,
    out: Vec<u8>,
}

/// Answers every line until the end.
pub(crate) fn run(hub: &Hub, mut from: impl Read, mut out: impl Write) -> Result<()> {
    let mut lines = Lines::new(hub.max_line);
    let mut bytes = vec![0; CHUNK];
    let mut batch = Batch::default();
    loop {
        let len = match from.read(&mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            result => result.map_err(Error::io(SOURCE))?,
        };
        batch.clear();
        let take = |line: Line<'_>| batch.push(hub, line);
        if len > 0 {
            lines.feed(&bytes[..len], take);
        } else {
            lines.finish(take);
        }
        batch.answer(hub)?;
        out.write_all(&batch.out).and_then(|()| out.flush()).map_err(Error::io("stdout"))?;
        if len == 0 {
            return Ok(());
        }
    }
}

impl Batch {
    fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
        self.hashes.clear();
        self.out.clear();
    }

    fn push(&mut self, hub: &Hub, line: Line<'_>) {
        let Line::Key(key) = line else { return self.ends.push(None) };
        self.text.extend_from_slice(key);
        self.hashes.push(hub.hasher.hash(key));
        // A chunk and the beginning of one line are far below 4 GiB.
        self.ends.push(Some(self.text.len() as u32));
    }

    fn answer(&mut self, hub: &Hub) -> Result<()> {
        if self.ends.is_empty() {
            return Ok(());
        }
        hub.answer(&self.hashes, &mut self.answers)?;
        let (mut start, mut answers) = (0, self.answers.iter());
        let mut seen = HashSet::new();
        for end in &self.ends {
            let (Some(end), out) = (end, &mut self.out) else {
                let limit = hub.max_line;
                self.out.extend(format!("error: a line is longer than {limit} bytes\n").bytes());
                continue;
            };
            let end = *end as usize;
            let key = &self.text[start..end];
            start = end;
            let answer = answers.next().copied().unwrap_or(0);
            if hub.only_seen && (answer == 0 || !seen.insert(key)) {
                continue;
            }
            out.extend_from_slice(key);
            if hub.counts || !hub.only_seen {
                // Writing to memory does not fail.
                let _ = write!(out, "\t{answer}");
            }
            out.push(b'\n');
        }
        Ok(())
    }
}

/// Serves a query connection.
pub(crate) fn serve(hub: &Arc<Hub>, stream: TcpStream) {
    hub.ended(run(hub, &stream, &stream));
}
