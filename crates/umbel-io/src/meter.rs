//! How far a run has come: for a progress bar.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Bytes read so far, of those known to be there.
#[derive(Debug, Default)]
pub struct Meter {
    done: AtomicU64,
    total: AtomicU64,
    /// Set when some input does not tell its length.
    endless: AtomicBool,
}

impl Meter {
    /// Bytes read from the sources so far, before decompression.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Bytes in all sources, 0 when unknown.
    pub fn total(&self) -> u64 {
        if self.endless.load(Ordering::Relaxed) { 0 } else { self.total.load(Ordering::Relaxed) }
    }

    /// Expects this many bytes more; none when that is not known.
    pub fn expect(&self, bytes: Option<u64>) {
        match bytes {
            Some(bytes) => _ = self.total.fetch_add(bytes, Ordering::Relaxed),
            None => self.endless.store(true, Ordering::Relaxed),
        }
    }

    /// Counts bytes that were read.
    pub fn add(&self, bytes: u64) {
        self.done.fetch_add(bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_without_a_length_leaves_the_end_open() {
        let meter = Meter::default();
        meter.expect(Some(10));
        meter.expect(Some(5));
        assert_eq!(meter.total(), 15);
        meter.expect(None);
        meter.expect(Some(5));
        assert_eq!(meter.total(), 0);
    }
}
