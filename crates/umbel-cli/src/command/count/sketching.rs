//! The arguments that size a sketch.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use umbel::counts::{CountGroups, Sketch};
use umbel::format::{File, Kind};
use umbel::{Conservative, CountMin, CountMinParams, Counts, Heavy, KeyType, Ranges, RangesParams};

/// eps where it is not given.
const EPS: f64 = 0.001;
/// delta where it is not given.
const DELTA: f64 = 0.01;

/// The sketch's size
#[derive(clap::Args, Clone, Default)]
#[command(next_help_heading = "Sketch")]
pub struct Sketching {
    /// How much too high an estimate may be, as a share of the total weight [default: 0.001]
    #[arg(long, value_name = "SHARE", conflicts_with = "width")]
    eps: Option<f64>,

    /// The share of keys whose estimate may be higher still [default: 0.01]
    #[arg(long, value_name = "SHARE", conflicts_with = "depth")]
    delta: Option<f64>,

    /// Counters a row, instead of --eps
    #[arg(long, value_name = "COLUMNS")]
    #[arg(hide_short_help = true)]
    width: Option<u64>,

    /// Rows of counters, instead of --delta
    #[arg(long, value_name = "ROWS")]
    #[arg(hide_short_help = true)]
    depth: Option<u32>,

    /// Closer estimates, in the order of the input; such sketches cannot be merged
    ///
    /// Nor can they be multiplied.
    #[arg(long, conflicts_with = "integers")]
    conservative: bool,

    /// Keys are whole numbers: for count range and quantile
    #[arg(long, value_name = "LO..HI", value_parser = interval, allow_hyphen_values = true)]
    integers: Option<(i64, i64)>,

    /// Keep the most frequent keys too: for count heavy
    #[arg(long, value_name = "PLACES", value_parser = clap::value_parser!(u32).range(1..))]
    heavy: Option<u32>,

    /// Take all parameters from this sketch, for a merge
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with_all = ["eps", "delta", "width", "depth", "conservative", "integers", "heavy", "seed", "key_type"])]
    like: Option<PathBuf>,

    /// The seed of the hash, for a service that takes keys from strangers
    #[arg(long, value_name = "SEED", default_value_t = 0, hide_default_value = true)]
    #[arg(hide_short_help = true)]
    seed: u64,
}

impl Sketching {
    /// Empty counts of keys of this type.
    pub fn empty(&self, integers: bool) -> Result<Counts> {
        if let Some(path) = &self.like {
            return like(path);
        }
        let (eps, delta) = (self.eps.unwrap_or(EPS), self.delta.unwrap_or(DELTA));
        let key_type = if integers { KeyType::U64 } else { KeyType::Bytes };
        let counts = if let Some((lo, hi)) = self.integers {
            let usual = RangesParams::for_error(lo, hi, eps, delta)?;
            let (width, depth) = self.size(usual.width(), usual.depth());
            let params = RangesParams::with_size(lo, hi, width, depth)?;
            Counts::from(Ranges::new(params.with_seed(self.seed))?)
        } else {
            let usual = CountMinParams::for_error(eps, delta)?;
            let (width, depth) = self.size(usual.width(), usual.depth());
            let params = CountMinParams::with_size(width, depth)?;
            let params = params.with_seed(self.seed).with_key_type(key_type);
            match self.conservative {
                true => Counts::from(Conservative::new(params)?),
                false => Counts::from(CountMin::new(params)?),
            }
        };
        match self.heavy {
            Some(places) => {
                let heavy = Heavy::new(places)?.with_key_type(counts.key_type());
                Ok(counts.with_heavy(heavy)?)
            }
            None => Ok(counts),
        }
    }

    fn size(&self, width: u64, depth: u32) -> (u64, u32) {
        (self.width.unwrap_or(width), self.depth.unwrap_or(depth))
    }
}

/// Empty counts with the parameters of those in a file; of its first group, where it has groups.
fn like(path: &Path) -> Result<Counts> {
    if File::open(path)?.kind() != Kind::CountGroups {
        return empty_like(&Counts::open(path)?);
    }
    let groups = CountGroups::open(path)?;
    match groups.iter().next() {
        Some((_, counts)) => empty_like(counts),
        None => bail!("{}: it has no groups to be like", path.display()),
    }
}

fn empty_like(counts: &Counts) -> Result<Counts> {
    let heavy =
        |found: &Heavy| Heavy::new(found.places()).map(|h| h.with_key_type(found.key_type()));
    let empty = match counts.sketch() {
        Some(Sketch::Plain(sketch)) => Counts::from(CountMin::new(*sketch.params())?),
        Some(Sketch::Conservative(sketch)) => Counts::from(Conservative::new(*sketch.params())?),
        Some(Sketch::Ranges(ranges)) => Counts::from(Ranges::new(*ranges.params())?),
        None => bail!("heavy hitters alone are counted by umbel count heavy"),
    };
    match counts.heavy() {
        Some(found) => Ok(empty.with_heavy(heavy(found)?)?),
        None => Ok(empty),
    }
}

/// LO..HI, both included.
fn interval(text: &str) -> Result<(i64, i64), String> {
    let wrong = || format!("{text:?} is not an interval such as 0..65535");
    let (lo, hi) = text.split_once("..").ok_or_else(wrong)?;
    let number = |text: &str| text.trim_start_matches('=').parse().map_err(|_| wrong());
    Ok((number(lo)?, number(hi)?))
}
