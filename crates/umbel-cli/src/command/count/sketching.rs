//! The arguments that size a sketch.

use std::path::PathBuf;

use anyhow::{Result, bail};
use umbel::{CountMinParams, KeyType, RangesParams};
use umbel_io::count::Sketch;

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
    width: Option<u64>,

    /// Rows of counters, instead of --delta
    #[arg(long, value_name = "ROWS")]
    depth: Option<u32>,

    /// Count in the order of the input with closer estimates; such sketches cannot be merged or multiplied
    #[arg(long, conflicts_with = "integers")]
    conservative: bool,

    /// Keys are whole numbers from LO to HI: for umbel count range and quantile
    #[arg(long, value_name = "LO..HI", value_parser = interval, allow_hyphen_values = true)]
    integers: Option<(i64, i64)>,

    /// Take all parameters from this sketch, so that the two can be merged
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with_all = ["eps", "delta", "width", "depth", "conservative", "integers", "seed", "key_type"])]
    like: Option<PathBuf>,

    /// The seed of the hash, for a service that takes keys from strangers
    #[arg(long, value_name = "SEED", default_value_t = 0, hide_default_value = true)]
    seed: u64,
}

/// What is to be built.
pub enum Wanted {
    Plain(CountMinParams),
    Conservative(CountMinParams),
    Ranges(RangesParams),
}

impl Wanted {
    /// Whether the keys are integers.
    pub fn holds_integers(&self) -> bool {
        match self {
            Wanted::Plain(params) | Wanted::Conservative(params) => {
                params.key_type() == KeyType::U64
            }
            Wanted::Ranges(_) => true,
        }
    }
}

impl Sketching {
    /// The parameters of a sketch of keys of this type.
    pub fn wanted(&self, integers: bool) -> Result<Wanted> {
        if let Some(path) = &self.like {
            return Ok(match Sketch::open(path)? {
                Sketch::Plain(sketch) => Wanted::Plain(*sketch.params()),
                Sketch::Conservative(sketch) => Wanted::Conservative(*sketch.params()),
                Sketch::Ranges(ranges) => Wanted::Ranges(*ranges.params()),
                other => {
                    bail!("{}: it holds {}, not a sketch of counts", path.display(), other.kind())
                }
            });
        }
        let (eps, delta) = (self.eps.unwrap_or(EPS), self.delta.unwrap_or(DELTA));
        if let Some((lo, hi)) = self.integers {
            let usual = RangesParams::for_error(lo, hi, eps, delta)?;
            let (width, depth) = self.size(usual.width(), usual.depth());
            let params = RangesParams::with_size(lo, hi, width, depth)?;
            return Ok(Wanted::Ranges(params.with_seed(self.seed)));
        }
        let usual = CountMinParams::for_error(eps, delta)?;
        let (width, depth) = self.size(usual.width(), usual.depth());
        let key_type = if integers { KeyType::U64 } else { KeyType::Bytes };
        let params = CountMinParams::with_size(width, depth)?;
        let params = params.with_seed(self.seed).with_key_type(key_type);
        Ok(if self.conservative { Wanted::Conservative(params) } else { Wanted::Plain(params) })
    }

    fn size(&self, width: u64, depth: u32) -> (u64, u32) {
        (self.width.unwrap_or(width), self.depth.unwrap_or(depth))
    }
}

/// LO..HI, both included.
fn interval(text: &str) -> Result<(i64, i64), String> {
    let wrong = || format!("{text:?} is not an interval such as 0..65535");
    let (lo, hi) = text.split_once("..").ok_or_else(wrong)?;
    let number = |text: &str| text.trim_start_matches('=').parse().map_err(|_| wrong());
    Ok((number(lo)?, number(hi)?))
}
