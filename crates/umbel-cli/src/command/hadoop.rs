//! `umbel hadoop`: what the tasks of a job run. Not for people.

use std::process::ExitCode;

use anyhow::Result;
use umbel_hadoop::job::Order;
use umbel_hadoop::{HdfsPath, map, reduce};

/// A task of a job on Hadoop
#[derive(clap::Args)]
pub struct Args {
    task: Task,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Task {
    Map,
    Reduce,
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        let order = Order::read()?;
        let done = match self.task {
            Task::Map => map::run(&order),
            Task::Reduce => reduce::run(&order),
        };
        if let Err(error) = &done {
            leave(&order, &error.to_string());
        }
        done?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Leaves a message where the client finds it, if that can be done.
fn leave(order: &Order, text: &str) {
    let attempt = std::env::var("mapreduce_task_attempt_id").unwrap_or_else(|_| "task".into());
    if let Some(folder) = HdfsPath::parse(order.messages.as_ref()) {
        let _ = folder.join(&attempt).write(text.as_bytes());
    }
}
