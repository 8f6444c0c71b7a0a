//! What the items are, how far apart they lie, and how often a sample of two of them agrees.

use std::f64::consts::PI;
use std::fmt;

use super::Item;
use crate::{Error, Result};

/// The largest number of bits, of numbers or of words.
pub(super) const MAX_LENGTH: u32 = 1 << 24;

/// The items and the distance between them. All distances are 0 for equal items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Space {
    /// Bit strings of one length; the distance is the share of positions at which they differ.
    Hamming {
        /// Bits of a string.
        bits: u32,
    },
    /// Vectors of one length; the distance is 1 - cos of the angle between them.
    Cosine {
        /// Numbers of a vector.
        dimension: u32,
    },
    /// Vectors of one length; the distance is the length of their difference.
    Euclid {
        /// Numbers of a vector.
        dimension: u32,
    },
    /// Texts; the distance is 1 - the share of common ones among all their shingles.
    Texts {
        /// Words of a shingle: 1 compares sets of words, 5 runs of words.
        shingle: u32,
    },
    /// Sets of tokens; the distance is 1 - the share of common ones among all their tokens.
    Sets,
}

impl Space {
    /// Bits, numbers or words; 0 for sets.
    pub(super) fn length(self) -> u32 {
        match self {
            Space::Hamming { bits } => bits,
            Space::Cosine { dimension } | Space::Euclid { dimension } => dimension,
            Space::Texts { shingle } => shingle,
            Space::Sets => 0,
        }
    }

    /// Numbers of a vector.
    pub(super) fn dimension(self) -> Option<u32> {
        match self {
            Space::Cosine { dimension } | Space::Euclid { dimension } => Some(dimension),
            _ => None,
        }
    }

    /// The name of the distance.
    pub fn metric(self) -> &'static str {
        match self {
            Space::Hamming { .. } => "hamming",
            Space::Cosine { .. } => "cosine",
            Space::Euclid { .. } => "euclid",
            Space::Texts { .. } | Space::Sets => "jaccard",
        }
    }

    /// The bits that one item takes when it is stored as it is, a number of a vector in 32; texts and sets take what they take.
    pub fn item_bits(self) -> Option<u64> {
        match self {
            Space::Hamming { bits } => Some(bits.into()),
            Space::Cosine { dimension } | Space::Euclid { dimension } => {
                Some(32 * u64::from(dimension))
            }
            Space::Texts { .. } | Space::Sets => None,
        }
    }

    /// The largest distance there is.
    pub(super) fn greatest(self) -> f64 {
        match self {
            Space::Cosine { .. } => 2.0,
            Space::Euclid { .. } => f64::MAX,
            _ => 1.0,
        }
    }

    pub(super) fn check(self) -> Result<()> {
        let length = self.length();
        if self != Space::Sets && !(1..=MAX_LENGTH).contains(&length) {
            return Err(Error::Sizing(format!(
                "{self} cannot be: the length is a number from 1 to 2^24, not {length}"
            )));
        }
        Ok(())
    }

    /// Refuses an item that does not belong here.
    pub(super) fn check_item(self, item: &Item<'_>) -> Result<()> {
        let length = match (self, item) {
            (Space::Hamming { bits }, Item::Bits(bytes)) => return check_bits(bits, bytes),
            (Space::Cosine { .. } | Space::Euclid { .. }, Item::Vector(vector)) => vector.len(),
            (Space::Cosine { .. } | Space::Euclid { .. }, Item::Floats(vector)) => vector.len(),
            (Space::Texts { .. }, Item::Text(_)) | (Space::Sets, Item::Tokens(_)) => return Ok(()),
            _ => {
                return Err(Error::Value(format!("this filter holds {self}, not {}", item.sort())));
            }
        };
        if length != self.length() as usize {
            return Err(Error::Value(format!(
                "a vector of {length} numbers is not one of the {self} in this filter"
            )));
        }
        Ok(())
    }

    /// The probability that all `t` samples of a band agree for two items at this distance. `width` is the step of Euclid.
    pub(super) fn agreement(self, distance: f64, t: u32, width: f64) -> f64 {
        match self {
            Space::Hamming { bits } => positions_agree(bits, distance, t),
            Space::Cosine { .. } => {
                let angle = (1.0 - distance).clamp(-1.0, 1.0).acos();
                (1.0 - angle / PI).powi(t as i32)
            }
            Space::Euclid { .. } => step_agrees(width / distance).powi(t as i32),
            Space::Texts { .. } | Space::Sets => (1.0 - distance).max(0.0).powi(t as i32),
        }
    }

    /// The same where items at this distance are the nearest that are far. A distance between two numbers of bits counts as the larger one.
    pub(super) fn far_agreement(self, distance: f64, t: u32, width: f64) -> f64 {
        match self {
            Space::Hamming { bits } => {
                let differing = (distance * f64::from(bits) - ROUNDING).ceil().max(0.0);
                share_of_agreement(bits, differing, t)
            }
            _ => self.agreement(distance, t, width),
        }
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Space::Hamming { bits } => write!(f, "strings of {bits} bits"),
            Space::Cosine { dimension } | Space::Euclid { dimension } => {
                write!(f, "vectors of {dimension} numbers")
            }
            Space::Texts { shingle: 1 } => write!(f, "texts as sets of words"),
            Space::Texts { shingle } => write!(f, "texts as shingles of {shingle} words"),
            Space::Sets => write!(f, "sets of tokens"),
        }
    }
}

/// 0.29 of 100 bits are 29, though the product of the two is a little less.
const ROUNDING: f64 = 1e-6;

fn positions_agree(bits: u32, distance: f64, t: u32) -> f64 {
    share_of_agreement(bits, (distance * f64::from(bits) + ROUNDING).floor(), t)
}

/// t different positions of l, none of them among the d that differ: the product of (l - d - i) / (l - i).
fn share_of_agreement(bits: u32, differing: f64, t: u32) -> f64 {
    let bits = f64::from(bits);
    let factor = |i: u32| ((bits - differing - f64::from(i)) / (bits - f64::from(i))).max(0.0);
    (0..t).map(factor).product()
}

/// Two points at distance 1 fall into the same step of this width, along a random direction with a random offset.
fn step_agrees(width: f64) -> f64 {
    if width.is_infinite() {
        return 1.0;
    }
    let outside = libm::erfc(width / std::f64::consts::SQRT_2);
    let lost = -(-width * width / 2.0).exp_m1() * (2.0 / PI).sqrt() / width;
    (1.0 - outside - lost).clamp(0.0, 1.0)
}

/// As many bytes as the bits need, and nothing behind the last bit.
fn check_bits(bits: u32, bytes: &[u8]) -> Result<()> {
    if bytes.len() != bits.div_ceil(8) as usize {
        return Err(Error::Value(format!(
            "a string of {} bytes is not one of the strings of {bits} bits in this filter",
            bytes.len()
        )));
    }
    let spare = bytes.len() as u32 * 8 - bits;
    match bytes.last() {
        Some(last) if last.trailing_zeros() < spare => Err(Error::Value(format!(
            "there are bits set behind the last of {bits}: they must be 0"
        ))),
        _ => Ok(()),
    }
}
