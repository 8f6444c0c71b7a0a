//! A file that is read at many places by many threads.

use std::io::{self, BufReader, Read};
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

use crate::positioned::{ReadAt, read_exact_at};

/// Large enough for the header of a page; its data is read apart.
const HEADER: usize = 1 << 10;

/// The bytes of a Parquet file.
pub(super) struct Pages {
    file: Arc<dyn ReadAt>,
    len: u64,
}

impl Pages {
    pub(super) fn new(file: Arc<dyn ReadAt>, len: u64) -> Pages {
        Pages { file, len }
    }
}

impl Length for Pages {
    fn len(&self) -> u64 {
        self.len
    }
}

impl ChunkReader for Pages {
    type T = BufReader<From>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::with_capacity(HEADER, From { file: Arc::clone(&self.file), at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        // Lengths come from the file: none may ask for more memory than the file has bytes.
        if start.checked_add(length as u64).is_none_or(|end| end > self.len) {
            return Err(ParquetError::EOF("it ends before its data does".into()));
        }
        let mut bytes = vec![0; length];
        read_exact_at(&*self.file, &mut bytes, start)?;
        Ok(bytes.into())
    }
}

/// The bytes from a place on.
pub(super) struct From {
    file: Arc<dyn ReadAt>,
    at: u64,
}

impl Read for From {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.file.read_at(buffer, self.at)?;
        self.at += len as u64;
        Ok(len)
    }
}
