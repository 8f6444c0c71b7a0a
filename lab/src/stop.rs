//! A signal that ends the program ends what it runs, and then its clusters.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::running::Running;

static RUNNING: Running = Running::new();

/// Clusters that were started: the script, and the folder.
static STARTED: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());

/// From now on a signal stops what runs, and then the program.
pub fn install() {
    // Without a handler the system ends the program all the same.
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else { return };
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            // Before its cluster, which a job needs to end as it should.
            RUNNING.end();
            let started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
            // Side by side, and in groups of their own: whoever is impatient and kills this program does not kill them.
            let downs = started.iter().map(|(script, folder)| {
                Command::new(script).args(["down", folder]).process_group(0).spawn()
            });
            let downs: Vec<_> = downs.collect();
            downs.into_iter().flatten().for_each(|mut down| _ = down.wait());
            std::process::exit(128 + signal);
        }
    });
}

/// What a program prints that a signal ends too.
pub fn output(command: &mut Command) -> io::Result<Output> {
    RUNNING.output(command)
}

/// A cluster that is being started.
pub fn remember(script: &str, folder: &str) {
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    started.push((script.into(), folder.into()));
}

/// Stops a cluster; one that does not run is no error.
pub fn down(script: &str, folder: &str) {
    let done = output(Command::new(script).args(["down", folder]));
    if !done.is_ok_and(|done| done.status.success()) {
        eprintln!("{folder} was not stopped");
    }
}
