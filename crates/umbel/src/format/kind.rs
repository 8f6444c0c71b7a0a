//! What files hold.

use std::fmt;

use crate::{Error, Result};

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// One Bloom filter.
    Bloom = 1,
    /// Bloom filters by group.
    Groups = 2,
    /// A count-min sketch.
    CountMin = 3,
    /// A count-min sketch with conservative update.
    Conservative = 4,
    /// Counts over ranges of integers.
    Ranges = 5,
    /// Heavy hitters.
    Heavy = 6,
    /// A sketch and heavy hitters of one stream.
    Counts = 7,
    /// Counts by group.
    CountGroups = 8,
    /// Numbers, to be asked for what is near.
    Near = 16,
    /// Items, to be asked for what is similar.
    Similar = 17,
}

impl Kind {
    const ALL: [Kind; 10] = [
        Kind::Bloom,
        Kind::Groups,
        Kind::CountMin,
        Kind::Conservative,
        Kind::Ranges,
        Kind::Heavy,
        Kind::Counts,
        Kind::CountGroups,
        Kind::Near,
        Kind::Similar,
    ];

    /// The number in the file.
    pub(crate) fn id(self) -> u16 {
        self as u16
    }

    pub(super) fn from_id(id: u16) -> Result<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.id() == id).ok_or_else(|| {
            Error::Format(format!(
                "this file holds a structure of kind {id}, which this version of umbel does not know"
            ))
        })
    }

    /// Refuses a file of another kind.
    pub(crate) fn expect(self, wanted: Kind) -> Result<()> {
        if self == wanted {
            return Ok(());
        }
        if wanted == Kind::CountMin {
            self.check_mergeable()?;
        }
        Err(Error::Kind { wanted, found: self })
    }

    /// Whether one file of this kind holds counts of one stream: see [`Counts`](crate::Counts).
    pub fn is_counts(self) -> bool {
        use Kind::{Conservative, CountMin, Counts, Heavy, Ranges};
        matches!(self, CountMin | Conservative | Ranges | Heavy | Counts)
    }

    /// Refuses what cannot be merged, with the reason.
    pub fn check_mergeable(self) -> Result<()> {
        match self {
            Kind::Conservative => Err(Error::OrderMatters),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Bloom => "a Bloom filter",
            Kind::Groups => "Bloom filters by group",
            Kind::CountMin => "a count-min sketch",
            Kind::Conservative => "a conservative count-min sketch",
            Kind::Ranges => "counts over ranges",
            Kind::Heavy => "heavy hitters",
            Kind::Counts => "counts with heavy hitters",
            Kind::CountGroups => "counts by group",
            Kind::Near => "a near structure",
            Kind::Similar => "items to compare",
        })
    }
}
