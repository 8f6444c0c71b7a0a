//! A signal that ends the program leaves no partial file.

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use umbel::format::NewFile;
use umbel_job::unfinished;

/// Files that are being written aside.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// What the first signal does instead of ending the program.
static INSTEAD: Mutex<Option<Act>> = Mutex::new(None);
type Act = Box<dyn FnOnce(i32) + Send>;

/// From now on a signal that is to end the program removes first what is unfinished.
#[cfg(unix)]
pub fn install() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
    // A file beyond the limit of its size is a failure of writing, with a message, where the signal does not end the program.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
    let ignored = ignored();
    // What whoever started us has chosen to ignore (nohup, a shell's background) stays ignored.
    let heeded = [SIGHUP, SIGINT, SIGQUIT, SIGTERM]
        .into_iter()
        .filter(|signal| ignored >> (signal - 1) & 1 == 0);
    // Without a handler the system ends the program all the same: nothing to report.
    let Ok(mut signals) = signal_hook::iterator::Signals::new(heeded) else { return };
    std::thread::spawn(move || signals.forever().for_each(act));
}

/// From now on an interrupt removes what is unfinished and ends the program.
#[cfg(not(unix))]
pub fn install() {
    let _ = ctrlc::set_handler(|| act(2));
}

/// A bit for each signal that is ignored, the first for signal 1; none where the system does not tell.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// What a signal does.
fn act(signal: i32) {
    let instead = INSTEAD.lock().unwrap_or_else(PoisonError::into_inner).take();
    instead.map_or_else(|| end(signal), |act| act(signal));
}

/// Removes what is unfinished and ends the program with the exit code of shells: 128 and the signal's number.
pub fn end(signal: i32) -> ! {
    // A file is begun in no time, but a named pipe may wait for its reader for ever.
    for _ in 0..50 {
        if let Ok(unfinished) = UNFINISHED.try_lock() {
            unfinished.iter().for_each(|path| _ = std::fs::remove_file(path));
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    unfinished::end();
    // A progress bar may stand in the line where the shell would go on.
    if std::io::stderr().is_terminal() {
        crate::notice::raw("\n");
    }
    std::process::exit(128 + signal);
}

/// Begins a file that a signal removes. None comes between its beginning and its being known.
pub fn begin(path: &Path) -> umbel::Result<NewFile> {
    let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    let file = NewFile::create(path)?;
    unfinished.extend(file.aside().map(PathBuf::from));
    Ok(file)
}

/// From now on the first signal does this, told its number; the second ends the program.
pub fn instead(act: impl FnOnce(i32) + Send + 'static) {
    *INSTEAD.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(act));
}
