//! Notes the compiler, so that the table can name it.

use std::env;
use std::process::Command;

fn main() {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output();
    let version = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    println!("cargo::rustc-env=RUSTC_VERSION={}", version.unwrap_or_else(|_| "rustc".into()));
    println!("cargo::rerun-if-changed=build.rs");
}
