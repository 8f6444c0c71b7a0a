//! What filter to build, from what a user says: n, p, k, m, layout, hash, seeds.

use umbel::hash::{Family, Strategy};
use umbel::{Error, KeyType, Layout, Params, Result, Sizing};

/// The wishes that size a filter. Whatever is left open is chosen.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    /// The number of keys; found by counting when it is not given.
    pub n: Option<u64>,
    /// The rate of false positives; 1 % when it is not given.
    pub p: Option<f64>,
    /// The number of probes; implies the classic layout.
    pub k: Option<u32>,
    /// The number of bits; implies the classic layout.
    pub m: Option<u64>,
    /// The layout.
    pub layout: Option<Layout>,
    /// The hash family, where it is not xxh3; implies the classic layout.
    pub family: Option<Family>,
    /// The seeds of the family, one a probe.
    pub seeds: Option<Vec<u32>>,
    /// The seed of xxh3.
    pub seed: u64,
    /// Whether keys are integers.
    pub integers: bool,
}

/// The rate when none is asked for.
pub const DEFAULT_RATE: f64 = 0.01;

impl Plan {
    /// The parameters of a filter for `n` keys.
    pub fn params(&self, n: u64) -> Result<Params> {
        let k = self.probes()?;
        let sizing = self.sizing(n, k)?;
        let params = Params::new(sizing).with_strategy(self.strategy(sizing.probes())?)?;
        Ok(params.with_key_type(self.key_type()))
    }

    /// The size that was asked for; both layouts where nothing decides between them.
    pub fn sizings(&self, n: u64) -> Result<Vec<Sizing>> {
        let asked = self.params(n)?.sizing();
        if self.layout.is_some() || asked.layout() == Layout::Classic {
            return Ok(vec![asked]);
        }
        let classic = Plan { layout: Some(Layout::Classic), ..self.clone() }.params(n)?.sizing();
        Ok(vec![asked, classic])
    }

    /// What the keys are.
    pub fn key_type(&self) -> KeyType {
        if self.integers { KeyType::U64 } else { KeyType::Bytes }
    }

    /// Whether a key's bits follow from one hash, so that hashes can be kept until n is known.
    pub fn hashes_once(&self) -> bool {
        self.family.is_none()
    }

    /// The number of probes asked for, directly or by the number of seeds.
    fn probes(&self) -> Result<Option<u32>> {
        let seeds = self.seeds.as_ref().map(|seeds| seeds.len() as u32);
        match (self.k, seeds) {
            (Some(k), Some(seeds)) if k != seeds => Err(Error::Strategy(format!(
                "{seeds} seeds were given for k = {k}: one a probe is needed"
            ))),
            (k, seeds) => Ok(k.or(seeds)),
        }
    }

    fn sizing(&self, n: u64, k: Option<u32>) -> Result<Sizing> {
        let p = self.p.unwrap_or(DEFAULT_RATE);
        if self.layout == Some(Layout::Blocked) {
            if k.is_some() || self.family.is_some() {
                return Err(Error::Sizing(
                    "-k, --seeds and other hashes than xxh3 need --layout classic".into(),
                ));
            }
            return self.m.map_or_else(|| Sizing::blocked(n, p), |m| Sizing::blocked_with(n, m));
        }
        match (self.m, k) {
            (Some(m), Some(k)) => Sizing::with(n, m, k),
            (Some(m), None) => Sizing::with(n, m, best_probes(n, m)),
            (None, Some(k)) => Sizing::classic_with_probes(n, p, k),
            (None, None) if self.layout.is_some() || self.family.is_some() => Sizing::classic(n, p),
            (None, None) => Sizing::new(n, p),
        }
    }

    fn strategy(&self, k: u32) -> Result<Strategy> {
        match (self.family, &self.seeds) {
            (None, None) => Ok(Strategy::Xxh3 { seed: self.seed }),
            (None, Some(_)) => Err(Error::Strategy(
                "xxh3 has one seed: give it with --seed; --seeds, one a probe, goes with --hash murmur2, murmur3, polynomial-mod or polynomial-wrap".into(),
            )),
            (Some(family), Some(seeds)) => Ok(Strategy::Seeded { family, seeds: seeds.clone() }),
            (Some(family @ (Family::PolynomialMod | Family::PolynomialWrap)), None) => {
                Err(Error::Strategy(format!("{} needs --seeds: one number a probe", family.name())))
            }
            (Some(family), None) => Ok(Strategy::seeded(family, k)),
        }
    }
}

/// The number of probes that serves m bits for n keys best.
fn best_probes(n: u64, m: u64) -> u32 {
    let best = m as f64 / n.max(1) as f64 * std::f64::consts::LN_2;
    best.round().clamp(1.0, f64::from(umbel::sizing::MAX_PROBES)) as u32
}
