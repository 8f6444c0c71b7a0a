//! Saving: complete or not at all, and whatever stands at the path is treated with respect.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod support;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use support::random::integers;
use umbel::format::File;
use umbel::{Bloom, Keys};

fn filter(stream: u64) -> Bloom {
    let mut filter = Bloom::new(10_000, 0.01).unwrap();
    filter.insert_batch(Keys::U64(&integers(stream, 10_000))).unwrap();
    filter
}

fn names(folder: &Path) -> Vec<String> {
    let name =
        |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    fs::read_dir(folder).unwrap().map(name).collect()
}

#[test]
fn a_new_file_replaces_the_old_and_leaves_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f.umbel");
    filter(1).save(&path).unwrap();
    let old = Bloom::open(&path).unwrap();
    filter(2).save(&path).unwrap();
    assert_eq!(Bloom::open(&path).unwrap(), filter(2));
    assert_eq!(old, filter(1), "who had the old file open still has it");
    assert_eq!(names(folder.path()), ["f.umbel"]);
}

#[test]
fn a_save_that_fails_leaves_what_was_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f.umbel");
    fs::create_dir(&path).unwrap();
    assert!(filter(1).save(&path).is_err(), "a folder stands there");
    assert_eq!(names(folder.path()), ["f.umbel"]);
    let message = filter(1).save(folder.path().join("absent/f.umbel")).unwrap_err().to_string();
    assert!(message.contains("absent/f.umbel"), "{message}");
}

/// The device that is always full: an error must come through, for a large filter as for a small one.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error() {
    assert!(filter(1).save("/dev/full").is_err());
    assert!(Bloom::new(10, 0.01).unwrap().save("/dev/full").is_err());
}

#[test]
fn a_link_stays_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let (target, link) = (folder.path().join("target"), folder.path().join("link"));
    filter(1).save(&target).unwrap();
    symlink("target", &link).unwrap();
    filter(2).save(&link).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(Bloom::open(&target).unwrap(), filter(2));
}

/// Also where the target is not there yet, and links lead to links.
#[test]
fn links_that_lead_nowhere_are_followed() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second, target] =
        ["first", "second", "target"].map(|name| folder.path().join(name));
    symlink("second", &first).unwrap();
    symlink("target", &second).unwrap();
    filter(1).save(&first).unwrap();
    for link in [first, second] {
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink(), "{link:?}");
    }
    assert!(fs::symlink_metadata(&target).unwrap().is_file());
    assert_eq!(Bloom::open(&target).unwrap(), filter(1));

    let circle = folder.path().join("circle");
    symlink("circle", &circle).unwrap();
    let message = filter(1).save(&circle).unwrap_err().to_string();
    assert!(message.contains("circle"), "{message}");
    assert!(fs::symlink_metadata(&circle).unwrap().is_symlink());
}

#[test]
fn permissions_survive() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f.umbel");
    filter(1).save(&path).unwrap();
    let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    assert_ne!(mode() & 0o600, 0);
    assert_eq!(mode() & 0o111, 0);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    filter(2).save(&path).unwrap();
    assert_eq!(mode(), 0o640);
}

#[test]
fn a_pipe_is_written_and_read() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    std::thread::scope(|scope| {
        scope.spawn(|| filter(1).save(&pipe).unwrap());
        assert_eq!(Bloom::open(&pipe).unwrap(), filter(1));
    });
    // A stream that goes on behind its file is as wrong as a file that does.
    let whole = filter(1).to_bytes().unwrap();
    let read = |bytes: &[u8]| File::read("pipe", bytes).and_then(File::into_bloom);
    assert_eq!(read(&whole).unwrap(), filter(1));
    assert!(read(&[&whole[..], b"x"].concat()).is_err());
    // A header that promises 2^60 bytes, and a writer that goes away.
    let mut lie = filter(1).to_bytes().unwrap();
    lie[16..24].copy_from_slice(&(1_u64 << 60).to_le_bytes());
    std::thread::scope(|scope| {
        scope.spawn(|| fs::write(&pipe, &lie[..500]).unwrap());
        assert!(Bloom::open(&pipe).is_err());
    });
}
