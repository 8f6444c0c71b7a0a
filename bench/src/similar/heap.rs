//! How much memory something takes: what the system gave this process meanwhile.

/// What was made, and the bytes of memory that are in use since.
pub fn grown<T>(make: impl FnOnce() -> T) -> (T, f64) {
    let before = resident();
    let made = make();
    (made, (resident() - before).max(0.0))
}

fn resident() -> f64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: f64 = text.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0.0);
    pages * 4096.0
}
