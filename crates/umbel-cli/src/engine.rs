//! The arguments that say where the work is done.

use anyhow::{Result, bail};
use clap::ValueEnum;

/// Where the work is done
#[derive(clap::Args, Clone, Default)]
#[command(next_help_heading = "Engine")]
pub struct Engine {
    /// Where to work
    #[arg(long, value_enum, value_name = "ENGINE", default_value_t, hide_default_value = true)]
    pub on: On,

    /// On hadoop: lines for each mapper [default: a mapper takes 128 MiB]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    #[arg(hide_short_help = true)]
    pub lines_per_split: Option<u64>,

    /// On hadoop: the number of reducers [default: by the size of the result]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    #[arg(hide_short_help = true)]
    pub reducers: Option<u32>,

    /// On spark: local[*], spark://…, yarn [default: as Spark is configured]
    #[arg(long, value_name = "URL")]
    #[arg(hide_short_help = true)]
    pub master: Option<String>,

    /// On spark: the number of tasks [default: by the cores of the cluster]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    #[arg(hide_short_help = true)]
    pub partitions: Option<u32>,
}

/// Engines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum On {
    // No documentation: clap would make the help of every command longer by a page.
    #[default]
    Local,
    Hadoop,
    Spark,
}

impl Engine {
    /// Whether the work is done by jobs. Refuses what is said for another engine.
    pub fn runs_jobs(&self) -> Result<bool> {
        let given = [
            ("--lines-per-split", self.lines_per_split.is_some(), On::Hadoop),
            ("--reducers", self.reducers.is_some(), On::Hadoop),
            ("--master", self.master.is_some(), On::Spark),
            ("--partitions", self.partitions.is_some(), On::Spark),
        ];
        match given.into_iter().find(|(_, given, on)| *given && self.on != *on) {
            Some((name, _, on)) => bail!("{name} goes with --on {}", on.name()),
            None => Ok(self.on != On::Local),
        }
    }

    /// The engine, as the option has it.
    pub fn name(&self) -> &'static str {
        self.on.name()
    }
}

impl On {
    fn name(self) -> &'static str {
        match self {
            On::Local => "local",
            On::Hadoop => "hadoop",
            On::Spark => "spark",
        }
    }
}
