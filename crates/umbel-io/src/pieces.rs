//! Text that may be longer than what it is made of, handed over piece by piece.

use crate::Result;
use crate::driver::Emit;

/// Bytes in a piece: what comes of most blocks is one.
const PIECE: usize = 64 << 10;

/// Text that is emitted as it grows. Nobody but its reader needs to know where it was cut: a long line is too.
pub(crate) struct Pieces<'e> {
    piece: Vec<u8>,
    emit: Emit<'e, Vec<u8>>,
}

impl<'e> Pieces<'e> {
    pub(crate) fn new(emit: Emit<'e, Vec<u8>>) -> Pieces<'e> {
        Pieces { piece: Vec::new(), emit }
    }

    #[inline]
    pub(crate) fn push(&mut self, text: &[u8]) -> Result<()> {
        if text.len() > PIECE - self.piece.len() {
            return self.push_in_parts(text);
        }
        self.piece.extend_from_slice(text);
        Ok(())
    }

    #[cold]
    fn push_in_parts(&mut self, mut text: &[u8]) -> Result<()> {
        while text.len() > PIECE - self.piece.len() {
            let (now, later) = text.split_at(PIECE - self.piece.len());
            self.piece.extend_from_slice(now);
            (self.emit)(std::mem::take(&mut self.piece))?;
            text = later;
        }
        self.piece.extend_from_slice(text);
        Ok(())
    }

    /// What has not been emitted.
    pub(crate) fn into_last(self) -> Vec<u8> {
        self.piece
    }
}
