//! The `umbel` command.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::lab::Lab;
use crate::stop;

impl Lab {
    /// The command, as `make lab` has built it.
    pub fn umbel(&self) -> PathBuf {
        self.root().join("target/release/umbel")
    }

    /// What a command prints; a failing one is an error with what it said.
    pub fn output(&self, program: &str, arguments: &[&str]) -> Result<String> {
        let program = if program == "umbel" { self.umbel() } else { program.into() };
        let line = || format!("{} {}", program.display(), arguments.join(" "));
        let mut command = Command::new(&program);
        command.args(arguments).current_dir(self.work());
        let done = stop::output(&mut command).with_context(line)?;
        // 1 is an answer: nothing was selected, or the promise does not hold.
        let answered = matches!(done.status.code(), Some(0 | 1));
        ensure!(answered, "{}: {}", line(), String::from_utf8_lossy(&done.stderr));
        Ok(String::from_utf8(done.stdout)?)
    }

    /// What `umbel … --json` prints.
    pub fn json(&self, arguments: &[&str]) -> Result<Value> {
        let text = self.output("umbel", arguments)?;
        serde_json::from_str(&text)
            .with_context(|| format!("umbel {}: {text}", arguments.join(" ")))
    }
}
