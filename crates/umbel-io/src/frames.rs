//! Compressed streams one behind the other, where the decoder takes one at a time.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;
use lz4_flex::frame::FrameDecoder;

use crate::source::GZIP;

/// Members of a gzip file. Behind the last there may be zeros, as tapes and block devices leave them; anything else is an error.
pub(crate) struct GzipMembers<R: BufRead> {
    decoder: Option<GzDecoder<R>>,
}

impl<R: BufRead> GzipMembers<R> {
    pub(crate) fn new(raw: R) -> Self {
        GzipMembers { decoder: Some(GzDecoder::new(raw)) }
    }
}

impl<R: BufRead> Read for GzipMembers<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(decoder) = &mut self.decoder {
            let len = decoder.read(buffer)?;
            if len > 0 || buffer.is_empty() {
                return Ok(len);
            }
            match skip_zeros(decoder.get_mut())? {
                None => return Ok(0),
                Some(first) if first == GZIP[0] => {
                    let ended = self.decoder.take().map(GzDecoder::into_inner);
                    self.decoder = ended.map(GzDecoder::new);
                }
                Some(_) => {
                    let why = "the gzip data has ended, and what follows is neither gzip nor zeros";
                    return Err(io::Error::new(io::ErrorKind::InvalidData, why));
                }
            }
        }
        Ok(0)
    }
}

/// The first byte that is not zero, which is not taken; none at the end.
fn skip_zeros(raw: &mut impl BufRead) -> io::Result<Option<u8>> {
    loop {
        let bytes = raw.fill_buf()?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
        let first = bytes.get(zeros).copied();
        raw.consume(zeros);
        if first.is_some() {
            return Ok(first);
        }
    }
}

/// LZ4 frames one behind the other, which the decoder takes one at a time.
pub(crate) struct Lz4Frames<R: BufRead> {
    decoder: Option<FrameDecoder<Watched<R>>>,
}

impl<R: BufRead> Lz4Frames<R> {
    pub(crate) fn new(raw: R) -> Self {
        let raw = Watched { raw, has_ended: false };
        Lz4Frames { decoder: Some(FrameDecoder::new(raw)) }
    }
}

impl<R: BufRead> Read for Lz4Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(decoder) = &mut self.decoder {
            let len = decoder.read(buffer)?;
            if len > 0 || buffer.is_empty() {
                return Ok(len);
            }
            let Watched { raw, has_ended } = decoder.get_mut();
            // The decoder takes the end of the file for the end of a frame, which has a mark of its own.
            if *has_ended {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if raw.fill_buf()?.is_empty() {
                return Ok(0);
            }
            let ended = self.decoder.take().map(FrameDecoder::into_inner);
            self.decoder = ended.map(FrameDecoder::new);
        }
        Ok(0)
    }
}

/// Remembers whether someone has read beyond the end.
struct Watched<R> {
    raw: R,
    has_ended: bool,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.raw.read(buffer)?;
        self.has_ended |= len == 0 && !buffer.is_empty();
        Ok(len)
    }
}
