//! Ctrl-C leaves no partial file.

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Files that are being written aside.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// What an interrupt does instead of ending the program, the first time.
static INSTEAD: Mutex<Option<Box<dyn FnOnce() + Send>>> = Mutex::new(None);

/// The exit code of a program that was interrupted: 128 and the signal's number.
const INTERRUPTED: i32 = 130;

/// From now on an interrupt removes what is unfinished and ends the program.
pub fn install() {
    // Without a handler the system ends the program all the same: nothing to report.
    let _ = ctrlc::set_handler(|| {
        if let Some(act) = INSTEAD.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return act();
        }
        let unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        unfinished.iter().for_each(|path| _ = std::fs::remove_file(path));
        // A progress bar may stand in the line where the shell would go on.
        if std::io::stderr().is_terminal() {
            eprintln!();
        }
        std::process::exit(INTERRUPTED);
    });
}

/// Notes a file to be removed by an interrupt.
pub fn watch(path: &Path) {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).insert(path.into());
}

/// From now on the first interrupt does this; the second ends the program.
pub fn instead(act: impl FnOnce() + Send + 'static) {
    *INSTEAD.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(act));
}
