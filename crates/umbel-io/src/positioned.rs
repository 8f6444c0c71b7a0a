//! Reading at a place, from several threads at once.

use std::fs::File;
use std::io;

/// Bytes that can be read at any place.
pub trait ReadAt: Send + Sync {
    /// Reads at most as many bytes as there is room for, beginning at a place.
    fn read_at(&self, buffer: &mut [u8], place: u64) -> io::Result<usize>;
}

impl ReadAt for File {
    #[cfg(unix)]
    fn read_at(&self, buffer: &mut [u8], place: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(self, buffer, place)
    }

    #[cfg(windows)]
    fn read_at(&self, buffer: &mut [u8], place: u64) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(self, buffer, place)
    }
}

/// Fills the buffer, beginning at a place.
pub(crate) fn read_exact_at(
    from: &(impl ReadAt + ?Sized),
    buffer: &mut [u8],
    place: u64,
) -> io::Result<()> {
    let mut done = 0;
    while done < buffer.len() {
        match from.read_at(&mut buffer[done..], place + done as u64) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(len) => done += len,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
