//! Hadoop's command while it runs, for whoever has to end it.

use std::io;
use std::process::{Child, ChildStderr, Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long Java may take to remove its temporary files.
const PATIENCE: Duration = Duration::from_secs(10);

/// What runs, and what is to become of it.
struct State {
    child: Option<Child>,
    /// A signal has come, of this number.
    signal: Option<i32>,
    /// What could not be ended, in words.
    left: Option<String>,
}

static STATE: Mutex<State> = Mutex::new(State { child: None, signal: None, left: None });

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hadoop's command, running.
pub(crate) struct Running;

impl Running {
    /// Starts it. Behind an interrupt nothing is started any more: whoever interrupts ends the program.
    pub(crate) fn start(mut command: Command) -> io::Result<(Running, Option<ChildStderr>)> {
        let mut state = state();
        if state.signal.is_some() {
            drop(state);
            loop {
                std::thread::park();
            }
        }
        let mut child = command.spawn()?;
        let stderr = child.stderr.take();
        state.child = Some(child);
        Ok((Running, stderr))
    }

    /// Waits for its end. It has closed its stderr: that is now, but for what Java does behind its last word.
    pub(crate) fn wait(self) -> io::Result<ExitStatus> {
        loop {
            // Whoever interrupts must get in between.
            let ended = state().child.as_mut().map(Child::try_wait).transpose()?.flatten();
            if let Some(ended) = ended {
                state().child = None;
                return Ok(ended);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Asks the command to end, which removes its temporary files then; ends it if it does not.
pub(crate) fn terminate() {
    if let Some(child) = &mut state().child {
        ask(child);
        let id = child.id();
        std::thread::spawn(move || {
            std::thread::sleep(PATIENCE);
            let mut state = state();
            if let Some(child) = state.child.as_mut().filter(|child| child.id() == id) {
                let _ = child.kill();
            }
        });
    }
}

#[cfg(unix)]
fn ask(child: &mut Child) {
    use rustix::process::{Pid, Signal, kill_process};
    let _ = kill_process(Pid::from_child(child), Signal::TERM);
}

#[cfg(not(unix))]
fn ask(child: &mut Child) {
    let _ = child.kill();
}

/// Ends the job that runs, if one does: the call that runs it returns with an error then, and [`interrupted`] says why. If none does, none will be started.
pub fn interrupt(signal: i32) -> bool {
    let is_running = {
        let mut state = state();
        state.signal = Some(signal);
        state.child.is_some()
    };
    terminate();
    is_running
}

/// The signal that has ended a job, and what is left of it, in words.
pub fn interrupted() -> Option<(i32, Option<String>)> {
    let state = state();
    Some((state.signal?, state.left.clone()))
}

pub(crate) fn is_interrupted() -> bool {
    state().signal.is_some()
}

pub(crate) fn left(words: String) {
    state().left = Some(words);
}
