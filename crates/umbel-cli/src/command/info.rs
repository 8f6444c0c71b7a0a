//! `umbel info`: what a file holds.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use serde_json::{Map, Value, json};
use umbel::format::{File, Kind};
use umbel::{Bloom, Groups, KeyType, Metadata};

use crate::output::Output;
use crate::table::{Table, grouped, percent, size};

const EXAMPLES: &str = "\
Examples:
  umbel info ids.umbel            what it is, how full, which rate to expect now
  umbel info ids.umbel --check    every byte verified
  umbel info ids.umbel --json     for programs";

/// Show what a filter file holds: parameters, fill, estimated keys, the rate to expect now, metadata
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The file
    file: PathBuf,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Verify every byte; a damaged file is an error that says where
    #[arg(long)]
    check: bool,
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        let file = File::open(&self.file)?;
        if self.check {
            file.verify()?;
        }
        let bytes = file.len();
        let mut text = match file.kind() {
            Kind::Groups => self.groups(&file.into_groups()?, bytes)?,
            _ => self.one(&file.into_bloom()?, bytes)?,
        };
        if self.check && !self.json {
            text.push_str("every byte verified: the file is whole\n");
        }
        let mut out = Output::stdout();
        out.write_all(text.as_bytes())?;
        out.commit()?;
        Ok(ExitCode::SUCCESS)
    }

    fn one(&self, filter: &Bloom, bytes: u64) -> Result<String> {
        if self.json {
            let mut object = facts_json(filter);
            object.insert("kind".into(), json!("bloom"));
            return self.json(object, filter.metadata(), bytes);
        }
        let mut text = String::from("a Bloom filter\n");
        for (name, value) in facts(filter) {
            text += &format!("  {name:<18} {value}\n");
        }
        text += &format!("  {:<18} {}\n", "file", size(bytes));
        text += &metadata_text(filter.metadata());
        filter.overfull().into_iter().for_each(|warning| text += &format!("warning: {warning}\n"));
        Ok(text)
    }

    fn groups(&self, groups: &Groups, bytes: u64) -> Result<String> {
        if self.json {
            let object = |(name, filter): (&str, &Bloom)| {
                let mut object = facts_json(filter);
                object.insert("group".into(), json!(name));
                Value::Object(object)
            };
            let mut all = Map::new();
            all.insert("kind".into(), json!("groups"));
            all.insert("groups".into(), groups.iter().map(object).collect());
            return self.json(all, groups.metadata(), bytes);
        }
        let first = groups.iter().next().map(|(_, filter)| filter);
        let hash = first.map_or(String::new(), |filter| {
            format!(", hash {}", filter.params().strategy().name())
        });
        let mut table = Table::new([
            "group",
            "layout",
            "n",
            "m (bits)",
            "k",
            "inserted",
            "fill",
            "estimated keys",
            "rate now",
        ]);
        for (name, filter) in groups.iter() {
            let sizing = filter.sizing();
            table.row([
                name.into(),
                sizing.layout().to_string(),
                grouped(sizing.capacity()),
                grouped(sizing.bits()),
                sizing.probes().to_string(),
                filter.inserted().map_or("unknown".into(), grouped),
                percent(filter.fill()),
                estimate(filter),
                percent(filter.expected_rate_now()),
            ]);
        }
        Ok(format!(
            "Bloom filters of {} groups{hash}, {}\n{}{}",
            groups.len(),
            size(bytes),
            table.render(),
            metadata_text(groups.metadata())
        ))
    }

    fn json(
        &self,
        mut object: Map<String, Value>,
        metadata: &Metadata,
        bytes: u64,
    ) -> Result<String> {
        let pairs: Map<String, Value> =
            metadata.iter().map(|(key, value)| (key.into(), json!(value))).collect();
        object.insert("file_bytes".into(), json!(bytes));
        object.insert("metadata".into(), Value::Object(pairs));
        object.insert("verified".into(), json!(self.check));
        Ok(serde_json::to_string_pretty(&object)? + "\n")
    }
}

/// About how many keys; a full filter cannot tell.
fn estimate(filter: &Bloom) -> String {
    let estimate = filter.estimated_len();
    if estimate.is_finite() { grouped(estimate.round() as u64) } else { "unknown".into() }
}

fn facts(filter: &Bloom) -> Vec<(&'static str, String)> {
    let (params, sizing) = (filter.params(), filter.sizing());
    let promise = if params.strategy().keeps_rate() {
        percent(sizing.expected_rate())
    } else {
        "none: this hash promises no rate".into()
    };
    let keys = match params.key_type() {
        KeyType::Bytes => "bytes",
        KeyType::U64 => "64-bit integers",
    };
    vec![
        ("layout", sizing.layout().to_string()),
        ("hash", params.strategy().to_string()),
        ("keys are", keys.into()),
        ("sized for (n)", grouped(sizing.capacity())),
        ("bits (m)", grouped(sizing.bits())),
        ("probes (k)", sizing.probes().to_string()),
        ("bits a key", format!("{:.2}", sizing.bits_per_key())),
        ("promised rate", promise),
        ("inserted", filter.inserted().map_or("unknown".into(), grouped)),
        ("fill", percent(filter.fill())),
        ("estimated keys", estimate(filter)),
        ("expected rate now", percent(filter.expected_rate_now())),
    ]
}

fn facts_json(filter: &Bloom) -> Map<String, Value> {
    let (params, sizing) = (filter.params(), filter.sizing());
    let keeps = params.strategy().keeps_rate();
    let object = json!({
        "layout": sizing.layout().name(),
        "hash": params.strategy().name(),
        "seeds": params.strategy().seeds(),
        "key_type": match params.key_type() { KeyType::Bytes => "bytes", KeyType::U64 => "int" },
        "n": sizing.capacity(),
        "m": sizing.bits(),
        "k": sizing.probes(),
        "bits_per_key": sizing.bits_per_key(),
        "promised_rate": keeps.then(|| sizing.expected_rate()),
        "inserted": filter.inserted(),
        "fill": filter.fill(),
        "estimated_keys": Some(filter.estimated_len()).filter(|estimate| estimate.is_finite()),
        "expected_rate_now": filter.expected_rate_now(),
    });
    object.as_object().cloned().unwrap_or_default()
}

fn metadata_text(metadata: &Metadata) -> String {
    if metadata.iter().len() == 0 {
        return String::new();
    }
    let lines: String =
        metadata.iter().map(|(key, value)| format!("  {key:<18} {value}\n")).collect();
    format!("metadata\n{lines}")
}
