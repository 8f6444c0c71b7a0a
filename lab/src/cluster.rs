//! A real Hadoop and a real Spark on this machine, as engines/ starts them, and the command on them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::lab::Lab;
use crate::stop;

/// Where a command is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    Local,
    Hadoop,
    Spark,
}

impl Engine {
    pub const ALL: [Engine; 3] = [Engine::Local, Engine::Hadoop, Engine::Spark];

    /// As `--on` has it.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Local => "local",
            Engine::Hadoop => "hadoop",
            Engine::Spark => "spark",
        }
    }

    /// So many mappers over a table of so many rows and a header.
    pub fn mappers(self, rows: usize, mappers: usize) -> Vec<String> {
        match self {
            Engine::Local => Vec::new(),
            Engine::Hadoop => {
                vec!["--lines-per-split".into(), (rows + 1).div_ceil(mappers).to_string()]
            }
            Engine::Spark => vec!["--partitions".into(), mappers.to_string()],
        }
    }
}

/// A cluster that runs as long as this lives; none for work on this machine alone.
pub struct Cluster<'a> {
    lab: &'a Lab,
    pub engine: Engine,
    environment: BTreeMap<String, String>,
}

impl<'a> Cluster<'a> {
    /// Starts it, and puts the table on it where it reads from its own store.
    pub fn start(lab: &'a Lab, engine: Engine, table: &Path) -> Result<Cluster<'a>> {
        let mut cluster = Cluster { lab, engine, environment: BTreeMap::new() };
        if engine == Engine::Local {
            return Ok(cluster);
        }
        let folder = cluster.folder().display().to_string();
        eprintln!("     starting {}", engine.name());
        stop::remember(&cluster.script(), &folder);
        let lines = lab.output(&cluster.script(), &["up", &folder])?;
        let after = lab.output("bash", &["-c", &format!("{lines}\nenv -0")])?;
        let pairs = after.split('\0').filter_map(|line| line.split_once('='));
        cluster.environment = pairs.map(|(name, value)| (name.into(), value.into())).collect();
        if engine == Engine::Hadoop {
            cluster.run(
                "hadoop",
                &["fs", "-put", "-f", &table.display().to_string(), "/ratings.tsv"],
            )?;
        }
        Ok(cluster)
    }

    fn script(&self) -> String {
        self.lab
            .root()
            .join("engines")
            .join(self.engine.name())
            .join("cluster")
            .display()
            .to_string()
    }

    fn folder(&self) -> PathBuf {
        self.lab.work().join(self.engine.name())
    }

    /// The table, and a file of this name, as the engine finds them.
    pub fn place(&self, table: &Path, name: &str) -> (String, String) {
        match self.engine {
            Engine::Hadoop => ("hdfs:///ratings.tsv".into(), format!("hdfs:///{name}")),
            _ => (table.display().to_string(), self.local(name).display().to_string()),
        }
    }

    fn local(&self, name: &str) -> PathBuf {
        self.lab.work().join(format!("{}-{name}", self.engine.name()))
    }

    /// The bytes of a file that a command has written.
    pub fn bytes(&self, name: &str) -> Result<Vec<u8>> {
        let path = self.local(name);
        if self.engine == Engine::Hadoop {
            _ = fs::remove_file(&path);
            self.run("hadoop", &["fs", "-get", &format!("/{name}"), &path.display().to_string()])?;
        }
        fs::read(&path).with_context(|| path.display().to_string())
    }

    /// What `umbel … --on ENGINE --json` prints.
    pub fn json(&self, arguments: &[&str]) -> Result<Value> {
        let text = self.umbel(&[arguments, &["--json"]].concat())?;
        serde_json::from_str(&text)
            .with_context(|| format!("umbel {}: {text}", arguments.join(" ")))
    }

    /// What `umbel … --on ENGINE` prints.
    pub fn umbel(&self, arguments: &[&str]) -> Result<String> {
        let all = [arguments, &["--on", self.engine.name()]].concat();
        // Drivers of Spark are Python: the command of the package.
        let program = match self.engine {
            Engine::Spark => self.lab.root().join(".venv/bin/umbel"),
            _ => self.lab.umbel(),
        };
        // 1 is an answer: nothing was selected, or the promise does not hold.
        self.run_to(&[0, 1], &program.display().to_string(), &all)
    }

    /// What a Python program of the project prints, as a driver of Spark.
    pub fn python(&self, program: &str, arguments: &[String]) -> Result<String> {
        let (python, program) =
            (self.lab.root().join(".venv/bin/python"), self.lab.root().join(program));
        let program = program.display().to_string();
        let words = [program.as_str()].into_iter().chain(arguments.iter().map(String::as_str));
        self.run(&python.display().to_string(), &words.collect::<Vec<_>>())
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Result<String> {
        self.run_to(&[0], program, arguments)
    }

    /// What a program prints that ends with one of these codes; any other is an error with what it said.
    fn run_to(&self, codes: &[i32], program: &str, arguments: &[&str]) -> Result<String> {
        let line = || format!("{program} {}", arguments.join(" "));
        // Found along the path of the cluster, not of this process.
        let mut command = Command::new("env");
        command.arg(program).args(arguments).envs(&self.environment).current_dir(self.lab.work());
        let done = stop::output(&mut command).with_context(line)?;
        let answered = done.status.code().is_some_and(|code| codes.contains(&code));
        ensure!(answered, "{}: {}", line(), String::from_utf8_lossy(&done.stderr));
        Ok(String::from_utf8(done.stdout)?)
    }
}

impl Drop for Cluster<'_> {
    fn drop(&mut self) {
        if self.engine != Engine::Local {
            let folder = self.folder().display().to_string();
            stop::down(&self.script(), &folder);
        }
    }
}
