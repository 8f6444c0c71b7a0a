//! The program that runs now, of those that the lab starts one after the other, for whoever has to end it.

use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// How long a program may take to end: one with a job takes that from its cluster first.
const PATIENCE: Duration = Duration::from_secs(60);

/// The program that runs, if one does.
pub struct Running(Mutex<State>);

struct State {
    child: Option<Child>,
    /// Nothing is started any more.
    ending: bool,
}

impl Running {
    pub const fn new() -> Running {
        Running(Mutex::new(State { child: None, ending: false }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a program prints, and how it ends.
    pub fn output(&self, command: &mut Command) -> io::Result<Output> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // In a group of its own: an interrupt from the keyboard is not for it, which would hear it twice.
        command.process_group(0);
        let (stdout, stderr) = {
            let mut state = self.state();
            if state.ending {
                drop(state);
                park();
            }
            let child = state.child.insert(command.spawn()?);
            (child.stdout.take(), child.stderr.take())
        };
        let (stdout, stderr) = thread::scope(|scope| {
            let said = scope.spawn(|| read(stderr));
            (read(stdout), said.join().unwrap_or_else(|_| Ok(Vec::new())))
        });
        let status = loop {
            // Whoever ends it must get in between.
            let mut state = self.state();
            if let Some(status) = state.child.as_mut().map(Child::try_wait).transpose()?.flatten() {
                state.child = None;
                if state.ending {
                    drop(state);
                    park();
                }
                break status;
            }
            drop(state);
            thread::sleep(Duration::from_millis(1));
        };
        Ok(Output { status, stdout: stdout?, stderr: stderr? })
    }

    /// Ends the program that runs, and waits for that. Whoever waits for its output, or is about to start another, does so for ever.
    pub fn end(&self) {
        let interrupt = |child: &Child| kill_process(Pid::from_child(child), Signal::INT);
        {
            let mut state = self.state();
            state.ending = true;
            _ = state.child.as_ref().map(interrupt);
        }
        let start = Instant::now();
        while self.state().child.is_some() && start.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(20));
        }
        _ = self.state().child.as_mut().map(Child::kill);
    }
}

fn park() -> ! {
    loop {
        thread::park();
    }
}

fn read(pipe: Option<impl Read>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    pipe.map_or(Ok(0), |mut pipe| pipe.read_to_end(&mut bytes))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn both_streams_and_the_code_come_back() {
        let long =
            "i=0; while [ $i -lt 20000 ]; do echo printed; echo said >&2; i=$((i+1)); done; exit 3";
        let done = Running::new().output(&mut shell(long)).unwrap();
        assert_eq!(done.status.code(), Some(3));
        assert_eq!(done.stdout, b"printed\n".repeat(20000));
        assert_eq!(done.stderr, b"said\n".repeat(20000));
    }

    #[test]
    fn a_program_is_asked_to_end_and_waited_for() {
        static RUNNING: Running = Running::new();
        let folder = std::env::temp_dir().join(format!("umbel-lab-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let script = "trap 'sleep 0.3; touch ended; exit 130' INT; touch begun; while :; do sleep 0.05; done";
        let mut command = shell(script);
        command.current_dir(&folder);
        thread::spawn(move || RUNNING.output(&mut command));
        while !folder.join("begun").exists() {
            thread::sleep(Duration::from_millis(5));
        }
        RUNNING.end();
        let has_ended = folder.join("ended").exists();
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(has_ended);
    }
}
