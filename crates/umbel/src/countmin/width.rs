//! How wide counters are.

use crate::memory::LINE_BYTES;
use crate::{Error, Result};

/// Bytes a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Width {
    One = 1,
    Two = 2,
    Four = 4,
    Eight = 8,
}

impl Width {
    const ALL: [Width; 4] = [Width::One, Width::Two, Width::Four, Width::Eight];

    pub(crate) fn bytes(self) -> usize {
        self as usize
    }

    pub(crate) fn from_bytes(bytes: u8) -> Result<Width> {
        Width::ALL.into_iter().find(|width| *width as u8 == bytes).ok_or_else(|| {
            Error::Format(format!("counters of {bytes} bytes are unknown to this version of umbel"))
        })
    }

    /// The narrowest that holds `value`.
    pub(super) fn holding(value: u64) -> Width {
        match 64 - value.leading_zeros() {
            0..=8 => Width::One,
            9..=16 => Width::Two,
            17..=32 => Width::Four,
            _ => Width::Eight,
        }
    }

    /// The lines that hold `counters` of them.
    pub(crate) fn lines(self, counters: usize) -> usize {
        (counters * self.bytes()).div_ceil(LINE_BYTES)
    }
}
