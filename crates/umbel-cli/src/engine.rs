//! The arguments that say where the work is done.

use anyhow::{Result, bail};
use clap::ValueEnum;

/// Where the work is done
#[derive(clap::Args, Clone, Default)]
#[command(next_help_heading = "Engine")]
pub struct Engine {
    /// Where the work is done; on hadoop as jobs, with inputs on HDFS (hdfs://…)
    #[arg(long, value_enum, value_name = "ENGINE", default_value_t, hide_default_value = true)]
    pub on: On,

    /// On hadoop: so many lines for each mapper, which Hadoop reads [default: mappers read 128 MiB each themselves]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub lines_per_split: Option<u64>,

    /// On hadoop: the number of reducers [default: by the size of the result]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub reducers: Option<u32>,
}

/// Engines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum On {
    // No documentation: clap would make the help of every command longer by a page.
    #[default]
    Local,
    Hadoop,
}

impl Engine {
    /// Whether the work is done on Hadoop. Refuses what is said for it alone.
    pub fn is_hadoop(&self) -> Result<bool> {
        let given = [
            ("--lines-per-split", self.lines_per_split.is_some()),
            ("--reducers", self.reducers.is_some()),
        ];
        match given.into_iter().find(|(_, given)| *given && self.on == On::Local) {
            Some((name, _)) => bail!("{name} goes with --on hadoop"),
            None => Ok(self.on == On::Hadoop),
        }
    }
}
