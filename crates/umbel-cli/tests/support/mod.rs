//! A folder to work in, and the command run in it.

// Each test uses a part of this.
#![allow(dead_code, clippy::unwrap_used)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// A folder that is removed at the end.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// The names of what is in it, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The command with these words as arguments, to be run in the folder.
    pub fn umbel(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_umbel"));
        command.args(line.split_whitespace()).current_dir(self.0.path()).stdin(Stdio::null());
        command
    }

    /// Runs the command, which is to end with this exit code.
    pub fn ends(&self, code: i32, line: &str) -> Output {
        let output = self.umbel(line).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "umbel {line}: {said}");
        output
    }

    /// What the command prints; it is to succeed without a warning.
    pub fn run(&self, line: &str) -> Vec<u8> {
        let output = self.ends(0, line);
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "umbel {line}");
        output.stdout
    }

    /// What the command prints as JSON.
    pub fn json(&self, line: &str) -> Value {
        serde_json::from_slice(&self.ends(0, line).stdout).unwrap()
    }

    /// Starts the command with pipes at all three ends.
    pub fn start(&self, line: &str) -> Child {
        let mut command = heeding_signals(&self.umbel(line));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// What the command prints when it reads these bytes from a pipe.
    pub fn pipe(&self, line: &str, input: &[u8]) -> Output {
        let mut child = self.start(line);
        let mut stdin = child.stdin.take().unwrap();
        std::thread::scope(|scope| {
            // The command may have had enough before the end.
            scope.spawn(move || _ = stdin.write_all(input));
            child.wait_with_output().unwrap()
        })
    }
}

/// The command with no signal ignored: whoever runs the tests in the background may have ignored some, and children would too.
pub fn heeding_signals(umbel: &Command) -> Command {
    let mut command = Command::new("env");
    command
        .arg("--default-signal=HUP,INT,QUIT,TERM")
        .arg(umbel.get_program())
        .args(umbel.get_args());
    umbel.get_current_dir().map(|folder| command.current_dir(folder));
    command
}

/// Sends a signal.
pub fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args(["-s", name, &child.id().to_string()]).status();
    assert!(status.unwrap().success());
}

/// Waits until something is so, or fails after a long time.
pub fn wait_until(what: &str, mut so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(30);
    while !so() {
        assert!(Instant::now() < end, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The most memory that a running process has had, in bytes; none when it is gone.
pub fn peak_memory(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().unwrap() << 10)
}

/// A file of the tests' own.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

/// Lines that differ, `n` of them, the same ones at every call.
pub fn words(n: u64, kind: &str) -> Vec<String> {
    (0..n).map(|i| format!("{kind}-{:016x}", i.wrapping_mul(0x9E37_79B9_7F4A_7C15))).collect()
}

/// Lines as the text of a file.
pub fn text<L: AsRef<str>>(lines: &[L]) -> String {
    lines.iter().flat_map(|line| [line.as_ref(), "\n"]).collect()
}
