//! Reading a file at a place, from several threads at once.

use std::fs::File;
use std::io;

/// Reads at most as many bytes as there is room for, beginning at a place of the file.
#[cfg(unix)]
pub(crate) fn read_at(file: &File, buffer: &mut [u8], place: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, place)
}

/// Reads at most as many bytes as there is room for, beginning at a place of the file.
#[cfg(windows)]
pub(crate) fn read_at(file: &File, buffer: &mut [u8], place: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, place)
}

/// Fills the buffer, beginning at a place of the file.
pub(crate) fn read_exact_at(file: &File, buffer: &mut [u8], place: u64) -> io::Result<()> {
    let mut done = 0;
    while done < buffer.len() {
        match read_at(file, &mut buffer[done..], place + done as u64) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(len) => done += len,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
