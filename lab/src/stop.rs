//! A signal that ends the program ends its clusters too.

use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Clusters that were started: the script, and the folder.
static STARTED: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());

/// From now on a signal stops what runs, and then the program.
pub fn install() {
    // Without a handler the system ends the program all the same.
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else { return };
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
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

/// A cluster that is being started.
pub fn remember(script: &str, folder: &str) {
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    started.push((script.into(), folder.into()));
}

/// Stops a cluster; one that does not run is no error.
pub fn down(script: &str, folder: &str) {
    let done = Command::new(script).args(["down", folder]).output();
    if !done.is_ok_and(|done| done.status.success()) {
        eprintln!("{folder} was not stopped");
    }
}
