//! A progress bar on a terminal, for anything that takes longer than a second.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use umbel_io::Meter;

/// What takes no longer than this needs no bar.
const PATIENCE: Duration = Duration::from_secs(1);
/// Between two looks at the meter.
const STEP: Duration = Duration::from_millis(100);

/// How much, the rate and the time left; without the last where the end is not known.
struct Templates {
    bounded: &'static str,
    endless: &'static str,
}

const BYTES: Templates = Templates {
    bounded: "{bar:30} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left",
    endless: "{spinner} {bytes} read, {bytes_per_sec}",
};
const LINES: Templates = Templates {
    bounded: "{bar:30} {human_pos} of {human_len} lines, {per_sec}, {eta} left",
    endless: "{spinner} {human_pos} lines, {per_sec}",
};

/// Shows how far a run has come until it is dropped.
pub struct Progress {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Begins to watch a meter of bytes that are read; silent where stderr is not a terminal.
    pub fn watch(meter: &Arc<Meter>) -> Progress {
        Progress::show(meter, &BYTES, false)
    }

    /// The same beside lines that are printed.
    pub fn beside_lines(meter: &Arc<Meter>) -> Progress {
        Progress::show(meter, &BYTES, true)
    }

    /// The same for lines that are written, perhaps printed.
    pub fn of_lines(meter: &Arc<Meter>, printed: bool) -> Progress {
        Progress::show(meter, &LINES, printed)
    }

    /// Silent also where lines are printed on the terminal, for they would disturb each other.
    fn show(meter: &Arc<Meter>, templates: &'static Templates, printed: bool) -> Progress {
        if !std::io::stderr().is_terminal() || printed && std::io::stdout().is_terminal() {
            return Progress { stop: None, thread: None };
        }
        let (stop, stopped) = channel();
        let meter = Arc::clone(meter);
        let thread = std::thread::spawn(move || {
            // Hidden for a second, but not idle: the rate is that of the whole run.
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
            let started = Instant::now();
            while stopped.recv_timeout(STEP) == Err(RecvTimeoutError::Timeout) {
                // A run that reads twice expects more when it begins again; a file may grow while it is read.
                let total = meter.total();
                bar.set_position(if total == 0 { meter.done() } else { meter.done().min(total) });
                bar.set_length(total);
                if bar.is_hidden() && started.elapsed() >= PATIENCE {
                    show(&bar, templates);
                }
            }
            bar.finish_and_clear();
        });
        Progress { stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn show(bar: &ProgressBar, templates: &Templates) {
    let template = match bar.length() {
        None | Some(0) => templates.endless,
        Some(_) => templates.bounded,
    };
    let style = ProgressStyle::with_template(template);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_draw_target(ProgressDrawTarget::stderr());
}
