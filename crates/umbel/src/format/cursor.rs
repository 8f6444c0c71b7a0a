//! Reading fixed-width little-endian fields, never past the end.

use std::io;

use crate::{Error, Result};

/// A place in a slice of bytes.
pub(crate) struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor(bytes)
    }

    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or_else(cut_short)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        self.take(N)?.try_into().map_err(|_| cut_short())
    }

    pub(crate) fn u8(&mut self) -> Result<u8> {
        self.array().map(u8::from_le_bytes)
    }

    pub(crate) fn u16(&mut self) -> Result<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// A 4-byte length and that many bytes.
    pub(crate) fn bytes(&mut self) -> Result<&'a [u8]> {
        let len = self.u32()? as usize;
        self.take(len)
    }

    /// A 4-byte length and that much UTF-8.
    pub(crate) fn text(&mut self) -> Result<&'a str> {
        std::str::from_utf8(self.bytes()?)
            .map_err(|_| Error::Format("a text in the file is not UTF-8".into()))
    }

    /// Everything must have been read.
    pub(crate) fn end(self) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        Err(Error::Format(format!("{} bytes too many in a section of the file", self.0.len())))
    }
}

/// Writes what [`Cursor::text`] reads.
pub(crate) fn put_text(out: &mut Vec<u8>, text: &str) -> io::Result<()> {
    put_bytes(out, text.as_bytes())
}

/// Writes what [`Cursor::bytes`] reads.
pub(crate) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) -> io::Result<()> {
    let len = u32::try_from(bytes.len()).map_err(|_| {
        io::Error::new(io::ErrorKind::InvalidInput, "a name, text or key is longer than 4 GiB")
    })?;
    out.extend(len.to_le_bytes());
    out.extend(bytes);
    Ok(())
}

fn cut_short() -> Error {
    Error::Format("a section of the file ends too early".into())
}
