//! `umbel stream`: one stream trains, one asks.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use umbel::CountMinParams;
use umbel_io::Plan;
use umbel_stream::{Config, Event, Facts, Place, Service, Status, Wanted};

use crate::table::grouped;
use crate::{input, interrupt, json, notice};

const EXAMPLES: &str = "\
A PLACE is an address to listen at, a file, a named pipe, or - for stdin. Each line of a query \
connection is answered on it: the key, a tab, and 1 or 0, or how often it came; those of a file or \
pipe on stdout.

Examples:
  umbel stream --filter -n 1000000 --state seen/ \\
    --train localhost:7001 --query localhost:7002
  nc -N localhost 7001 < addresses.txt; echo 10.0.0.1 | nc -N localhost 7002
  umbel stream --train a.txt --query b.txt --filter -n 1000000 --only-seen
  umbel stream --count --train-from localhost:9999 --query localhost:7002";

/// The longest line that may be asked for.
const MAX_LINE: u64 = 16 << 20;
/// eps and delta where they are not given.
const EPS: f64 = 0.001;
const DELTA: f64 = 0.01;
/// The heading of what sizes a sketch.
const SKETCH: &str = "Sketch [default: that of the state]";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Where training lines come from; may be repeated
    #[arg(long, value_name = "PLACE", required_unless_present_any = ["train_from", "query"])]
    train: Vec<Place>,

    /// An address to connect to for training lines
    ///
    /// It connects again when the connection ends. May be repeated.
    #[arg(long, value_name = "ADDRESS")]
    train_from: Vec<String>,

    /// Where questions come from; may be repeated
    ///
    /// A file is read when the training files have been.
    #[arg(long, value_name = "PLACE")]
    query: Vec<Place>,

    /// Answer with the keys that were seen alone, once each for what was read together
    #[arg(long)]
    only_seen: bool,

    /// The longest line; a longer one gets an error line
    #[arg(long, value_name = "SIZE", default_value = "64K", value_parser = input::bytes)]
    #[arg(hide_short_help = true)]
    max_line: u64,

    /// Tell how things stand on stderr, a JSON object a line, at every snapshot
    #[arg(long)]
    #[arg(hide_short_help = true)]
    json: bool,

    /// Seen or not: a Bloom filter
    #[arg(long, requires = "n", group = "sketch", help_heading = SKETCH)]
    filter: bool,

    /// The number of different keys to expect
    #[arg(short, value_name = "KEYS", value_parser = input::whole, requires = "filter")]
    #[arg(help_heading = SKETCH)]
    n: Option<u64>,

    /// The rate of false positives [default: 0.01]
    #[arg(short, value_name = "RATE", requires = "filter", value_parser = input::rate)]
    #[arg(help_heading = SKETCH)]
    p: Option<f64>,

    /// How often: a count-min sketch
    #[arg(long, group = "sketch", help_heading = SKETCH)]
    count: bool,

    /// How much too high an estimate may be, as a share of all lines [default: 0.001]
    #[arg(long, value_name = "SHARE", requires = "count", help_heading = SKETCH)]
    eps: Option<f64>,

    /// The share of keys whose estimate may be higher still [default: 0.01]
    #[arg(long, value_name = "SHARE", requires = "count", help_heading = SKETCH)]
    #[arg(hide_short_help = true)]
    delta: Option<f64>,

    /// The seed of the hash, for a service that takes keys from strangers
    #[arg(long, value_name = "SEED", requires = "sketch", help_heading = SKETCH)]
    #[arg(hide_short_help = true)]
    seed: Option<u64>,

    /// The folder to keep the state in; it goes on from what is there
    #[arg(long, value_name = "FOLDER", help_heading = "State")]
    state: Option<PathBuf>,

    /// The time between snapshots; there is one at the end too
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    #[arg(help_heading = "State")]
    every: Duration,

    /// The first line of a training connection is its name; it is told 'ack N' when it connects and after
    /// each snapshot: N of its lines are on disk, and it goes on with the next
    #[arg(long, requires = "state", help_heading = "State")]
    #[arg(hide_short_help = true)]
    acks: bool,

    /// Go on from the snapshot before the last, should that be damaged
    #[arg(long, requires = "state", help_heading = "State")]
    #[arg(hide_short_help = true)]
    previous: bool,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let valid = text.parse().ok().filter(|seconds| (0.01..=1e6).contains(seconds));
    let wrong = || "a number of seconds from 0.01 to 1000000, for example 10".to_string();
    valid.map(Duration::from_secs_f64).ok_or_else(wrong)
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        let (json, max_line) = (self.json, self.max_line);
        let service = Service::open(self.config()?)?;
        let stop = service.stop();
        interrupt::instead(move |_| stop.stop());
        let (mut warned, mut unused) = (false, 0);
        service.run(|event| match event {
            Event::Ready { train, query } => {
                ready("training lines at", &train);
                ready("questions at", &query);
            }
            Event::Status(status) if json => notice::raw(&format!("{}\n", report(&status))),
            Event::Status(status) => {
                unused = status.unused;
                // Once: it will not become emptier.
                if let Facts::Filter { overfull: Some(overfull), .. } = status.facts
                    && !std::mem::replace(&mut warned, true)
                {
                    notice::warn(overfull);
                }
            }
            Event::Warning(text) => notice::warn(text),
        })?;
        if unused > 0 {
            let lines = if unused == 1 { "line was" } else { "lines were" };
            notice::warn(format!(
                "{} training {lines} not used: empty, or longer than {max_line} bytes",
                grouped(unused)
            ));
        }
        Ok(ExitCode::SUCCESS)
    }

    fn config(self) -> Result<Config> {
        ensure!(
            self.state.is_some() || self.filter || self.count,
            "say which sketch to begin: --filter -n KEYS, or --count"
        );
        ensure!((1..=MAX_LINE).contains(&self.max_line), "--max-line is from 1 to 16M");
        Ok(Config {
            sketch: self.wanted()?,
            train: self.train,
            train_from: self.train_from,
            query: self.query,
            state: self.state,
            previous: self.previous,
            every: self.every,
            acks: self.acks,
            only_seen: self.only_seen,
            max_line: self.max_line as usize,
        })
    }

    fn wanted(&self) -> Result<Option<Wanted>> {
        let seed = self.seed.unwrap_or(0);
        if self.count {
            let (eps, delta) = (self.eps.unwrap_or(EPS), self.delta.unwrap_or(DELTA));
            let params = CountMinParams::for_error(eps, delta)?;
            return Ok(Some(Wanted::Count(params.with_seed(seed))));
        }
        let plan = Plan { p: self.p, seed, ..Plan::default() };
        Ok(self.n.map(|n| plan.params(n)).transpose()?.map(Wanted::Filter))
    }
}

/// Says where it listens: a port 0 is one that the system chose.
fn ready(what: &str, addresses: &[std::net::SocketAddr]) {
    for address in addresses {
        notice::say(format!("{what} {address}"));
    }
}

fn report(status: &Status) -> Value {
    let report = json!({
        "seconds": status.seconds,
        "trained": status.trained,
        "trained_per_second": status.trained_per_second,
        "unused": status.unused,
        "asked": status.asked,
        "asked_per_second": status.asked_per_second,
        "connections": status.connections,
        "snapshot": status.snapshot,
    });
    let facts = match &status.facts {
        Facts::Filter { inserted, fill, estimated_keys, expected_rate_now, overfull } => json!({
            "inserted": inserted,
            "fill": fill,
            "estimated_keys": estimated_keys.is_finite().then_some(estimated_keys),
            "expected_rate_now": expected_rate_now,
            "warning": overfull.map(|overfull| overfull.to_string()),
        }),
        Facts::Count { inserted, bound, delta } => {
            json!({ "inserted": inserted, "bound": bound, "delta": delta })
        }
    };
    json::joined(report, facts)
}
