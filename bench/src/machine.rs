//! What the numbers were measured on.

use std::fs;

/// The processor, its caches, huge pages and the compiler.
pub fn describe() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!(
        "{}, {cores} cores, {}\ncaches: {}\nhuge pages: {}\n{}",
        cpu(),
        vectors(),
        caches(),
        read("/sys/kernel/mm/transparent_hugepage/enabled"),
        env!("RUSTC_VERSION"),
    )
}

fn cpu() -> String {
    let info = read("/proc/cpuinfo");
    let field = |name: &str| {
        let line = info.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.split(": ").nth(1)).unwrap_or("?").to_owned()
    };
    format!("{} (family {}, model {})", field("model name"), field("cpu family"), field("model\t"))
}

fn vectors() -> String {
    format!("{:?}", umbel::simd::Level::best())
}

fn caches() -> String {
    let cache = |i: u32| {
        let field = |name| read(&format!("/sys/devices/system/cpu/cpu0/cache/index{i}/{name}"));
        let kind = field("type").chars().next().filter(|&kind| kind != 'U');
        let letter = kind.map_or(String::new(), |kind| kind.to_ascii_lowercase().to_string());
        format!("L{}{letter} {}", field("level"), field("size"))
    };
    (0..4).map(cache).collect::<Vec<_>>().join(", ")
}

fn read(path: &str) -> String {
    fs::read_to_string(path).map_or_else(|_| "?".into(), |text| text.trim().to_owned())
}
