//! Compressed streams one behind the other, where the decoder takes one at a time.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;
use lz4_flex::frame::FrameDecoder;

use crate::source::{GZIP, Magic, legacy_lz4, skip_frame};

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
                    let why = "what follows it is neither gzip nor zeros";
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

/// LZ4 frames one behind the other, which the decoder takes one at a time, and skippable ones between them, which it does not take.
pub(crate) struct Lz4Frames<R: BufRead> {
    decoder: Option<FrameDecoder<Watched<R>>>,
}

impl<R: BufRead> Lz4Frames<R> {
    pub(crate) fn new(raw: R) -> Self {
        Lz4Frames { decoder: Some(decoder(Vec::new(), raw)) }
    }
}

impl<R: BufRead> Read for Lz4Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(frame) = &mut self.decoder {
            let len = frame.read(buffer)?;
            if len > 0 || buffer.is_empty() {
                return Ok(len);
            }
            let Watched { raw, has_ended, .. } = frame.get_mut();
            // The decoder takes the end of the file for the end of a frame, which has a mark of its own.
            if *has_ended {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let Some(magic) = next_magic(raw)? else { return Ok(0) };
            let ended = self.decoder.take().map(FrameDecoder::into_inner);
            self.decoder = ended.map(|watched| decoder(magic, watched.raw));
        }
        Ok(0)
    }
}

fn decoder<R: BufRead>(magic: Vec<u8>, raw: R) -> FrameDecoder<Watched<R>> {
    FrameDecoder::new(Watched { magic: io::Cursor::new(magic), raw, has_ended: false })
}

/// The first bytes of the next frame that holds data; none at the end.
fn next_magic(raw: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    loop {
        let mut first = Vec::new();
        raw.take(4).read_to_end(&mut first)?;
        match Magic::of(&first) {
            Some(Some(Magic::Skippable)) => skip_frame(raw)?,
            Some(Some(Magic::LegacyLz4)) => return Err(legacy_lz4()),
            _ => return Ok(Some(first).filter(|first| !first.is_empty())),
        }
    }
}

/// A frame whose magic has been read. Remembers whether someone has read beyond the end.
struct Watched<R> {
    magic: io::Cursor<Vec<u8>>,
    raw: R,
    has_ended: bool,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = match self.magic.read(buffer)? {
            0 => self.raw.read(buffer)?,
            len => len,
        };
        self.has_ended |= len == 0 && !buffer.is_empty();
        Ok(len)
    }
}
