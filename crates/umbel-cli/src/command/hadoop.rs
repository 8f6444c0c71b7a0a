//! `umbel hadoop`: what the tasks of a job run. Not for people.

use std::process::ExitCode;

use anyhow::Result;
use umbel_hadoop::task::Told;

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
        let told = Told::read()?;
        let done = match self.task {
            Task::Map => told.map(),
            Task::Reduce => told.reduce(),
        };
        if let Err(error) = &done {
            told.leave(&error.to_string());
        }
        done?;
        Ok(ExitCode::SUCCESS)
    }
}
