//! Does the filter keep its promise? Exact counts over distinct keys, the rate with its interval, and a verdict.
//!
//! A correct filter does not show exactly the rate it was sized for: a sample of strangers scatters, and so does
//! the filter itself, since some sets of keys happen to fill more bits than others. For small filters the second is
//! the larger: sized for 2546 keys at 1 % and asked with 1.25 million, it is 2.8 times the first in the classic
//! layout and 4.8 times in the blocked one. The verdict allows for both, and fails only what neither explains.
//!
//! ```
//! use umbel::Bloom;
//! use umbel::audit::{CONFIDENCE, Counts, judge};
//!
//! let mut filter = Bloom::for_integers(1000, 0.01)?;
//! (0..1000).for_each(|key| _ = filter.insert_u64(key));
//!
//! let mut counts = Counts::default();
//! for key in 0..100_000 {
//!     counts.add(key < 1000, filter.contains_u64(key));
//! }
//! let verdict = judge(&filter, &counts, CONFIDENCE);
//! assert!(verdict.holds && counts.false_negatives == 0);
//! # Ok::<(), umbel::Error>(())
//! ```

use std::collections::{HashMap, HashSet};
use std::ops::AddAssign;

use crate::bloom::Bloom;
use crate::groups::Groups;
use crate::probability::clopper_pearson;
use crate::{Error, Result, spread};

/// The confidence of a verdict unless another is asked for: a correct filter fails once in a thousand audits.
pub const CONFIDENCE: f64 = 0.999;

/// What became of distinct keys that were asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Members that were admitted.
    pub true_positives: u64,
    /// Strangers that were admitted.
    pub false_positives: u64,
    /// Strangers that were rejected.
    pub true_negatives: u64,
    /// Members that were rejected: there must be none.
    pub false_negatives: u64,
}

impl Counts {
    /// Counts one distinct key.
    pub fn add(&mut self, member: bool, admitted: bool) {
        self.add_mask(u64::from(member), u64::from(admitted), 1);
    }

    /// Counts the first `len` keys of a batch of at most 64, given as bits.
    pub fn add_mask(&mut self, members: u64, admitted: u64, len: u32) {
        let all = u64::MAX.checked_shr(64 - len.min(64)).unwrap_or(0);
        let count = |mask: u64| u64::from((mask & all).count_ones());
        self.true_positives += count(members & admitted);
        self.false_positives += count(!members & admitted);
        self.true_negatives += count(!members & !admitted);
        self.false_negatives += count(members & !admitted);
    }

    /// How many strangers were asked.
    pub fn strangers(&self) -> u64 {
        self.false_positives + self.true_negatives
    }

    /// FP / (FP + TN); none when no stranger was asked.
    pub fn rate(&self) -> Option<f64> {
        let strangers = self.strangers();
        (strangers > 0).then(|| self.false_positives as f64 / strangers as f64)
    }

    /// The Clopper–Pearson interval of the rate of this very filter, for up to 10^12 strangers: beyond, rounding is felt in its ends.
    ///
    /// # Panics
    /// Where the confidence does not lie between 0 and 1.
    pub fn interval(&self, confidence: f64) -> (f64, f64) {
        check_confidence(confidence);
        clopper_pearson(self.false_positives, self.strangers(), confidence)
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.true_positives += other.true_positives;
        self.false_positives += other.false_positives;
        self.true_negatives += other.true_negatives;
        self.false_negatives += other.false_negatives;
    }
}

/// What an audit found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// Whether the promise holds: no false negative, and no more false positives than a correct filter may show.
    pub holds: bool,
    /// The rate that the size promises; none for strategies that promise nothing.
    pub promised: Option<f64>,
    /// The rate computed from the bits themselves.
    pub from_bits: f64,
    /// The probability that a correct filter of this size shows at least as many false positives; none where no rate is promised, so
    /// that only the members were judged.
    pub chance: Option<f64>,
    /// The confidence of the verdict.
    pub confidence: f64,
}

/// Judges a filter by counts over distinct keys.
///
/// # Panics
/// Where the confidence does not lie between 0 and 1.
pub fn judge(filter: &Bloom, counts: &Counts, confidence: f64) -> Verdict {
    check_confidence(confidence);
    let sizing = filter.sizing();
    let promised = filter.params().strategy().keeps_rate().then(|| sizing.expected_rate());
    let chance =
        promised.map(|_| spread::chance(&sizing, counts.false_positives, counts.strangers()));
    Verdict {
        holds: counts.false_negatives == 0
            && chance.is_none_or(|chance| chance >= 1.0 - confidence),
        promised,
        from_bits: filter.expected_rate_now(),
        chance,
        confidence,
    }
}

/// With any other a verdict would mean nothing, and look like one.
fn check_confidence(confidence: f64) {
    assert!(
        confidence > 0.0 && confidence < 1.0,
        "a confidence lies between 0 and 1, for example {CONFIDENCE}; not {confidence}"
    );
}

/// The counts of one filter: `members` were inserted, `strangers` may hold members too, which then count as such.
pub fn count<'k>(
    filter: &Bloom,
    members: impl IntoIterator<Item = &'k [u8]>,
    strangers: impl IntoIterator<Item = &'k [u8]>,
) -> Counts {
    let members: HashSet<&[u8]> = members.into_iter().collect();
    let strangers: HashSet<&[u8]> = strangers.into_iter().collect();
    let mut counts = Counts::default();
    members.iter().for_each(|key| counts.add(true, filter.contains(key)));
    strangers.difference(&members).for_each(|key| counts.add(false, filter.contains(key)));
    counts
}

/// The counts of every group over the whole table of (key, group), in the order of the groups. A key that stands in
/// several groups is a member of each, and a stranger to all others. A group of the table that has no filter is an error.
pub fn count_groups<'k>(
    groups: &Groups,
    table: impl IntoIterator<Item = (&'k [u8], &'k str)>,
) -> Result<Vec<Counts>> {
    let names: HashSet<&str> = groups.names().collect();
    let mut homes: HashMap<&[u8], HashSet<&str>> = HashMap::new();
    for (key, group) in table {
        if !names.contains(group) {
            return Err(Error::NoGroup(group.into()));
        }
        homes.entry(key).or_default().insert(group);
    }
    let mut counts = vec![Counts::default(); groups.len()];
    for (key, homes) in homes {
        let admitted: HashSet<&str> = groups.which(key).collect();
        for (name, counts) in groups.names().zip(&mut counts) {
            counts.add(homes.contains(name), admitted.contains(name));
        }
    }
    Ok(counts)
}
