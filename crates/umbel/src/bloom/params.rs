//! What defines a filter: two filters with equal parameters set the same bits for the same keys.

use std::fmt;

use crate::hash::Strategy;
use crate::sizing::{Layout, Sizing};
use crate::{Error, Result};

/// What the keys of a filter are. The integer 42 and the text "42" are different keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyType {
    /// Any bytes.
    Bytes,
    /// 64-bit integers, hashed as eight little-endian bytes.
    U64,
}

impl fmt::Display for KeyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            KeyType::Bytes => "keys of bytes",
            KeyType::U64 => "keys of 64-bit integers",
        })
    }
}

/// The parameters of a filter.
///
/// ```
/// use umbel::hash::{Family, Strategy};
/// use umbel::{Bloom, Params, Sizing};
///
/// let size = Sizing::classic_with_probes(1000, 0.01, 7)?;
/// let params = Params::new(size).with_strategy(Strategy::seeded(Family::Murmur2, 7))?;
/// let filter = Bloom::with(params)?;
/// # Ok::<(), umbel::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Params {
    sizing: Sizing,
    strategy: Strategy,
    key_type: KeyType,
}

impl Params {
    /// This size, with the default strategy and keys of bytes.
    pub fn new(sizing: Sizing) -> Params {
        Params { sizing, strategy: Strategy::default(), key_type: KeyType::Bytes }
    }

    /// The same with another hash strategy. The seeded families work with the classic layout only.
    pub fn with_strategy(self, strategy: Strategy) -> Result<Params> {
        let sizing = &self.sizing;
        if sizing.layout() == Layout::Blocked && matches!(strategy, Strategy::Seeded { .. }) {
            return Err(Error::Strategy(format!(
                "{} works with the classic layout only; the blocked layout needs xxh3",
                strategy.name()
            )));
        }
        strategy.check(sizing.bits(), sizing.probes())?;
        Ok(Params { strategy, ..self })
    }

    /// The same for another type of keys.
    pub fn with_key_type(self, key_type: KeyType) -> Params {
        Params { key_type, ..self }
    }

    /// The size: layout, m, k, n.
    pub fn sizing(&self) -> Sizing {
        self.sizing
    }

    /// The hash strategy.
    pub fn strategy(&self) -> &Strategy {
        &self.strategy
    }

    /// What the keys are.
    pub fn key_type(&self) -> KeyType {
        self.key_type
    }

    /// Sized for at least `n` keys, the bits being the same.
    pub(crate) fn raise_capacity(&mut self, n: u64) {
        self.sizing = self.sizing.with_capacity(self.sizing.capacity().max(n));
    }

    /// Refuses parameters under which the same key has other bits, naming the first that differs.
    pub(crate) fn check_alike(&self, other: &Params) -> Result<()> {
        let (a, b) = (&self.sizing, &other.sizing);
        same("the layout", a.layout(), b.layout())?;
        same("the number of bits (m)", a.bits(), b.bits())?;
        same("the number of probes (k)", a.probes(), b.probes())?;
        same("the hash strategy", &self.strategy, &other.strategy)?;
        same("the key type", self.key_type, other.key_type)
    }
}

/// Refuses values that differ, naming the field and both.
pub(crate) fn same<T: PartialEq + fmt::Display>(
    field: &'static str,
    ours: T,
    theirs: T,
) -> Result<()> {
    if ours == theirs {
        return Ok(());
    }
    Err(Error::Unlike { field, ours: ours.to_string(), theirs: theirs.to_string() })
}
