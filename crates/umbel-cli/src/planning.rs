//! The arguments that size a filter.

use std::collections::HashSet;

use anyhow::{Result, bail};
use clap::ValueEnum;
use umbel::hash::{Family, Strategy};
use umbel::sizing::MAX_BITS;
use umbel::{Bloom, Layout};
use umbel_io::Plan;

use crate::table::percent;
use crate::{input, notice};

/// How far above the asked rate the classic layout may lie, as k is rounded.
const ROUNDED: f64 = 1.02;
/// The rate beyond which a filter of given bits is of little use, where none is asked for.
const HALF: f64 = 0.5;

/// The filter's size
#[derive(clap::Args, Clone, Default)]
#[command(next_help_heading = "Filter")]
pub struct Planning {
    /// The number of keys [default: counted]
    #[arg(short = 'n', value_name = "KEYS", value_parser = input::whole)]
    pub n: Option<u64>,

    /// The rate of false positives [default: 0.01]
    #[arg(short = 'p', value_name = "RATE", value_parser = input::rate)]
    pub p: Option<f64>,

    /// The number of probes a key (classic layout)
    #[arg(short = 'k', value_name = "PROBES")]
    pub k: Option<u32>,

    /// The number of bits (classic layout)
    #[arg(short = 'm', value_name = "BITS", value_parser = input::whole)]
    pub m: Option<u64>,

    /// Blocked, the fastest and the default, or classic, the smallest
    #[arg(long, value_enum)]
    pub layout: Option<LayoutName>,
}

/// The hash
#[derive(clap::Args, Clone, Default)]
#[command(next_help_heading = "Filter")]
pub struct Hashing {
    /// The hash strategy; others than xxh3 reproduce filters of other programs (classic layout)
    #[arg(long, value_enum, default_value_t)]
    #[arg(hide_short_help = true)]
    pub hash: HashName,

    /// The seeds of a hash other than xxh3, one a probe [default for murmur2 and murmur3: 0,1,2,…]
    #[arg(long, value_name = "S,S,…", value_delimiter = ',')]
    #[arg(hide_short_help = true)]
    pub seeds: Option<Vec<u32>>,

    /// The seed of xxh3, for a service that takes keys from strangers
    #[arg(long, value_name = "SEED", default_value_t = 0, hide_default_value = true)]
    #[arg(hide_short_help = true)]
    pub seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LayoutName {
    Blocked,
    Classic,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum HashName {
    #[default]
    Xxh3,
    Murmur2,
    Murmur3,
    PolynomialMod,
    PolynomialWrap,
}

impl HashName {
    fn family(self) -> Option<Family> {
        match self {
            HashName::Xxh3 => None,
            HashName::Murmur2 => Some(Family::Murmur2),
            HashName::Murmur3 => Some(Family::Murmur3),
            HashName::PolynomialMod => Some(Family::PolynomialMod),
            HashName::PolynomialWrap => Some(Family::PolynomialWrap),
        }
    }
}

impl Planning {
    /// Says which wish is not used: the number of bits leaves the rate no choice.
    pub fn warn_unused(&self) {
        if let (Some(p), Some(_)) = (self.p, self.m) {
            notice::warn(format!("-m sets the size, so that -p {p} is not used"));
        }
    }

    /// A warning where a filter is too full: for the number of keys that was given; or by its number of bits, for the rate.
    pub fn too_full(&self, filter: &Bloom) -> Option<String> {
        let overfull = filter.overfull();
        let Some(m) = self.m else { return overfull.map(|overfull| overfull.to_string()) };
        let (asked, instead) = match self.p {
            Some(p) => (ROUNDED * p, format!(" instead of {}", percent(p))),
            None => (HALF, String::new()),
        };
        let rate = filter.expected_rate_now();
        let larger =
            if overfull.is_some() && self.n.is_some() { "-n, and perhaps -m" } else { "-m" };
        let says = || {
            format!(
                "-m {m} is small for these keys: expect {} false positives{instead}; give a larger {larger}",
                percent(rate)
            )
        };
        let is_wrong = overfull.is_some() && rate > asked;
        (is_wrong || filter.sizing().expected_rate() > asked).then(says)
    }

    /// The plan, with this hash.
    pub fn plan(&self, hashing: &Hashing, integers: bool) -> Result<Plan> {
        let family = hashing.hash.family();
        if family.is_some() && hashing.seed != 0 {
            bail!("--seed is the seed of xxh3; give the seeds of the other hashes with --seeds");
        }
        if let Some(m) = self.m.filter(|m| *m > MAX_BITS) {
            bail!("-m {m}: a filter has at most 2^48 bits (32 TiB): give a smaller -m");
        }
        check_seeds(hashing.seeds.as_deref().unwrap_or_default())?;
        Ok(Plan {
            n: self.n,
            p: self.p,
            k: self.k,
            m: self.m,
            layout: self.layout.map(|layout| match layout {
                LayoutName::Blocked => Layout::Blocked,
                LayoutName::Classic => Layout::Classic,
            }),
            family,
            seeds: hashing.seeds.clone(),
            seed: hashing.seed,
            integers,
        })
    }
}

/// Refuses equal seeds: their probes would ask for the same bit, and be fewer than the rate counts on.
fn check_seeds(seeds: &[u32]) -> Result<()> {
    let mut seen = HashSet::new();
    match seeds.iter().find(|seed| !seen.insert(**seed)) {
        Some(seed) => bail!(
            "--seeds has {seed} more than once: equal seeds ask for the same bit, and the rate would not hold; give different ones"
        ),
        None => Ok(()),
    }
}

/// What is said of rates where the hash promises none.
pub fn of_a_good_hash(strategy: &Strategy) -> Option<String> {
    let said = || format!("of a good hash; {} promises none", strategy.name());
    (!strategy.keeps_rate()).then(said)
}
