//! What the figures were measured on.

use std::fs;

/// The processor, its caches, the memory.
pub fn describe() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{}, {cores} cores, {}, {}, {}", processor(), vectors(), caches(), memory())
}

fn processor() -> String {
    let info = read("/proc/cpuinfo");
    let field = |name: &str| {
        let line = info.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.split(": ").nth(1)).unwrap_or("?").to_owned()
    };
    format!("{} (family {}, model {})", field("model name"), field("cpu family"), field("model\t"))
}

/// The widest instructions that umbel uses here.
fn vectors() -> String {
    let level = format!("{:?}", umbel::simd::Level::best());
    level.trim_start_matches("Level(").trim_end_matches(')').to_uppercase()
}

fn caches() -> String {
    let cache = |i: u32| {
        let field = |name| read(&format!("/sys/devices/system/cpu/cpu0/cache/index{i}/{name}"));
        format!("L{} {}", field("level"), field("size"))
    };
    [2, 3].map(cache).join(", ")
}

fn memory() -> String {
    let info = read("/proc/meminfo");
    let kilobytes = info.split_whitespace().nth(1).and_then(|number| number.parse::<f64>().ok());
    kilobytes.map_or("?".into(), |kilobytes| format!("{:.0} GiB", kilobytes / 1024.0 / 1024.0))
}

fn read(path: &str) -> String {
    fs::read_to_string(path).map_or_else(|_| "?".into(), |text| text.trim().to_owned())
}
