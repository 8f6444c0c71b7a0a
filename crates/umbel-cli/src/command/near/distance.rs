//! The arguments that say what "near" means.

use anyhow::{Result, bail};
use umbel::near::Grid;

/// The rate when none is asked for.
const DEFAULT_RATE: f64 = 0.01;

/// What near means
#[derive(clap::Args, Clone)]
#[command(next_help_heading = "Distance")]
pub struct Distance {
    /// The distance: a number is near that is no further off
    #[arg(long, value_name = "DISTANCE", allow_negative_numbers = true)]
    alpha: Option<f64>,

    /// The resolution: numbers are rounded to its multiples; beyond alpha + beta nothing is near
    #[arg(long, value_name = "STEP", allow_negative_numbers = true)]
    beta: Option<f64>,

    /// The rate of false positives of a whole question [default: 0.01]
    #[arg(short = 'p', value_name = "RATE", allow_negative_numbers = true, value_parser = crate::input::rate)]
    p: Option<f64>,

    /// What the numbers are
    ///
    /// float takes decimal text as 64-bit floats, int as 64-bit integers.
    #[arg(long = "type", value_name = "TYPE", value_enum, default_value_t)]
    number_type: NumberType,
}

/// What numbers are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum NumberType {
    #[default]
    Float,
    Int,
}

impl Distance {
    /// alpha, beta, and what the numbers are.
    pub fn grid(&self) -> Result<Grid> {
        let (Some(alpha), Some(beta)) = (self.alpha, self.beta) else {
            bail!("give the distance with --alpha and the resolution with --beta");
        };
        if self.number_type == NumberType::Float {
            return Ok(Grid::floats(alpha, beta)?);
        }
        let whole = |name, value: f64| match value.fract() == 0.0 && value >= 0.0 {
            true => Ok(value as u64),
            false => bail!("{name} is a whole number for --type int, not {value}"),
        };
        Ok(Grid::integers(whole("--alpha", alpha)?, whole("--beta", beta)?)?)
    }

    /// The rate of false positives.
    pub fn rate(&self) -> f64 {
        self.p.unwrap_or(DEFAULT_RATE)
    }
}
