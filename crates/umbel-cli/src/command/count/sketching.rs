//! The arguments that size a sketch.

use anyhow::Result;
use umbel::{CountMinParams, KeyType};

/// The sketch's size
#[derive(clap::Args, Clone, Default)]
#[command(next_help_heading = "Sketch")]
pub struct Sketching {
    /// How much too high an estimate may be, as a share of the total weight [default: 0.001]
    #[arg(long, value_name = "SHARE", conflicts_with = "width")]
    pub eps: Option<f64>,

    /// The share of keys whose estimate may be higher still [default: 0.01]
    #[arg(long, value_name = "SHARE", conflicts_with = "depth")]
    pub delta: Option<f64>,

    /// Counters a row, instead of --eps
    #[arg(long, short = 'w', value_name = "COLUMNS")]
    pub width: Option<u64>,

    /// Rows of counters, instead of --delta
    #[arg(long, value_name = "ROWS")]
    pub depth: Option<u32>,

    /// The seed of the hash, for a service that takes keys from strangers
    #[arg(long, value_name = "SEED", default_value_t = 0, hide_default_value = true)]
    pub seed: u64,
}

/// eps where it is not given.
const EPS: f64 = 0.001;
/// delta where it is not given.
const DELTA: f64 = 0.01;

impl Sketching {
    /// The parameters of a sketch of keys of this type.
    pub fn params(&self, integers: bool) -> Result<CountMinParams> {
        let usual =
            CountMinParams::for_error(self.eps.unwrap_or(EPS), self.delta.unwrap_or(DELTA))?;
        let width = self.width.unwrap_or(usual.width());
        let depth = self.depth.unwrap_or(usual.depth());
        let key_type = if integers { KeyType::U64 } else { KeyType::Bytes };
        Ok(CountMinParams::with_size(width, depth)?.with_seed(self.seed).with_key_type(key_type))
    }
}
