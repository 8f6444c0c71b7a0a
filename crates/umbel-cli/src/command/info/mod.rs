//! `umbel info`: what a file holds.

mod bloom;
mod count;
mod near;
mod similar;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use serde_json::{Map, Value, json};
use umbel::format::{File, Kind};
use umbel::{KeyType, Metadata};

use crate::table::size;
use crate::{json, opened, output};

const EXAMPLES: &str = "\
Examples:
  umbel info ids.umbel            what it is, how full, which rate to expect now
  umbel info ids.umbel --check    every byte verified
  umbel info ids.umbel --json     for programs";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The file; - is stdin
    file: PathBuf,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Verify every byte; a damaged file is an error that says where
    #[arg(long)]
    check: bool,
}

/// What is said of a structure: for people and for programs.
struct Description {
    /// A heading, and the facts below it or a table.
    text: String,
    facts: Map<String, Value>,
    /// What follows the metadata.
    warnings: Vec<String>,
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        let file = opened::file(&self.file)?;
        if self.check {
            file.verify()?;
        }
        let (bytes, metadata) = (file.len(), file.metadata().clone());
        let description = match file.kind() {
            Kind::Groups => bloom::groups(&file.into_groups()?, bytes),
            Kind::CountGroups => count::groups(&file.into_count_groups()?, bytes),
            Kind::Near => self.near(file, bytes)?,
            Kind::Similar => similar::similar(&file.into_similar()?, bytes),
            kind if kind.is_counts() => count::counts(&file.into_counts()?, bytes),
            _ => bloom::one(&file.into_bloom()?, bytes),
        };
        output::print(match self.json {
            true => json::text(&self.object(description, &metadata, bytes))?,
            false => self.text(&description, &metadata),
        })?;
        Ok(ExitCode::SUCCESS)
    }

    fn near(&self, file: File, bytes: u64) -> Result<Description> {
        let found = file.into_near()?;
        if self.check {
            found.verify()?;
        }
        Ok(near::near(&found, bytes))
    }

    fn text(&self, description: &Description, metadata: &Metadata) -> String {
        let mut text = description.text.clone() + &metadata_text(metadata);
        description.warnings.iter().for_each(|warning| text += &format!("warning: {warning}\n"));
        if self.check {
            text.push_str("every byte verified: the file is whole\n");
        }
        text
    }

    fn object(&self, description: Description, metadata: &Metadata, bytes: u64) -> Value {
        let mut object = description.facts;
        let pairs: Map<String, Value> =
            metadata.iter().map(|(key, value)| (key.into(), json!(value))).collect();
        object.insert("file_bytes".into(), json!(bytes));
        object.insert("metadata".into(), Value::Object(pairs));
        object.insert("verified".into(), json!(self.check));
        Value::Object(object)
    }
}

/// A heading and its facts, one a line.
fn list(heading: &str, facts: Vec<(&str, String)>, bytes: u64) -> String {
    let mut text = format!("{heading}\n");
    for (name, value) in facts {
        text += &format!("  {name:<18} {value}\n");
    }
    text + &format!("  {:<18} {}\n", "file", size(bytes))
}

/// The members of an object.
fn members(object: Value) -> Map<String, Value> {
    match object {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

fn keys_are(key_type: KeyType) -> String {
    match key_type {
        KeyType::Bytes => "bytes".into(),
        KeyType::U64 => "64-bit integers".into(),
    }
}

fn key_type_name(key_type: KeyType) -> &'static str {
    match key_type {
        KeyType::Bytes => "bytes",
        KeyType::U64 => "int",
    }
}

fn metadata_text(metadata: &Metadata) -> String {
    if metadata.iter().len() == 0 {
        return String::new();
    }
    let lines: String =
        metadata.iter().map(|(key, value)| format!("  {key:<18} {value}\n")).collect();
    format!("metadata\n{lines}")
}
